import { type ReactNode, useState } from "react";
import type { Problem } from "@/api/problem";
import { ErrorState } from "@/parts/panels/panel";
import { Dialog } from "./dialog";

/**
 * Asks before something is done, and tells its count and consequence. `typed` is what has to be
 * typed first: a name, or a count above 100. It stays open, with the error, if `action` fails.
 */
export function ConfirmDialog({
  title,
  children,
  confirm,
  typed,
  danger = false,
  action,
  close,
}: {
  title: string;
  children: ReactNode;
  confirm: string;
  typed?: string;
  danger?: boolean;
  action: () => Promise<unknown>;
  close: () => void;
}) {
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const ready = typed === undefined || text.trim() === typed;
  return (
    <Dialog title={title} close={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!ready || busy) return;
          setBusy(true);
          setProblem(null);
          action()
            .then(close, (error: Problem) => setProblem(error))
            .finally(() => setBusy(false));
        }}
      >
        <div className="space-y-2">{children}</div>
        {typed !== undefined && (
          <label className="mt-3 block">
            Type <code className="rounded bg-sunken px-1">{typed}</code> to go on
            <input
              className="input mt-1"
              autoComplete="off"
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          </label>
        )}
        {problem && (
          <div className="mt-3">
            <ErrorState problem={problem} />
          </div>
        )}
        <div className="mt-4 flex justify-end gap-2">
          <button type="button" className="button" onClick={close}>
            Keep it as it is
          </button>
          <button
            type="submit"
            className={`button ${danger ? "button-danger" : "button-primary"}`}
            disabled={!ready || busy}
          >
            {confirm}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
