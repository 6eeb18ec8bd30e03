import { type ReactNode, useState } from "react";
import { FormDialog } from "./form_dialog";

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
  typed?: string | undefined;
  danger?: boolean;
  action: () => Promise<unknown>;
  close: () => void;
}) {
  const [text, setText] = useState("");
  return (
    <FormDialog
      title={title}
      submit={confirm}
      cancel="Keep it as it is"
      action={action}
      close={close}
      danger={danger}
      ready={typed === undefined || text.trim() === typed}
    >
      <div className="space-y-2">{children}</div>
      {typed !== undefined && (
        <label className="block">
          Type <code className="rounded bg-sunken px-1">{typed}</code> to go on
          <input
            className="input mt-1"
            autoComplete="off"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </label>
      )}
    </FormDialog>
  );
}
