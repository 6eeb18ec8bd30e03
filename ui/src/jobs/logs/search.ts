import { useEffect, useMemo, useState } from "react";
import { type Item, useRead, useReadPages } from "@/api/read";

export type FoundLine = Item<"/api/v1/logs">;
type Level = FoundLine["level"];

/** What is looked for, as it stands in the address. */
export interface LogView extends Record<string, string> {
  words: string;
  level: string;
  definition: string;
  job: string;
  /** An instant, or how long ago, such as `-24h`. */
  since: string;
  until: string;
  live: string;
}

export const USUAL_VIEW: LogView = {
  words: "",
  level: "",
  definition: "",
  job: "",
  since: "-24h",
  until: "",
  live: "",
};

const PAGE = 100;
const TAIL_MS = 1_500;

/** The query of a view, as the search and its histogram take it. */
export function queryOf(view: LogView) {
  return {
    since: view.since,
    ...(view.words.trim() ? { words: view.words.trim() } : {}),
    ...(view.level ? { level: view.level as Level } : {}),
    ...(view.definition ? { definition: view.definition } : {}),
    ...(view.job ? { job: view.job } : {}),
    ...(view.until ? { until: view.until } : {}),
  };
}

export function lineKey(line: FoundLine): string {
  return `${line.job_id} ${line.sequence}`;
}

/** Lines that match, newest first; with `live`, new ones are put before them as they come. */
export function useLogSearch(view: LogView) {
  const query = useMemo(() => queryOf(view), [view]);
  const live = view.live === "on" && view.until === "";
  const pages = useReadPages("/api/v1/logs", { params: { query: { ...query, limit: PAGE } } });
  const head = useRead(
    "/api/v1/logs",
    { params: { query: { ...query, limit: PAGE * 2 } } },
    { enabled: live, refetchInterval: live ? TAIL_MS : false, staleTime: 0 },
  );
  const [tail, setTail] = useState<readonly FoundLine[]>([]);
  const read = useMemo(() => pages.data?.pages.flatMap((page) => page.items) ?? [], [pages.data]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what else is looked for has its own tail
  useEffect(() => setTail([]), [query, live]);
  const news = live && !head.isPlaceholderData ? head.data?.items : undefined;
  const { refetch } = pages;
  useEffect(() => {
    if (news === undefined || !pages.isSuccess) return;
    setTail((before) => {
      const known = new Set([...before, ...read].map(lineKey));
      const fresh = news.filter((line) => !known.has(lineKey(line)));
      if (fresh.length === 0) return before;
      // So many came that some between are missing: read all anew.
      if (fresh.length === news.length && known.size > 0) {
        void refetch();
        return [];
      }
      return [...fresh, ...before];
    });
  }, [news, read, pages.isSuccess, refetch]);
  const lines = useMemo(() => {
    const seen = new Set(tail.map(lineKey));
    return [...tail, ...read.filter((line) => !seen.has(lineKey(line)))];
  }, [tail, read]);
  return { pages, lines, query, live, problem: pages.error ?? (live ? head.error : null) };
}
