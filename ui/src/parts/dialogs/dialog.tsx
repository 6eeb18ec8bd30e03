import { type ReactNode, useEffect, useId, useRef } from "react";

/** A modal dialog. The browser traps the focus, closes it by Escape and gives the focus back. */
export function Dialog({
  title,
  close,
  children,
  wide = false,
}: {
  title: string;
  close: () => void;
  children: ReactNode;
  wide?: boolean;
}) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    if (element === null) return undefined;
    const before = document.activeElement;
    if (!element.open) element.showModal();
    return () => {
      element.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      className={`max-h-[90dvh] w-full overflow-y-auto rounded-md border border-line-strong bg-surface p-0 ${wide ? "max-w-4xl" : "max-w-xl"}`}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
    >
      <header className="sticky top-0 z-10 flex items-center justify-between gap-4 border-b border-line bg-surface px-4 py-2">
        <h2 id={id}>{title}</h2>
        <button type="button" className="button button-quiet" aria-label="Close" onClick={close}>
          ✕
        </button>
      </header>
      <div className="p-4">{children}</div>
    </dialog>
  );
}
