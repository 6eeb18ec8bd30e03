import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { ErrorState, Panel } from "@/parts/panels/panel";
import { Count, numberWords } from "@/parts/values/values";
import { store, stored } from "@/shell/preferences";
import { useView } from "@/shell/view";
import { filterLines, LEVELS, type LogLine, logFile, useLog } from "./log_lines";
import { LogRow } from "./log_row";

const WRAP_KEY = "windlass.log-wrap";
const ROW = 24;
/** So near to the end counts as at the end. */
const NEAR_END = ROW * 2;

/** A job's log: it follows the end until one scrolls up, and takes up to 100,000 lines with ease. */
export default function LogTail({
  job,
  running,
  ended,
}: {
  job: string;
  running: boolean;
  ended: boolean;
}) {
  const { lines, version, query } = useLog(job);
  const [filter, setFilter] = useView({ level: "", attempt: "", find: "" });
  const [wrap, setWrap] = useState(() => stored(WRAP_KEY, false));
  // biome-ignore lint/correctness/useExhaustiveDependencies: the lines grow in place, `version` tells
  const shown = useMemo(() => filterLines(lines, filter), [lines, version, filter]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const attempts = useMemo(() => [...new Set(lines.map((line) => line.attempt))], [lines, version]);
  return (
    <Panel
      title="Log"
      actions={
        <div className="flex flex-wrap items-center gap-2">
          <input
            type="search"
            aria-label="Find in the log"
            placeholder="Find"
            className="input w-36"
            value={filter.find}
            onChange={(event) => setFilter({ find: event.target.value }, { push: false })}
          />
          <select
            aria-label="Least level"
            className="input w-auto"
            value={filter.level}
            onChange={(event) => setFilter({ level: event.target.value })}
          >
            <option value="">All levels</option>
            {LEVELS.slice(1).map((level) => (
              <option key={level} value={level}>
                {level}
                {level === "error" ? "" : " and above"}
              </option>
            ))}
          </select>
          {(attempts.length > 1 || filter.attempt !== "") && (
            <select
              aria-label="Attempt"
              className="input w-auto"
              value={filter.attempt}
              onChange={(event) => setFilter({ attempt: event.target.value })}
            >
              <option value="">All attempts</option>
              {attempts.map((attempt) => (
                <option key={attempt} value={attempt}>
                  Attempt {attempt}
                </option>
              ))}
            </select>
          )}
          <button
            type="button"
            aria-pressed={wrap}
            className="button aria-pressed:bg-accent-soft"
            onClick={() => {
              setWrap(!wrap);
              store(WRAP_KEY, !wrap);
            }}
          >
            Wrap
          </button>
          <button
            type="button"
            className="button"
            disabled={lines.length === 0}
            onClick={() => download(`job-${job.slice(-8)}.log`, logFile(lines))}
          >
            Download
          </button>
        </div>
      }
    >
      {query.isError && <ErrorState problem={query.error} retry={() => void query.refetch()} />}
      {shown.length > 0 ? (
        <LogView key={job} lines={shown} version={version} wrap={wrap} running={running} />
      ) : (
        <p className="py-8 text-center text-muted">
          {query.isPending && "Reading…"}
          {!query.isPending && lines.length > 0 && (
            <>
              None of <Count value={lines.length} /> lines match.{" "}
              <button
                type="button"
                className="link min-h-6"
                onClick={() => setFilter({ level: "", attempt: "", find: "" })}
              >
                Clear filters
              </button>
            </>
          )}
          {!query.isPending &&
            lines.length === 0 &&
            (ended ? "It logged nothing." : "No lines yet; they appear here as they come.")}
        </p>
      )}
    </Panel>
  );
}

function LogView({
  lines,
  version,
  wrap,
  running,
}: {
  lines: readonly LogLine[];
  version: number;
  wrap: boolean;
  running: boolean;
}) {
  const scroller = useRef<HTMLElement>(null);
  const [marked, setMarked] = useState(() => lineOf(location.hash));
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  // The number of lines when one scrolled up; null while the end is followed.
  const [left, setLeft] = useState<number | null>(() => (marked === null ? null : lines.length));
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    getItemKey: (place) => lines[place]?.sequence ?? place,
    overscan: 12,
  });
  const toEnd = useCallback(() => {
    virtual.scrollToIndex(virtual.options.count - 1, { align: "end" });
  }, [virtual]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new lines come with a new `version`
  useEffect(() => {
    if (left === null && lines.length > 0) toEnd();
  }, [left, lines.length, version, wrap]);
  // What was measured before holds no more.
  // biome-ignore lint/correctness/useExhaustiveDependencies: these decide what is measured
  useEffect(() => virtual.measure(), [wrap, open.size === 0]);
  const sought = useRef(marked);
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  useEffect(() => {
    if (sought.current === null) return;
    const place = lines.findIndex((line) => line.sequence === sought.current);
    if (place === -1) return;
    sought.current = null;
    virtual.scrollToIndex(place, { align: "center" });
    scroller.current?.scrollIntoView({ block: "nearest" });
  }, [lines.length, version]);
  const toggle = useCallback((sequence: number) => {
    setOpen((before) => {
      const after = new Set(before);
      if (!after.delete(sequence)) after.add(sequence);
      return after;
    });
  }, []);
  const mark = useCallback((sequence: number) => {
    history.replaceState(
      history.state,
      "",
      `${location.pathname}${location.search}#line-${sequence}`,
    );
    setMarked(sequence);
  }, []);
  const fresh = left === null ? 0 : Math.max(0, lines.length - left);
  return (
    <div className="relative">
      <section
        ref={scroller}
        aria-label="Log lines"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
        tabIndex={0}
        className="mono max-h-[min(28rem,70dvh)] overflow-auto rounded-md border border-line bg-raised [overflow-anchor:none]"
        // While it runs, its room stays the same; a short log that is complete takes less.
        style={{ height: running ? "28rem" : virtual.getTotalSize() + 20 }}
        onScroll={(event) => {
          const { scrollTop, scrollHeight, clientHeight } = event.currentTarget;
          const atEnd = scrollHeight - scrollTop - clientHeight < NEAR_END;
          if (atEnd) setLeft(null);
        }}
        onWheel={(event) => {
          if (event.deltaY < 0) setLeft((before) => before ?? lines.length);
        }}
        onTouchMove={() => setLeft((before) => before ?? lines.length)}
        onPointerDown={(event) => {
          // On the scroll bar.
          if (event.target === event.currentTarget) setLeft((before) => before ?? lines.length);
        }}
        onKeyDown={(event) => {
          if (["ArrowUp", "PageUp", "Home"].includes(event.key))
            setLeft((before) => before ?? lines.length);
        }}
      >
        {/* biome-ignore lint/a11y/useSemanticElements: only the lines in view are in the document */}
        <div role="list" className="relative" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const line = lines[item.index] as LogLine;
            return (
              // biome-ignore lint/a11y/useSemanticElements: as above
              <div
                key={item.key}
                role="listitem"
                aria-setsize={lines.length}
                aria-posinset={item.index + 1}
                // Measuring costs a layout each: most rows have the height of one line.
                ref={
                  wrap || open.size > 0 || line.message.includes("\n")
                    ? virtual.measureElement
                    : undefined
                }
                data-index={item.index}
                className={`absolute left-0 ${wrap ? "w-full" : "min-w-full"}`}
                style={{ transform: `translateY(${item.start}px)` }}
              >
                <LogRow
                  line={line}
                  wrap={wrap}
                  open={open.has(line.sequence)}
                  marked={marked === line.sequence}
                  toggle={toggle}
                  mark={mark}
                />
              </div>
            );
          })}
        </div>
      </section>
      <p className="mt-1 flex min-h-8 items-center justify-between text-[13px] text-muted">
        <span>
          <Count value={lines.length} /> {lines.length === 1 ? "line" : "lines"}
        </span>
        {left !== null && (
          <button
            type="button"
            className="button button-primary"
            onClick={() => {
              setLeft(null);
              toEnd();
            }}
          >
            ↓ {fresh > 0 ? `${numberWords(fresh)} new` : "Follow"}
          </button>
        )}
      </p>
    </div>
  );
}

function lineOf(hash: string): number | null {
  const found = /^#line-(\d{1,15})$/.exec(hash);
  return found ? Number(found[1]) : null;
}

function download(name: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
