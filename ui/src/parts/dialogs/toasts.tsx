import { useEffect, useSyncExternalStore } from "react";

/** A short message at the edge of the page, with a way to undo what it tells. */
export interface Toast {
  text: string;
  undo?: () => void;
  problem?: boolean;
}

const SECONDS = 10;
let toasts: readonly (Toast & { id: number })[] = [];
let last = 0;
const watchers = new Set<() => void>();

function change(next: typeof toasts): void {
  toasts = next;
  for (const watcher of watchers) watcher();
}

/** Show a message for ten seconds; as long can it be undone. */
export function showToast(toast: Toast): void {
  last += 1;
  change([...toasts.slice(-3), { ...toast, id: last }]);
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => toasts,
  );
  return (
    <div
      aria-live="polite"
      className="pointer-events-none fixed right-4 bottom-16 z-40 flex max-w-sm flex-col gap-2 sm:bottom-4"
    >
      {shown.map((toast) => (
        <ToastView key={toast.id} {...toast} />
      ))}
    </div>
  );
}

function ToastView({ id, text, undo, problem }: Toast & { id: number }) {
  useEffect(() => {
    const timer = setTimeout(() => drop(id), SECONDS * 1000);
    return () => clearTimeout(timer);
  }, [id]);
  return (
    <div
      className={`pointer-events-auto flex items-center gap-3 rounded-md border bg-raised px-3 py-2 shadow-lg ${problem ? "border-danger" : "border-line-strong"}`}
    >
      <span className="flex-1">{text}</span>
      {undo && (
        <button
          type="button"
          className="link font-medium"
          onClick={() => {
            drop(id);
            undo();
          }}
        >
          Undo
        </button>
      )}
      <button
        type="button"
        aria-label="Dismiss"
        className="button button-quiet"
        onClick={() => drop(id)}
      >
        ✕
      </button>
    </div>
  );
}

/** Take all messages away. */
export function clearToasts(): void {
  change([]);
}

function drop(id: number): void {
  change(toasts.filter((each) => each.id !== id));
}
