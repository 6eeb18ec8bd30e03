import type { ReactNode } from "react";
import type { Problem } from "@/api/problem";
import { useSubmit } from "@/parts/forms/submit";
import { ErrorState } from "@/parts/panels/panel";
import { Dialog } from "./dialog";

/** A dialog with one form. It closes when `action` succeeds, and stays open with the error if not. */
export function FormDialog({
  title,
  submit,
  cancel = "Cancel",
  action,
  close,
  ready = true,
  danger = false,
  wide = false,
  children,
}: {
  title: string;
  submit: string;
  cancel?: string;
  action: () => Promise<unknown>;
  close: () => void;
  ready?: boolean;
  danger?: boolean;
  wide?: boolean;
  children: ReactNode | ((problem: Problem | null) => ReactNode);
}) {
  const form = useSubmit(() => (ready ? action().then(close) : Promise.resolve()));
  return (
    <Dialog title={title} close={close} wide={wide}>
      <form onSubmit={form.submit}>
        <div className="space-y-3">
          {typeof children === "function" ? children(form.problem) : children}
        </div>
        {form.problem && (
          <div className="mt-3">
            <ErrorState problem={form.problem} />
          </div>
        )}
        <div className="mt-4 flex justify-end gap-2">
          <button type="button" className="button" onClick={close}>
            {cancel}
          </button>
          <button
            type="submit"
            className={`button ${danger ? "button-danger" : "button-primary"}`}
            disabled={!ready || form.busy}
          >
            {submit}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
