import { lazy, Suspense, useId, useState } from "react";
import { Scroller } from "@/parts/panels/scroller";
import { durationWords } from "@/parts/values/time";
import { numberWords } from "@/parts/values/values";

const Canvas = lazy(() => import("./chart_canvas"));

export type Unit = "count" | "seconds" | "share" | "rate";

/** A line of a chart. Lines differ by dash and label too, not by colour alone. */
export interface Line {
  label: string;
  values: readonly (number | null)[];
  /** A CSS colour, such as `var(--state-running)`. */
  color: string;
  dash?: readonly number[];
  /** Fills the room below the line. */
  area?: boolean;
}

export interface ChartProps {
  label: string;
  /** Beginnings of the slots, in milliseconds. */
  times: readonly number[];
  slotSeconds: number;
  lines: readonly Line[];
  unit: Unit;
  /** Called with the span that was dragged, or chosen by arrow keys and Enter. */
  onSpan?: ((from: number, until: number) => void) | undefined;
}

const HEIGHT = 180;

/** A value of a chart in words. */
export function unitWords(value: number | null | undefined, unit: Unit): string {
  if (value === null || value === undefined) return "–";
  switch (unit) {
    case "seconds":
      return durationWords(value);
    case "share":
      return `${Math.round(value * 100)} %`;
    case "rate":
      return `${Number(value.toPrecision(2))}/s`;
    case "count":
      return value < 10 ? String(Number(value.toPrecision(2))) : numberWords(Math.round(value));
  }
}

/** Lines over time, with a legend that names the newest values, and the same as a table. */
export function TimeChart(props: ChartProps) {
  const { label, lines, unit } = props;
  const [table, setTable] = useState(false);
  const id = useId();
  const newest = (line: Line): number | null =>
    line.values.findLast((each) => each !== null) ?? null;
  return (
    <figure aria-labelledby={id} className="min-w-0">
      <figcaption id={id} className="sr-only">
        {label}
      </figcaption>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        {lines.map((line) => (
          <span key={line.label} className="inline-flex items-center gap-1.5">
            <svg aria-hidden="true" width="22" height="8">
              <line
                x1="0"
                x2="22"
                y1="4"
                y2="4"
                stroke={line.color}
                strokeWidth="2.5"
                strokeDasharray={line.dash?.join(" ")}
              />
            </svg>
            <span className="text-muted">{line.label}</span>
            <span className="font-medium">{unitWords(newest(line), unit)}</span>
          </span>
        ))}
        <button
          type="button"
          className="link ml-auto min-h-6 text-[13px]"
          aria-pressed={table}
          onClick={() => setTable(!table)}
        >
          {table ? "View as chart" : "View as table"}
        </button>
      </div>
      {table ? (
        <ChartTable {...props} />
      ) : (
        <div style={{ height: HEIGHT }}>
          <Suspense>
            <Canvas {...props} height={HEIGHT} />
          </Suspense>
        </div>
      )}
    </figure>
  );
}

function ChartTable({ label, times, lines, unit }: ChartProps) {
  const clock = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "short" });
  return (
    <Scroller label={label} className="overflow-auto" style={{ height: HEIGHT }}>
      <table className="w-full">
        <caption className="sr-only">{label}</caption>
        <thead className="sticky top-0 bg-surface text-left text-muted">
          <tr>
            <th scope="col" className="pr-4 font-medium">
              From
            </th>
            {lines.map((line) => (
              <th key={line.label} scope="col" className="number pr-4 font-medium">
                {line.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times.map((time, place) => (
            <tr key={time} className="border-t border-line">
              <th scope="row" className="pr-4 text-left font-normal whitespace-nowrap">
                {clock.format(time)}
              </th>
              {lines.map((line) => (
                <td key={line.label} className="number pr-4">
                  {unitWords(line.values[place], unit)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroller>
  );
}
