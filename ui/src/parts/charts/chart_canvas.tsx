import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import Plot, { type Options } from "uplot";
import "uplot/dist/uPlot.min.css";
import { usePreferences } from "@/shell/preferences";
import { type ChartProps, type Unit, unitWords } from "./time_chart";

/** The drawing of a chart. A dragged span, or one chosen by arrow keys and Enter, goes to `onSpan`. */
export default function ChartCanvas(props: ChartProps & { height: number }) {
  const { label, times, slotSeconds, lines, unit, onSpan, height } = props;
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | null>(null);
  const spanChosen = useRef(onSpan);
  spanChosen.current = onSpan;
  const { theme, zone } = usePreferences();
  const shape = JSON.stringify([
    lines.map(({ values, ...line }) => line),
    unit,
    theme,
    zone,
    slotSeconds,
  ]);
  const data = [times.map((time) => time / 1000), ...lines.map((line) => [...line.values])];
  const latest = useRef(data);
  latest.current = data;

  // biome-ignore lint/correctness/useExhaustiveDependencies: `shape` stands for lines, unit, theme and zone
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const drawn = new Plot(
      optionsOf(element, props, zone, (from, until) => spanChosen.current?.(from, until)),
      latest.current as unknown as Plot.AlignedData,
      element,
    );
    plot.current = drawn;
    const resized = new ResizeObserver(() => drawn.setSize({ width: element.clientWidth, height }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      drawn.destroy();
      plot.current = null;
    };
  }, [shape, height]);

  useEffect(() => {
    plot.current?.setData(data as unknown as Plot.AlignedData);
  });

  const [chosen, setChosen] = useState<readonly [number, number] | null>(null);
  const pressed = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const last = times.length - 1;
    if (step !== undefined) {
      event.preventDefault();
      const [anchor, at] = chosen ?? [last, last];
      const next = Math.min(last, Math.max(0, at + step));
      setChosen([event.shiftKey ? anchor : next, next]);
      plot.current?.setCursor({
        left: plot.current.valToPos((times[next] ?? 0) / 1000, "x"),
        top: height / 2,
      });
    } else if (event.key === "Enter" && chosen) {
      const [from, until] = [Math.min(...chosen), Math.max(...chosen)];
      onSpan?.(times[from] ?? 0, (times[until] ?? 0) + slotSeconds * 1000);
    } else if (event.key === "Escape") setChosen(null);
  };
  const said = chosen ? spokenSpan(props, chosen) : "";
  return (
    <div
      ref={place}
      role="application"
      aria-label={`${label}. Arrow keys move, with Shift they choose a span${onSpan ? ", Enter shows its jobs" : ""}.`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys above work here
      tabIndex={0}
      onKeyDown={pressed}
      className="h-full w-full"
      style={{ height }}
    >
      <span className="sr-only" aria-live="polite">
        {said}
      </span>
    </div>
  );
}

function spokenSpan({ times, lines, unit }: ChartProps, span: readonly [number, number]): string {
  const at = new Date(times[span[1]] ?? 0).toLocaleTimeString();
  const values = lines.map((line) => `${line.label} ${unitWords(line.values[span[1]], unit)}`);
  return `${at}: ${values.join(", ")}`;
}

function optionsOf(
  element: HTMLElement,
  { lines, unit, slotSeconds, onSpan, height }: ChartProps & { height: number },
  zone: string | undefined,
  chosen: (from: number, until: number) => void,
): Options {
  const color = (name: string): string => resolvedColor(element, name);
  const grid = { stroke: color("var(--line)"), width: 1 };
  const axis = { stroke: color("var(--muted)"), grid, ticks: { show: false } };
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { drag: { x: onSpan !== undefined, y: false, setScale: false }, y: false },
    scales: { y: { range: (_, __, most) => [0, niceTop(most ?? 1, unit)] } },
    axes: [
      {
        ...axis,
        size: 28,
        values: (_, ticks, __, ___, step) =>
          ticks.map((tick) => timeWords(tick * 1000, step, zone)),
      },
      { ...axis, size: 56, values: (_, ticks) => ticks.map((tick) => unitWords(tick, unit)) },
    ],
    series: [
      {},
      ...lines.map((line) => ({
        label: line.label,
        stroke: color(line.color),
        width: 2,
        points: { size: 5 },
        spanGaps: false,
        ...(line.dash ? { dash: [...line.dash] } : {}),
        ...(line.area ? { fill: translucent(color(line.color)) } : {}),
      })),
    ],
    hooks: {
      setSelect: [
        (drawn) => {
          const { left, width } = drawn.select;
          if (width < 4) return;
          const from = drawn.posToVal(left, "x");
          const until = drawn.posToVal(left + width, "x") + slotSeconds;
          drawn.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          chosen(from * 1000, until * 1000);
        },
      ],
    },
  };
}

function niceTop(most: number, unit: Unit): number {
  if (unit === "share") return 1;
  return most > 0 ? most * 1.1 : 1;
}

/** A colour as the canvas needs it: custom properties and `light-dark()` resolved. */
function resolvedColor(element: HTMLElement, color: string): string {
  const probe = document.createElement("span");
  probe.style.color = color;
  element.append(probe);
  const resolved = getComputedStyle(probe).color;
  probe.remove();
  return resolved;
}

function translucent(color: string): string {
  return color.replace(/^rgb\((.*)\)$/, "rgba($1, 0.15)");
}

/** A tick of the time axis: a day, or a time of the day. */
function timeWords(at: number, stepSeconds: number, zone: string | undefined): string {
  const parts = stepSeconds >= 86_400 ? DAY : TIME;
  return new Intl.DateTimeFormat("en-GB", { ...parts, ...(zone ? { timeZone: zone } : {}) }).format(
    at,
  );
}

const DAY = { month: "short", day: "numeric" } as const;
const TIME = { hour: "2-digit", minute: "2-digit" } as const;
