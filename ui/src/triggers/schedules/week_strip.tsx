import { useQueries } from "@tanstack/react-query";
import { useState } from "react";
import { get, readKey } from "@/api/read";
import { absoluteWords } from "@/parts/values/time";
import { usePreferences } from "@/shell/preferences";
import type { Trigger } from "./trigger_words";

const MOST_SCHEDULES = 30;
const MOST_RUNS = 200;
const HOUR_MS = 3_600_000;
const DAYS = 7;

/** A schedule that fires in an hour of the week, at these instants. */
interface Firing {
  name: string;
  at: number;
}

/**
 * The next seven days by hour: how many schedules fire, and where several do so in one minute.
 * What fires more often than hourly is named below, since it is in every hour.
 */
export function WeekStrip({ schedules }: { schedules: readonly Trigger[] }) {
  const { zone } = usePreferences();
  const [start] = useState(() => Math.floor(Date.now() / HOUR_MS) * HOUR_MS);
  const enabled = schedules.filter((each) => each.enabled && each.next_run_at);
  const crons = enabled.filter((each) => each.type === "cron").slice(0, MOST_SCHEDULES);
  const previews = useQueries({
    queries: crons.map((each) => {
      const query = {
        cron: each.cron ?? "",
        timezone: each.timezone,
        limit: MOST_RUNS,
        after: new Date(start).toISOString(),
      };
      const init = { params: { query } };
      return {
        queryKey: readKey("/api/v1/schedules/preview", init),
        queryFn: () => get("/api/v1/schedules/preview", init),
        staleTime: 600_000,
      };
    }),
  });
  const often: string[] = [];
  const firings: Firing[] = [];
  const end = start + DAYS * 24 * HOUR_MS;
  const add = (name: string, instants: number[]): void => {
    const within = instants.filter((at) => at >= start && at < end);
    if (within.length > DAYS * 24) often.push(name);
    else for (const at of within) firings.push({ name, at });
  };
  previews.forEach(({ data }, place) => {
    if (data)
      add(
        crons[place]?.name ?? "",
        data.runs.map((run) => Date.parse(run.at)),
      );
  });
  for (const each of enabled) {
    const next = Date.parse(each.next_run_at ?? "");
    const step = (each.interval_seconds ?? 0) * 1000;
    if (each.type === "interval" && step < HOUR_MS) often.push(each.name);
    else if (each.type === "interval")
      add(
        each.name,
        Array.from({ length: DAYS * 24 }, (_, turn) => next + turn * step),
      );
    else if (each.type === "once") add(each.name, [next]);
  }
  if (firings.length === 0 && often.length === 0) return null;
  const cells = byHour(firings, zone);
  const days = Array.from({ length: DAYS }, (_, day) =>
    absoluteWords(start + day * 24 * HOUR_MS, zone).slice(0, 10),
  );
  const collisions = [...cells.values()].filter((cell) => cell.together.length > 0).length;
  return (
    <details className="mb-3 rounded-md border border-line bg-surface" open>
      <summary className="min-h-8 px-3 py-1.5 font-medium">
        The next seven days
        <span className="font-normal text-muted">
          {" "}
          ·{" "}
          {collisions === 0
            ? "no two fire in the same minute"
            : `▲ ${collisions} hours in which several fire in the same minute`}
        </span>
      </summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <section aria-label="Week" tabIndex={0} className="relative overflow-x-auto px-3 pb-2">
        <table className="w-full min-w-[36rem] table-fixed text-center text-[12px]">
          <caption className="sr-only">Schedules that fire, by day and hour</caption>
          <thead>
            <tr className="text-muted">
              <th scope="col" className="w-20 text-left font-normal">
                Day
              </th>
              {Array.from({ length: 24 }, (_, hour) => (
                <th key={hour} scope="col" className="font-normal">
                  {hour % 3 === 0 ? (
                    String(hour).padStart(2, "0")
                  ) : (
                    <span className="sr-only">{hour}</span>
                  )}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {days.map((day) => (
              <tr key={day} className="h-6">
                <th scope="row" className="text-left font-normal whitespace-nowrap text-muted">
                  {weekday(day)} {day.slice(8)}.
                </th>
                {Array.from({ length: 24 }, (_, hour) => (
                  <WeekCell
                    key={hour}
                    cell={cells.get(`${day} ${String(hour).padStart(2, "0")}`)}
                  />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        {often.length > 0 && (
          <p className="mt-1 text-[13px] text-muted">In every hour: {often.join(", ")}</p>
        )}
      </section>
    </details>
  );
}

interface Cell {
  names: Set<string>;
  count: number;
  /** Names of those that fire in one minute. */
  together: string[];
}

function WeekCell({ cell }: { cell: Cell | undefined }) {
  if (cell === undefined) return <td className="border border-line" />;
  const clash = cell.together.length > 0;
  const words = `${[...cell.names].join(", ")}${clash ? `; in the same minute: ${cell.together.join(", ")}` : ""}`;
  return (
    <td
      title={words}
      className={`border border-line ${clash ? "bg-warn-soft font-bold text-warn" : "bg-accent-soft text-accent"}`}
    >
      {clash ? "▲" : ""}
      {cell.count}
      <span className="sr-only">: {words}</span>
    </td>
  );
}

function byHour(firings: readonly Firing[], zone: string | undefined): Map<string, Cell> {
  const minutes = new Map<number, Set<string>>();
  const cells = new Map<string, Cell>();
  for (const { name, at } of firings) {
    const minute = Math.floor(at / 60_000);
    minutes.set(minute, (minutes.get(minute) ?? new Set()).add(name));
  }
  for (const [minute, names] of minutes) {
    const hour = absoluteWords(minute * 60_000, zone).slice(0, 13);
    const cell = cells.get(hour) ?? { names: new Set(), count: 0, together: [] };
    for (const name of names) cell.names.add(name);
    cell.count += names.size;
    if (names.size > 1) cell.together = [...new Set([...cell.together, ...names])];
    cells.set(hour, cell);
  }
  return cells;
}

function weekday(day: string): string {
  return new Intl.DateTimeFormat("en", { weekday: "short", timeZone: "UTC" }).format(new Date(day));
}
