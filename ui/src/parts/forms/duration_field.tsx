import { useLayoutEffect, useRef, useState } from "react";
import { durationWords } from "@/parts/values/time";
import { Field } from "./fields";

const UNITS: Readonly<Record<string, number>> = {
  ms: 0.001,
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
  w: 604_800,
};

/** Seconds of `90`, `10m`, `1h30m`, `2 d`; null if the text is none. */
export function parseDuration(text: string): number | null {
  const plain = text
    .trim()
    .toLowerCase()
    .replace(/\s+|min/g, (found) => (found === "min" ? "m" : ""));
  if (/^\d+(\.\d+)?$/.test(plain)) return Number(plain);
  if (!/^(\d+(\.\d+)?(ms|[smhdw]))+$/.test(plain)) return null;
  let seconds = 0;
  for (const [, count, unit] of plain.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdw])/g))
    seconds += Number(count) * (UNITS[unit ?? "s"] ?? 1);
  return seconds;
}

/** Seconds in the shortest exact words that `parseDuration` reads: `90s`, `10m`, `1h30m`. */
export function durationText(seconds: number): string {
  if (!Number.isInteger(seconds)) return `${seconds}s`;
  let rest = seconds;
  let text = "";
  for (const unit of ["d", "h", "m", "s"]) {
    const length = UNITS[unit] ?? 1;
    const count = Math.floor(rest / length);
    rest -= count * length;
    if (count > 0) text += `${count}${unit}`;
  }
  return text || "0s";
}

/** A duration, written like `10m`; null while it is empty. Text that is none keeps the form back. */
export function DurationField({
  label,
  hint,
  error,
  aside,
  seconds,
  change,
  placeholder,
}: {
  label: string;
  hint?: React.ReactNode;
  error?: string | undefined;
  aside?: React.ReactNode;
  seconds: number | null;
  change: (seconds: number | null) => void;
  placeholder?: string;
}) {
  const control = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(seconds === null ? "" : durationText(seconds));
  const read = text.trim() === "" ? null : parseDuration(text);
  const mistake = text.trim() !== "" && read === null ? "Write it like 30s, 10m, 2h or 1d." : "";
  useLayoutEffect(() => control.current?.setCustomValidity(mistake), [mistake]);
  // A value from outside, such as one that was reset, is shown; what was typed stays as typed.
  useLayoutEffect(() => {
    setText((typed) => {
      const same = seconds === (typed.trim() === "" ? null : parseDuration(typed));
      return same || (seconds === null && typed.trim() !== "") ? typed : durationText(seconds ?? 0);
    });
  }, [seconds]);
  return (
    <Field
      label={label}
      aside={aside}
      hint={read === null ? hint : durationWords(read)}
      error={mistake || error}
    >
      {(attributes) => (
        <input
          {...attributes}
          ref={control}
          className="input"
          autoComplete="off"
          placeholder={placeholder ?? "10m"}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            const next = event.target.value.trim();
            change(next === "" ? null : parseDuration(next));
          }}
        />
      )}
    </Field>
  );
}
