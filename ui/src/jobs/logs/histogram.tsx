import { type KeyboardEvent, useState } from "react";
import type { Answer } from "@/api/read";
import { absoluteWords } from "@/parts/values/time";
import { Count, numberWords } from "@/parts/values/values";
import { usePreferences } from "@/shell/preferences";

type Volume = Answer<"/api/v1/logs/volume", "get">;
const LEVELS = [
  ["error", "var(--danger)"],
  ["warn", "var(--warn)"],
  ["info", "var(--accent)"],
  ["debug", "var(--line-strong)"],
] as const;
const HEIGHT = 56;

/** Lines over time by level. A slot that is clicked, or chosen by arrows and Enter, narrows the search. */
export function Histogram({
  volume,
  narrow,
}: {
  volume: Volume;
  narrow: (since: string, until: string) => void;
}) {
  const { zone } = usePreferences();
  const [at, setAt] = useState<number | null>(null);
  const { points } = volume;
  const totals = points.map((each) => each.debug + each.info + each.warn + each.error);
  const most = Math.max(1, ...totals);
  const place = Math.min(at ?? points.length - 1, points.length - 1);
  const words = (slot: number): string => {
    const point = points[slot];
    if (point === undefined) return "";
    const counts = LEVELS.filter(([level]) => point[level] > 0)
      .map(([level]) => `${numberWords(point[level])} ${level}`)
      .join(", ");
    return `${absoluteWords(point.at, zone)}: ${counts || "no lines"}`;
  };
  const choose = (slot: number): void => {
    const point = points[slot];
    if (point === undefined) return;
    const from = Date.parse(point.at);
    narrow(new Date(from).toISOString(), new Date(from + volume.slot_seconds * 1000).toISOString());
  };
  const keys = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setAt(Math.max(0, Math.min(points.length - 1, place + step)));
    } else if (event.key === "Enter") choose(place);
  };
  const slotOf = (event: { clientX: number; currentTarget: Element }): number => {
    const box = event.currentTarget.getBoundingClientRect();
    return Math.min(
      points.length - 1,
      Math.floor(((event.clientX - box.left) / Math.max(1, box.width)) * points.length),
    );
  };
  return (
    <div className="mb-2">
      <div
        role="slider"
        tabIndex={0}
        aria-label="Lines over time; Enter narrows the search to a slot"
        aria-valuemin={0}
        aria-valuemax={Math.max(0, points.length - 1)}
        aria-valuenow={Math.max(0, place)}
        aria-valuetext={words(place)}
        className="cursor-pointer rounded-md border border-line bg-raised px-1 pt-1"
        onKeyDown={keys}
        onBlur={() => setAt(null)}
      >
        <svg
          aria-hidden="true"
          width="100%"
          height={HEIGHT}
          viewBox={`0 0 ${Math.max(1, points.length)} ${HEIGHT}`}
          preserveAspectRatio="none"
          className="block"
          onPointerMove={(event) => setAt(slotOf(event))}
          onPointerLeave={() => setAt(null)}
          onClick={(event) => choose(slotOf(event))}
        >
          {at !== null && (
            <rect x={place} y={0} width={1} height={HEIGHT} fill="var(--accent-soft)" />
          )}
          {points.map((point, slot) => {
            let top = HEIGHT;
            return LEVELS.map(([level, color]) => {
              if (point[level] === 0) return null;
              const height = Math.max(1.5, (point[level] / most) * (HEIGHT - 2));
              top -= height;
              return (
                <rect
                  key={`${slot} ${level}`}
                  x={slot + 0.1}
                  y={top}
                  width={0.8}
                  height={height}
                  fill={color}
                />
              );
            });
          })}
        </svg>
      </div>
      <p className="mt-0.5 flex min-h-5 flex-wrap justify-between gap-x-4 text-[13px] text-muted">
        <span>{at === null ? absoluteWords(volume.since, zone) : words(place)}</span>
        <span>
          <Count value={volume.total} exact={volume.exact} /> lines
        </span>
        {at === null && <span>{absoluteWords(volume.until, zone)}</span>}
      </p>
    </div>
  );
}
