import { useState } from "react";

const PRIORITIES: Record<number, string> = {
  25: "Critical",
  50: "High",
  100: "Normal",
  200: "Low",
};

/** Text of a priority: its name, or its number where it has none. */
export function priorityWords(priority: number): string {
  return PRIORITIES[priority] ?? String(priority);
}

const whole = new Intl.NumberFormat("en-US");

export function numberWords(value: number): string {
  return whole.format(value);
}

/** A count; `exact` false means that there are at least so many. */
export function Count({ value, exact = true }: { value: number; exact?: boolean }) {
  return (
    <span className="tabular-nums">
      {numberWords(value)}
      {exact ? "" : "+"}
    </span>
  );
}

/** The last eight characters of an id; the button copies all of it. */
export function ShortId({ id }: { id: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <button
      type="button"
      className="mono min-h-6 rounded px-1 hover:bg-sunken"
      title={copied ? "Copied" : `${id}: copy`}
      aria-label={copied ? "Copied" : `${id.slice(-8)}: copy id ${id}`}
      onClick={(event) => {
        event.preventDefault();
        event.stopPropagation();
        void copyText(id).then(() => setCopied(true));
        setTimeout(() => setCopied(false), 1500);
      }}
    >
      {copied ? "copied" : id.slice(-8)}
    </button>
  );
}

/** Copy text to the clipboard, also where the page is served without https. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}

/** A button that copies text. */
export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <button
      type="button"
      className="button button-quiet min-h-6 text-[13px]"
      onClick={() => {
        void copyText(text).then(() => setCopied(true));
        setTimeout(() => setCopied(false), 1500);
      }}
    >
      {copied ? "Copied" : label}
    </button>
  );
}

/** Progress of a job from 0 to 1, with its note. */
export function Progress({ value, note }: { value: number; note?: string | null }) {
  const percent = Math.round(Math.min(1, Math.max(0, value)) * 100);
  return (
    <span className="flex min-w-24 items-center gap-2">
      <span
        role="progressbar"
        aria-label={note ?? "Progress"}
        aria-valuenow={percent}
        aria-valuemin={0}
        aria-valuemax={100}
        className="h-2 min-w-16 flex-1 overflow-hidden rounded-full border border-line-strong bg-sunken"
      >
        <span
          className="block h-full bg-accent transition-[width]"
          style={{ width: `${percent}%` }}
        />
      </span>
      <span className="text-muted">
        {percent} %{note ? ` · ${note}` : ""}
      </span>
    </span>
  );
}

/** A line of small bars without axes; the text says what it shows. */
export function Sparkline({ values, label }: { values: readonly number[]; label: string }) {
  const most = Math.max(1, ...values);
  const width = 4;
  return (
    <svg
      role="img"
      aria-label={label}
      width={values.length * width}
      height={20}
      className="inline-block text-accent"
    >
      <title>{label}</title>
      {values.map((value, place) => {
        const height = value === 0 ? 1 : Math.max(2, (value / most) * 20);
        return (
          <rect
            key={place}
            x={place * width}
            y={20 - height}
            width={width - 1}
            height={height}
            fill="currentColor"
            opacity={value === 0 ? 0.3 : 1}
          />
        );
      })}
    </svg>
  );
}

/** How much of a limit is used; a full one is marked. */
export function Gauge({
  value,
  limit,
  label,
}: {
  value: number;
  limit: number | null;
  label: string;
}) {
  if (limit === null) return <span>{numberWords(value)}</span>;
  const full = value >= limit;
  return (
    <span className="inline-flex items-center gap-2 whitespace-nowrap">
      {/* biome-ignore lint/a11y/useSemanticElements: browsers draw <meter> in colours of their own */}
      <span
        role="meter"
        aria-label={label}
        aria-valuenow={value}
        aria-valuemin={0}
        aria-valuemax={limit}
        className="inline-block h-2 w-14 overflow-hidden rounded-full border border-line-strong bg-sunken"
      >
        <span
          className={`block h-full ${full ? "bg-warn" : "bg-accent"}`}
          style={{ width: `${Math.min(100, (100 * value) / Math.max(1, limit))}%` }}
        />
      </span>
      <span className={full ? "font-medium text-warn" : ""}>
        {numberWords(value)} / {numberWords(limit)}
        {full ? " full" : ""}
      </span>
    </span>
  );
}

/** A short mark beside a name. */
export function Mark({ look, children }: { look: string; children: React.ReactNode }) {
  return <span className={`rounded px-1.5 text-[12px] leading-5 ${look}`}>{children}</span>;
}
