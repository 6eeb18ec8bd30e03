import { memo } from "react";
import { Json } from "@/parts/values/json";
import { visibleText } from "@/parts/values/text";
import { copyText } from "@/parts/values/values";
import { COLORS, parseAnsi, type Span } from "./ansi";
import type { LogLine } from "./log_lines";

const LEVEL_LOOK: Record<LogLine["level"], string> = {
  debug: "text-muted",
  info: "",
  warn: "text-warn",
  error: "text-danger",
};

/** One line of a log: its number, time, level, message, and its fields, which can be unfolded. */
export const LogRow = memo(function LogRow({
  line,
  wrap,
  open,
  marked,
  toggle,
  mark,
}: {
  line: LogLine;
  wrap: boolean;
  open: boolean;
  marked: boolean;
  toggle: (sequence: number) => void;
  mark: (sequence: number) => void;
}) {
  const fields = Object.keys(line.fields).length > 0;
  return (
    <div className={`${marked ? "bg-accent-soft" : ""} ${wrap ? "" : "w-max min-w-full"}`}>
      <div
        className={`flex min-h-6 items-start gap-2 px-2 leading-6 ${wrap ? "" : "whitespace-nowrap"}`}
      >
        <a
          href={`${location.pathname}${location.search}#line-${line.sequence}`}
          id={`line-${line.sequence}`}
          aria-label={`${line.sequence}: copy the address of this line`}
          className="w-14 flex-none text-right text-muted select-none hover:text-accent"
          onClick={(event) => {
            event.preventDefault();
            mark(line.sequence);
            void copyText(event.currentTarget.href);
          }}
        >
          {line.sequence}
        </a>
        <time dateTime={line.at} title={line.at} className="flex-none text-muted select-none">
          {clock(line.at)}
        </time>
        <span className={`w-11 flex-none font-semibold ${LEVEL_LOOK[line.level]}`}>
          {line.level}
        </span>
        <bdi
          dir="ltr"
          className={`min-w-0 ${wrap ? "break-words whitespace-pre-wrap" : "whitespace-pre"}`}
        >
          {parseAnsi(line.message).map((span, place) => (
            <AnsiText key={place} span={span} />
          ))}
        </bdi>
        {fields && (
          <button
            type="button"
            aria-expanded={open}
            aria-describedby={`line-${line.sequence}`}
            className="min-h-6 min-w-0 rounded px-1 text-left text-muted hover:bg-sunken"
            onClick={() => toggle(line.sequence)}
          >
            {open ? "▾" : "▸"}{" "}
            <bdi dir="ltr" className={wrap ? "" : "whitespace-pre"}>
              {fieldWords(line.fields)}
            </bdi>
          </button>
        )}
      </div>
      {open && (
        <div className="max-w-3xl py-1 pr-2 pl-18">
          <Json value={line.fields} label={`Fields of line ${line.sequence}`} />
        </div>
      )}
    </div>
  );
});

function AnsiText({ span }: { span: Span }) {
  const { text, color, background, bold, dim, italic, underline, strike } = span;
  if (Object.keys(span).length === 1) return text;
  const decoration = [underline && "underline", strike && "line-through"].filter(Boolean).join(" ");
  const tone = dim ? "var(--muted)" : color === undefined ? undefined : COLORS[color];
  return (
    <span
      style={{
        // On a tinted ground only the usual text is sure to be readable.
        color: background === undefined ? tone : "var(--text)",
        background:
          background === undefined
            ? undefined
            : `color-mix(in srgb, ${COLORS[background]} 22%, var(--surface))`,
        fontWeight: bold ? 700 : undefined,
        fontStyle: italic ? "italic" : undefined,
        textDecoration: decoration || undefined,
      }}
    >
      {text}
    </span>
  );
}

/** Fields in short: `frame=3 codec=h264`. */
function fieldWords(fields: LogLine["fields"]): string {
  const words = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return visibleText(words.join(" ").replaceAll("\n", "↵")).slice(0, 300);
}

/** Time of day with milliseconds, in the browser's zone; all of it is the title. */
function clock(at: string): string {
  const time = new Date(at);
  const pad = (value: number, size = 2): string => String(value).padStart(size, "0");
  return `${pad(time.getHours())}:${pad(time.getMinutes())}:${pad(time.getSeconds())}.${pad(time.getMilliseconds(), 3)}`;
}
