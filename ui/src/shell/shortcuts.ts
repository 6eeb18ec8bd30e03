import { useLayoutEffect, useRef } from "react";
import { usePreferences } from "./preferences";

/** Keys -> action, such as `j`, `g o`, `?`. A screen adds its own while it is shown. */
export type Shortcuts = Record<string, () => void>;

const FOLLOW_MS = 1200;
const TYPED_IN =
  "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable], [role=menu]";
/** What Enter does something to by itself. */
const PRESSED = "a, button, summary, input, [role=button]";

/** Listen to keys that are typed outside of fields; a dialog in front keeps them from the page. */
export function useShortcuts(shortcuts: Shortcuts, enabled = true): void {
  const { shortcuts: allowed } = usePreferences();
  const current = useRef(shortcuts);
  current.current = shortcuts;
  useLayoutEffect(() => {
    if (!enabled || !allowed) return undefined;
    let first = "";
    let timer: ReturnType<typeof setTimeout> | undefined;
    const pressed = (event: KeyboardEvent): void => {
      const target = event.target as HTMLElement;
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Enter" && target.matches(PRESSED)) return;
      if (target.matches(TYPED_IN) || document.querySelector("dialog[open]")) return;
      const action = current.current[`${first} ${event.key}`.trim()] ?? current.current[event.key];
      clearTimeout(timer);
      first = "";
      if (action !== undefined) {
        event.preventDefault();
        action();
      } else if (Object.keys(current.current).some((keys) => keys.startsWith(`${event.key} `))) {
        first = event.key;
        timer = setTimeout(() => {
          first = "";
        }, FOLLOW_MS);
      }
    };
    document.addEventListener("keydown", pressed);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("keydown", pressed);
    };
  }, [enabled, allowed]);
}
