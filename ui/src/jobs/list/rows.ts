import {
  keepPreviousData,
  type QueryKey,
  useInfiniteQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Problem } from "@/api/problem";
import { get, type Item, readKey, useRead } from "@/api/read";

export type JobEntry = Item<"/api/v1/jobs">;
interface Page {
  items: JobEntry[];
  next_cursor?: string | null;
}

const PATH = "/api/v1/jobs";
/** Jobs of a page, and most of the new ones that are counted. */
export const PAGE = 100;

/** Every job, for routes that refuse an empty filter. */
export const EVERY_JOB = "state:pending,queued,running,completed,canceled,dead_letter";

export interface JobRows {
  rows: readonly JobEntry[];
  pending: boolean;
  problem: Problem | null;
  /** True while rows of another filter are shown. */
  stale: boolean;
  more: boolean;
  loading: boolean;
  loadMore: () => void;
  retry: () => void;
  /** Matching jobs that are not shown yet. */
  fresh: number;
  freshExact: boolean;
  /** Rows that match no longer, or are deleted; they stay until the list is shown anew. */
  left: ReadonlySet<string>;
  /** Read the list anew. */
  show: () => void;
  /** Tell which rows are in view: these are kept up to date. */
  inView: (first: number, last: number) => void;
  replace: (job: JobEntry) => void;
  remove: (id: string) => void;
}

/** The generation of the list shown last, which Back returns to. */
let shownLast = Date.now();

/**
 * The jobs that match a filter, newest first, page by page. Rows in view are changed in place; new
 * ones wait until `show`, so that no row moves by itself. `again` goes on with the list shown last.
 */
export function useJobRows(q: string, again: boolean): JobRows {
  const client = useQueryClient();
  const [generation, setGeneration] = useState(() => {
    if (!again) shownLast = Date.now();
    return shownLast;
  });
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const view = useRef<[number, number]>([0, 40]);
  const key = useMemo(() => ["job rows", q, generation] satisfies QueryKey, [q, generation]);
  const init = useMemo(() => ({ params: { query: { q, limit: PAGE } } }), [q]);
  const pages = useInfiniteQuery<Page, Problem, { pages: Page[] }, QueryKey, string | null>({
    queryKey: key,
    queryFn: async ({ pageParam, signal }) => {
      const query = { q, limit: PAGE, ...(pageParam ? { cursor: pageParam } : {}) };
      const page: Page = await get(PATH, { params: { query }, signal });
      if (pageParam === null) client.setQueryData(readKey(PATH, init), page);
      return page;
    },
    initialPageParam: null,
    getNextPageParam: (page) => page.next_cursor ?? null,
    placeholderData: keepPreviousData as never,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });
  const rows = useMemo(() => pages.data?.pages.flatMap((page) => page.items) ?? [], [pages.data]);
  const shown = pages.isSuccess && !pages.isPlaceholderData;
  // Read again by every change of jobs; what of it is news is told by a comparison.
  const newest = useRead(PATH, init, { topics: ["jobs"], enabled: shown });
  const head = shown && !newest.isPlaceholderData ? newest.data : undefined;

  const change = useCallback(
    (edit: (items: JobEntry[]) => JobEntry[]) => {
      client.setQueryData<{ pages: Page[] }>(
        key,
        (data) =>
          data && {
            ...data,
            pages: data.pages.map((page) => {
              const items = edit(page.items);
              return items === page.items ? page : { ...page, items };
            }),
          },
      );
    },
    [client, key],
  );
  const merge = useCallback(
    (jobs: readonly JobEntry[]) => {
      const found = new Map(jobs.map((job) => [job.id, job]));
      change((items) => {
        const changed = items.some((item) => {
          const now = found.get(item.id);
          return now !== undefined && !same(now, item);
        });
        return changed ? items.map((item) => found.get(item.id) ?? item) : items;
      });
    },
    [change],
  );

  const current = useRef(rows);
  current.current = rows;
  useEffect(() => {
    if (head === undefined) return;
    merge(head.items);
    const found = new Set(head.items.map((job) => job.id));
    const end = head.next_cursor ? (head.items.at(-1)?.id ?? "") : "";
    const [first, last] = view.current;
    const missing = current.current.slice(first, last + 1).filter((row) => !found.has(row.id));
    if (missing.length === 0) return;
    // Of those above the end of what was read it is known that they match no longer.
    const gone = missing.filter((row) => row.id > end).map((row) => row.id);
    if (gone.length > 0) setLeft((before) => new Set([...before, ...gone]));
    void get(PATH, { params: { query: { q: exactly(missing), limit: PAGE } } })
      .then((page) => merge(page.items))
      .catch(() => {}); // The next change tries again.
  }, [head, merge]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another list has left nothing yet
  useEffect(() => setLeft(new Set()), [key]);

  const known = useMemo(() => new Set(rows.map((row) => row.id)), [rows]);
  const lastId = pages.hasNextPage ? (rows.at(-1)?.id ?? "") : "";
  const fresh = head?.items.filter((job) => !known.has(job.id) && job.id > lastId).length ?? 0;
  const show = useCallback(() => {
    shownLast = Date.now();
    setGeneration(shownLast);
  }, []);
  useEffect(() => {
    // Nothing can jump in an empty list.
    if (rows.length === 0 && fresh > 0) show();
  }, [rows.length, fresh, show]);

  const { hasNextPage, isFetching } = pages;
  return {
    rows,
    pending: pages.isPending,
    problem: pages.error,
    stale: pages.isPlaceholderData,
    more: hasNextPage,
    loading: pages.isFetchingNextPage,
    loadMore: () => {
      if (hasNextPage && !isFetching) void pages.fetchNextPage();
    },
    retry: () => void pages.refetch(),
    fresh,
    freshExact: fresh < PAGE,
    left,
    show,
    inView: (first, last) => {
      view.current = [first, last];
    },
    replace: (job) => merge([job]),
    remove: (id) => change((items) => without(items, id)),
  };
}

function without(items: JobEntry[], id: string): JobEntry[] {
  return items.some((item) => item.id === id) ? items.filter((item) => item.id !== id) : items;
}

function same(one: JobEntry, other: JobEntry): boolean {
  return (
    one.updated_at === other.updated_at &&
    one.view === other.view &&
    one.progress === other.progress &&
    one.progress_note === other.progress_note
  );
}

/** A filter for these jobs; the times let an index find them, however old they are. */
function exactly(jobs: readonly JobEntry[]): string {
  const some = jobs.slice(0, 80);
  const times = some.map((job) => job.created_at).sort();
  const ids = some.map((job) => job.id).join(",");
  return `id:${ids} created:>=${times[0]} created:<=${times.at(-1)}`;
}
