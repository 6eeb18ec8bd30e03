import {
  type KeyboardEvent,
  type ReactNode,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from "react";

export interface MenuItem {
  label: string;
  action: () => void;
  danger?: boolean;
  /** Reason why it cannot be chosen now; it is shown disabled. */
  refused?: string | undefined;
}

/** A button that opens a list of actions: arrows move, Enter chooses, Escape closes. */
export function Menu({
  label,
  children,
  items,
  className = "button",
}: {
  label: string;
  children: ReactNode;
  items: readonly MenuItem[];
  className?: string;
}) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const around = useRef<HTMLSpanElement>(null);
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (!open) return undefined;
    if (list.current !== null) place(list.current, around.current);
    list.current?.querySelector<HTMLElement>("[role=menuitem]")?.focus();
    const away = (event: Event): void => {
      if (!around.current?.contains(event.target as Node)) setOpen(false);
    };
    const scrolled = (): void => setOpen(false);
    document.addEventListener("pointerdown", away);
    document.addEventListener("scroll", scrolled, true);
    return () => {
      document.removeEventListener("pointerdown", away);
      document.removeEventListener("scroll", scrolled, true);
    };
  }, [open]);
  const close = (): void => {
    setOpen(false);
    around.current?.querySelector("button")?.focus();
  };
  const move = (event: KeyboardEvent): void => {
    const entries = [...(list.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
    const at = entries.indexOf(document.activeElement as HTMLElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: entries.length - 1 }[
      event.key
    ];
    if (next !== undefined) {
      event.preventDefault();
      entries[(next + entries.length) % entries.length]?.focus();
    } else if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      close();
    } else if (event.key === "Tab") setOpen(false);
  };
  return (
    <span ref={around} className="relative inline-block">
      <button
        type="button"
        className={className}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        aria-label={label}
        onClick={() => setOpen(!open)}
      >
        {children}
      </button>
      {open && (
        <div
          ref={list}
          id={id}
          role="menu"
          aria-label={label}
          tabIndex={-1}
          onKeyDown={move}
          popover="manual"
          className="fixed inset-auto m-0 max-h-[80dvh] min-w-44 overflow-y-auto rounded-md border border-line-strong bg-surface py-1 shadow-lg"
        >
          {items.map((item) => (
            <button
              key={item.label}
              type="button"
              role="menuitem"
              tabIndex={-1}
              aria-disabled={item.refused !== undefined}
              title={item.refused}
              className={`block min-h-8 w-full px-3 py-1 text-left hover:bg-sunken focus:bg-sunken aria-disabled:opacity-55 ${item.danger ? "text-danger" : "text-text"}`}
              onClick={() => {
                if (item.refused !== undefined) return;
                close();
                item.action();
              }}
            >
              {item.label}
              {item.refused && <span className="block text-[12px] text-muted">{item.refused}</span>}
            </button>
          ))}
        </div>
      )}
    </span>
  );
}

/** Put a list below its button, or above it where there is no room; in front of all else. */
function place(list: HTMLElement, around: HTMLElement | null): void {
  list.showPopover?.();
  const button = around?.getBoundingClientRect();
  if (button === undefined) return;
  const { width, height } = list.getBoundingClientRect();
  const below = button.bottom + 4;
  const fits = below + height <= innerHeight || button.top < height;
  list.style.top = `${fits ? below : button.top - 4 - height}px`;
  list.style.left = `${Math.max(8, Math.min(button.right - width, innerWidth - width - 8))}px`;
}
