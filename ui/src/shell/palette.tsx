import { type KeyboardEvent, useEffect, useId, useState } from "react";
import { useLocation } from "wouter";
import { get } from "@/api/read";
import { useSession } from "@/api/session";
import { Dialog } from "@/parts/dialogs/dialog";
import { useLens } from "./lens";
import { setPreferences, type Theme } from "./preferences";
import { screensFor } from "./screens";

interface Command {
  label: string;
  kind: string;
  run: () => void;
}

const THEMES: readonly Theme[] = ["system", "light", "dark", "contrast"];
const ID = /^[0-9a-f-]{6,36}$/i;

/** Command palette: go to a screen, a job, a definition, a tenant, or change how the page looks. */
export default function Palette({ close }: { close: () => void }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const [definitions, setDefinitions] = useState<readonly string[]>([]);
  const [, go] = useLocation();
  const session = useSession();
  const lens = useLens();
  const id = useId();
  useEffect(() => {
    if (!session.may("definitions.read")) return;
    get("/api/v1/definitions", { params: { query: { limit: 500 } } }).then(
      (answer) => setDefinitions(answer.items.map((each) => each.key)),
      () => {},
    );
  }, [session]);
  const to = (path: string) => () => go(path);
  const commands: Command[] = [
    ...screensFor(session, !lens.single).map((screen) => ({
      label: screen.title,
      kind: "Go to",
      run: to(screen.path),
    })),
    ...definitions.map((key) => ({
      label: key,
      kind: "Definition",
      run: to(`/definitions/${encodeURIComponent(key)}`),
    })),
    ...(lens.single ? [] : [null, ...lens.tenants]).map((tenant) => ({
      label: tenant ?? "All tenants",
      kind: "Tenant",
      run: () => lens.choose(tenant),
    })),
    ...THEMES.map((theme) => ({
      label: `${theme === "contrast" ? "High contrast" : theme} theme`,
      kind: "Theme",
      run: () => setPreferences({ theme }),
    })),
  ];
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = commands.filter(({ label, kind }) =>
    words.every((word) => `${kind} ${label}`.toLowerCase().includes(word)),
  );
  if (ID.test(text.trim()))
    found.unshift({ label: text.trim(), kind: "Job", run: to(`/jobs/${text.trim()}`) });
  if (text.trim())
    found.push({
      label: text.trim(),
      kind: "Search jobs for",
      run: to(`/jobs?q=${encodeURIComponent(text.trim())}`),
    });
  const shown = found.slice(0, 12);
  const chosen = Math.min(at, shown.length - 1);
  const pressed = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setAt((chosen + step + shown.length) % Math.max(1, shown.length));
    } else if (event.key === "Enter") {
      event.preventDefault();
      close();
      shown[chosen]?.run();
    }
  };
  return (
    <Dialog title="Go to" close={close}>
      <input
        className="input"
        role="combobox"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={shown.length > 0 ? `${id}-${chosen}` : undefined}
        aria-label={
          lens.single ? "Screen, job id, definition" : "Screen, job id, definition, tenant"
        }
        placeholder={
          lens.single ? "Screen, job id, definition…" : "Screen, job id, definition, tenant…"
        }
        autoFocus
        value={text}
        onKeyDown={pressed}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
      />
      <div id={`${id}-list`} role="listbox" aria-label="Found" className="mt-2">
        {shown.map((command, place) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys
          <div
            key={`${command.kind} ${command.label}`}
            id={`${id}-${place}`}
            role="option"
            tabIndex={-1}
            aria-selected={place === chosen}
            className="flex min-h-8 cursor-pointer items-center gap-2 rounded px-2 aria-selected:bg-accent-soft"
            onClick={() => {
              close();
              command.run();
            }}
          >
            <span className="text-muted">{command.kind}</span>
            <span>{command.label}</span>
          </div>
        ))}
      </div>
    </Dialog>
  );
}
