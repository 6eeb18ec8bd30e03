import { type KeyboardEvent, useId, useMemo, useState } from "react";
import { Field } from "@/parts/forms/fields";
import { offsetOf } from "./trigger_words";

const MOST = 30;

/** Zones with their offsets now; made once, since it takes some milliseconds. */
let zones: readonly { zone: string; offset: string; searched: string }[] | undefined;

function allZones() {
  zones ??= ["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")].map(
    (zone) => {
      const offset = offsetOf(zone);
      const words = `${zone} ${zone.replaceAll("_", " ")} utc${offset} ${offset.replace(/^([+-])0/, "$1")}`;
      return { zone, offset, searched: words.toLowerCase() };
    },
  );
  return zones;
}

/** A time zone, found by city or by offset. */
export function ZonePicker({
  value,
  change,
  error,
  hint,
}: {
  value: string;
  change: (zone: string) => void;
  error?: string | undefined;
  hint?: string;
}) {
  const id = useId();
  const [typed, setTyped] = useState<string | null>(null);
  const [at, setAt] = useState(0);
  const open = typed !== null;
  const found = useMemo(() => {
    if (typed === null) return [];
    const wanted = typed.trim().toLowerCase();
    return allZones()
      .filter(({ searched }) => searched.includes(wanted))
      .slice(0, MOST);
  }, [typed]);
  const choose = (zone: string): void => {
    change(zone);
    setTyped(null);
  };
  const pressed = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      if (open) setAt((at + step + found.length) % Math.max(1, found.length));
      else setTyped("");
    } else if (event.key === "Enter" && open) {
      event.preventDefault();
      const chosen = found[at];
      if (chosen) choose(chosen.zone);
    } else if (event.key === "Escape" && open) {
      event.preventDefault();
      event.stopPropagation();
      setTyped(null);
    }
  };
  return (
    <div className="relative">
      <Field
        label="Time zone"
        error={error}
        hint={hint ?? (value ? `UTC${offsetOf(value)} now` : undefined)}
      >
        {(attributes) => (
          <input
            {...attributes}
            role="combobox"
            aria-expanded={open}
            aria-controls={`${id}-zones`}
            aria-autocomplete="list"
            aria-activedescendant={open && found[at] ? `${id}-${at}` : undefined}
            className="input"
            autoComplete="off"
            placeholder="City or offset"
            value={typed ?? value}
            onChange={(event) => {
              setTyped(event.target.value);
              setAt(0);
            }}
            onKeyDown={pressed}
            onBlur={() => {
              // A zone that was typed in full counts, also one that only the server knows.
              if (typed !== null && /^[A-Za-z_]+(\/[\w+-]+)*$/.test(typed.trim()))
                change(typed.trim());
              setTyped(null);
            }}
          />
        )}
      </Field>
      <div
        id={`${id}-zones`}
        role="listbox"
        aria-label="Time zones"
        tabIndex={-1}
        hidden={!open || found.length === 0}
        className="absolute z-20 max-h-56 w-full overflow-y-auto rounded-md border border-line-strong bg-surface py-1 shadow-lg"
      >
        {found.map(({ zone, offset }, place) => (
          <div
            key={zone}
            id={`${id}-${place}`}
            role="option"
            tabIndex={-1}
            aria-selected={place === at}
            className="flex min-h-7 cursor-pointer items-center justify-between gap-3 px-3 hover:bg-sunken aria-selected:bg-accent-soft"
            // Before the field loses the focus, which would close the list.
            onPointerDown={(event) => {
              event.preventDefault();
              choose(zone);
            }}
          >
            {zone.replaceAll("_", " ")}
            <span className="text-muted">{offset}</span>
          </div>
        ))}
      </div>
    </div>
  );
}
