import { type FormEvent, useState } from "react";
import { Problem } from "@/api/problem";

/** A form's one action: true while it runs, and the problem it met. */
export function useSubmit(action: () => Promise<unknown>) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setProblem(null);
    action()
      .catch((error: unknown) => {
        if (!(error instanceof Problem)) throw error;
        setProblem(error);
      })
      .finally(() => setBusy(false));
  };
  return { busy, problem, submit };
}
