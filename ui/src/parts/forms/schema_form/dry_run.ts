import { useEffect, useState } from "react";
import { Problem } from "@/api/problem";

const TYPING_MS = 250;

/** What the server says of what is typed: null as long as it says nothing. */
export interface DryRun {
  problem: Problem | null;
  /** True if what is typed has not been checked yet. */
  pending: boolean;
}

/**
 * Check a body as it is typed, by a dry run of the call that will send it: so every rule stands
 * once, in the server. The last answer stays until the next one is here.
 */
export function useDryRun(
  body: unknown,
  check: (signal: AbortSignal) => Promise<unknown>,
  { delay = TYPING_MS, enabled = true } = {},
): DryRun {
  const key = enabled ? JSON.stringify(body) : null;
  const [answer, setAnswer] = useState<{ key: string | null; problem: Problem | null }>({
    key: null,
    problem: null,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for the body that is checked
  useEffect(() => {
    if (key === null) return undefined;
    const cancel = new AbortController();
    const timer = setTimeout(() => {
      check(cancel.signal).then(
        () => setAnswer({ key, problem: null }),
        (error: unknown) => {
          if (!cancel.signal.aborted)
            setAnswer({ key, problem: error instanceof Problem ? error : null });
        },
      );
    }, delay);
    return () => {
      clearTimeout(timer);
      cancel.abort();
    };
  }, [key, delay]);
  return { problem: answer.problem, pending: key !== null && answer.key !== key };
}
