import { useRead } from "@/api/read";
import { useSession } from "@/api/session";
import { CopyButton } from "@/parts/values/values";
import { useInstallation } from "./environment";

const EVERY_MS = 2_000;

/** Under `windlass dev`: why the code saved last cannot be imported, on every screen until it can. */
export function DevError() {
  const session = useSession();
  const development = useInstallation()?.development === true && session.overseer;
  const state = useRead(
    "/api/v1/dev",
    {},
    { enabled: development, refetchInterval: EVERY_MS, staleTime: 0 },
  );
  const error = development ? state.data?.error : null;
  if (!error) return null;
  return (
    <div role="alert" className="border-b border-danger bg-danger-soft px-3 py-2">
      <p className="break-words">
        <strong className="text-danger">The code saved last cannot be imported:</strong>{" "}
        {error.message}
      </p>
      {error.traceback && (
        <details className="mt-1">
          <summary className="min-h-6 cursor-pointer">Traceback</summary>
          <pre
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
            tabIndex={0}
            dir="ltr"
            className="my-1 max-h-80 overflow-auto rounded bg-surface p-2 text-[13px]"
          >
            {error.traceback}
          </pre>
          <CopyButton text={error.traceback} label="Copy traceback" />
        </details>
      )}
      <p className="mt-1 text-[13px] text-muted">
        Mend it and save; this message then goes away by itself.
      </p>
    </div>
  );
}
