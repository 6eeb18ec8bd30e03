import { useQuery } from "@tanstack/react-query";
import { useEffect, useState, useSyncExternalStore } from "react";
import type { Problem } from "@/api/problem";
import { get, type Item, useTopics } from "@/api/read";
import { stream, type Topic } from "@/api/stream";
import { plainText } from "./ansi";

export type LogLine = Item<"/api/v1/jobs/{job_id}/logs">;

export const LEVELS = ["debug", "info", "warn", "error"] as const;
const PAGE = 5000;

/** The lines of one job's log, in order, each once. It grows at its end. */
export class LogLines {
  readonly lines: LogLine[] = [];
  private readonly watchers = new Set<() => void>();
  private version = 0;
  private reading: Promise<number> | null = null;

  constructor(readonly job: string) {}

  get last(): number {
    return this.lines.at(-1)?.sequence ?? 0;
  }

  /** Add the lines that are new; a line known already is dropped. */
  append(lines: readonly LogLine[]): void {
    const before = this.lines.length;
    for (const line of lines) if (line.sequence > this.last) this.lines.push(line);
    if (this.lines.length === before) return;
    this.version += 1;
    for (const watcher of this.watchers) watcher();
  }

  /** Read what follows the last line, page by page, and return the number of lines. */
  catchUp(): Promise<number> {
    this.reading ??= this.readOn().finally(() => {
      this.reading = null;
    });
    return this.reading;
  }

  private async readOn(): Promise<number> {
    for (;;) {
      const params = { path: { job_id: this.job }, query: { after: this.last, limit: PAGE } };
      const { items } = await get("/api/v1/jobs/{job_id}/logs", { params });
      this.append(items);
      if (items.length < PAGE) return this.lines.length;
    }
  }

  subscribe = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  snapshot = (): number => this.version;
}

/** A job's log: read once, then followed. `version` changes with every line. */
export function useLog(job: string) {
  const [log, setLog] = useState(() => new LogLines(job));
  useEffect(() => setLog((before) => (before.job === job ? before : new LogLines(job))), [job]);
  const topic: Topic = `log:${job}`;
  const key = ["log", job];
  useTopics([topic], key, true);
  // Changes are shown at once; reading after the last line finds what no change told.
  const query = useQuery<number, Problem>({ queryKey: key, queryFn: () => log.catchUp() });
  useEffect(
    () =>
      stream.onChanges((changes) => {
        const lines = changes.filter((each) => each.topic === topic && !each.gone);
        if (lines.length === 0) return;
        const first = lines[0] as unknown as LogLine;
        if (first.sequence <= log.last + 1) log.append(lines as unknown as LogLine[]);
      }),
    [log, topic],
  );
  const version = useSyncExternalStore(log.subscribe, log.snapshot);
  return { lines: log.lines as readonly LogLine[], version, query };
}

export interface LogFilter {
  level: string;
  attempt: string;
  find: string;
}

/** The lines that a filter leaves: of this level and above, of one attempt, with the text. */
export function filterLines(lines: readonly LogLine[], filter: LogFilter): readonly LogLine[] {
  const least = LEVELS.indexOf(filter.level as (typeof LEVELS)[number]);
  const words = filter.find.trim().toLowerCase();
  if (least <= 0 && words === "" && filter.attempt === "") return lines;
  return lines.filter(
    (line) =>
      LEVELS.indexOf(line.level) >= least &&
      (filter.attempt === "" || String(line.attempt) === filter.attempt) &&
      (words === "" || lineText(line).toLowerCase().includes(words)),
  );
}

/** A line's message and fields as text. */
export function lineText(line: LogLine): string {
  const fields = Object.keys(line.fields).length > 0 ? ` ${JSON.stringify(line.fields)}` : "";
  return plainText(line.message) + fields;
}

/** The lines as a text file. */
export function logFile(lines: readonly LogLine[]): string {
  return lines
    .map((line) => `${line.at} ${line.level.toUpperCase()} [${line.attempt}] ${lineText(line)}\n`)
    .join("");
}
