import { useSession } from "@/api/session";
import { Dialog } from "@/parts/dialogs/dialog";
import { useLens } from "./lens";
import { screensFor } from "./screens";

/** What keys do, besides going to a screen. */
const KEYS: readonly (readonly [string, string])[] = [
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
];

export default function ShortcutSheet({ close }: { close: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" close={close}>
      <ShortcutList />
    </Dialog>
  );
}

export function ShortcutList() {
  const session = useSession();
  const { single } = useLens();
  const screens = screensFor(session, !single).filter((screen) => screen.key);
  const keys = [...KEYS, ...screens.map(({ key, title }) => [`g ${key}`, title] as const)];
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1 sm:grid-cols-[auto_1fr_auto_1fr]">
      {keys.map(([pressed, meaning]) => (
        <div key={pressed} className="contents">
          <dt>
            <kbd className="rounded border border-line-strong bg-raised px-1.5">{pressed}</kbd>
          </dt>
          <dd>{meaning}</dd>
        </div>
      ))}
    </dl>
  );
}
