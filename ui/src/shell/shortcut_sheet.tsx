import { Dialog } from "@/parts/dialogs/dialog";
import { SCREENS } from "./screens";

/** What keys do. Screens list what they add. */
export const KEYS: readonly (readonly [string, string])[] = [
  ["?", "This list"],
  ["Ctrl K", "Command palette"],
  ["/", "Search"],
  ["p", "Pause or resume live updates"],
  ["j, k", "Next, previous row"],
  ["Enter", "Open the row"],
  ["x", "Select the row"],
  ["r", "Retry"],
  ["c", "Cancel"],
  ["[, ]", "Previous, next job of the list"],
  ["Esc", "Back, close"],
  ...SCREENS.filter((screen) => screen.key).map(
    (screen) => [`g ${screen.key}`, screen.title] as const,
  ),
];

export default function ShortcutSheet({ close }: { close: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" close={close}>
      <ShortcutList />
    </Dialog>
  );
}

export function ShortcutList() {
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1 sm:grid-cols-[auto_1fr_auto_1fr]">
      {KEYS.map(([keys, meaning]) => (
        <div key={keys} className="contents">
          <dt>
            <kbd className="rounded border border-line-strong bg-raised px-1.5">{keys}</kbd>
          </dt>
          <dd>{meaning}</dd>
        </div>
      ))}
    </dl>
  );
}
