import { useSyncExternalStore } from "react";
import { usePreferences } from "@/shell/preferences";

/** The shared clock: one timer for all times on a page; it ticks each second while visible. */
const watchers = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  if (timer === undefined) now = Date.now();
  timer ??= setInterval(() => {
    if (document.visibilityState === "hidden") return;
    now = Date.now();
    for (const each of watchers) each();
  }, 1000);
  return () => {
    watchers.delete(watcher);
    if (watchers.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** The time in milliseconds, anew each second. */
export function useNow(): number {
  return useSyncExternalStore(watch, () => now);
}

const UNITS: readonly (readonly [string, number])[] = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
  ["s", 1],
];

/** A duration in words: `820 ms`, `3.4 s`, `2 min 5 s`, `3 h 20 min`. */
export function durationWords(seconds: number): string {
  const size = Math.abs(seconds);
  if (size < 1) return `${Math.round(size * 1000)} ms`;
  if (size < 10) return `${(Math.floor(size * 10) / 10).toString()} s`;
  const place = UNITS.findIndex(([, length]) => size >= length);
  const [unit, length] = UNITS[place] ?? ["s", 1];
  const [smaller, part] = UNITS[place + 1] ?? ["", 0];
  const count = Math.floor(size / length);
  const rest = part ? Math.floor((size % length) / part) : 0;
  return rest > 0 && count < 10 ? `${count} ${unit} ${rest} ${smaller}` : `${count} ${unit}`;
}

/** How far an instant is from now: `4 min ago`, `in 2 h`, `now`. */
export function relativeWords(at: number, from: number): string {
  const seconds = Math.round((at - from) / 1000);
  if (Math.abs(seconds) < 1) return "now";
  return seconds > 0 ? `in ${durationWords(seconds)}` : `${durationWords(seconds)} ago`;
}

/** An instant in full, in the zone that the user chose. */
export function absoluteWords(at: string | number, zone: string | undefined): string {
  const shown = new Intl.DateTimeFormat("sv-SE", {
    dateStyle: "short",
    timeStyle: "medium",
    ...(zone ? { timeZone: zone } : {}),
  });
  return `${shown.format(new Date(at))}${zone === "UTC" ? " UTC" : ""}`;
}

/** An instant: relative, with the absolute time on hover and for machines. */
export function Time({
  at,
  absolute = false,
}: {
  at: string | null | undefined;
  absolute?: boolean;
}) {
  const current = useNow();
  const { zone } = usePreferences();
  if (!at) return <span className="text-muted">–</span>;
  const full = absoluteWords(at, zone);
  return (
    <time dateTime={at} title={full} className="whitespace-nowrap">
      {absolute ? full : relativeWords(Date.parse(at), current)}
    </time>
  );
}

/** A duration in seconds; with `since`, it grows while one watches. */
export function Duration({ seconds, since }: { seconds?: number | null; since?: string | null }) {
  const current = useNow();
  const length = since ? Math.max(0, (current - Date.parse(since)) / 1000) : seconds;
  if (length === null || length === undefined) return <span className="text-muted">–</span>;
  return <span className="whitespace-nowrap">{durationWords(length)}</span>;
}
