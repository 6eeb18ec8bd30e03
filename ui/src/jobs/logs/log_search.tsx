import { useEffect, useState } from "react";
import { Link, useLocation } from "wouter";
import { get, useRead } from "@/api/read";
import { useSession } from "@/api/session";
import { ExportDialog } from "@/parts/export/export_dialog";
import {
  ErrorState,
  NothingMatches,
  NothingYet,
  NotPermitted,
  Skeleton,
} from "@/parts/panels/panel";
import { type Column, VirtualTable } from "@/parts/tables/table";
import { absoluteWords } from "@/parts/values/time";
import { ShortId } from "@/parts/values/values";
import { useLens } from "@/shell/lens";
import { usePreferences } from "@/shell/preferences";
import { ScreenHeader } from "@/shell/shell";
import { useView } from "@/shell/view";
import { Histogram } from "./histogram";
import { type FoundLine, type LogView, lineKey, queryOf, USUAL_VIEW, useLogSearch } from "./search";

const LEVEL_LOOK: Record<FoundLine["level"], string> = {
  debug: "text-muted",
  info: "",
  warn: "text-warn",
  error: "text-danger",
};
const WINDOWS = [
  ["-15m", "Last 15 minutes"],
  ["-1h", "Last hour"],
  ["-24h", "Last day"],
  ["-7d", "Last 7 days"],
  ["-30d", "Last 30 days"],
] as const;

export default function LogSearch() {
  const session = useSession();
  if (!session.may("logs.read")) return <NotPermitted what="reading logs" />;
  return <Logs />;
}

function Logs() {
  const session = useSession();
  const { single } = useLens();
  const [, go] = useLocation();
  const [view, change] = useView<LogView>(USUAL_VIEW);
  const [exporting, setExporting] = useState(false);
  const { pages, lines, query, live, problem } = useLogSearch(view);
  const volume = useRead(
    "/api/v1/logs/volume",
    { params: { query } },
    { refetchInterval: live ? 10_000 : false },
  );
  const definitions = useRead(
    "/api/v1/definitions",
    { params: { query: { limit: 500 } } },
    { enabled: session.may("definitions.read"), staleTime: 60_000 },
  );
  const columns = useColumns(!single);
  const filtered = view.words + view.level + view.definition + view.job !== "";
  const clear = (): void =>
    change({ words: "", level: "", definition: "", job: "", since: "-24h", until: "" });
  return (
    <>
      <ScreenHeader title="Logs">
        <button
          type="button"
          className="button"
          aria-pressed={live}
          disabled={view.until !== ""}
          title={view.until === "" ? undefined : "A window that has ended gets no new lines."}
          onClick={() => change({ live: live ? "" : "on" })}
        >
          <span aria-hidden="true" className={live ? "text-good" : "text-muted"}>
            ●
          </span>
          Live tail
        </button>
        <button type="button" className="button" onClick={() => setExporting(true)}>
          Export
        </button>
      </ScreenHeader>
      <search className="mb-2 flex flex-wrap items-center gap-2">
        <WordsField value={view.words} change={(words) => change({ words })} />
        <select
          aria-label="Least level"
          className="input min-h-9 w-auto"
          value={view.level}
          onChange={(event) => change({ level: event.target.value })}
        >
          <option value="">All levels</option>
          <option value="info">info and above</option>
          <option value="warn">warn and above</option>
          <option value="error">error</option>
        </select>
        <select
          aria-label="Definition"
          className="input min-h-9 w-auto max-w-48"
          value={view.definition}
          onChange={(event) => change({ definition: event.target.value })}
        >
          <option value="">Definition: any</option>
          {[
            ...new Set([
              ...(definitions.data?.items.map((each) => each.key) ?? []),
              ...(view.definition ? [view.definition] : []),
            ]),
          ].map((key) => (
            <option key={key} value={key}>
              {key}
            </option>
          ))}
        </select>
        <select
          aria-label="Time"
          className="input min-h-9 w-auto"
          value={view.until === "" ? view.since : "span"}
          onChange={(event) => change({ since: event.target.value, until: "" })}
        >
          {view.until !== "" && <option value="span">A chosen span</option>}
          {WINDOWS.map(([since, label]) => (
            <option key={since} value={since}>
              {label}
            </option>
          ))}
        </select>
        {(filtered || view.until !== "") && (
          <button type="button" className="button button-quiet" onClick={clear}>
            Clear filters
          </button>
        )}
      </search>
      {view.job !== "" && (
        <p className="mb-2">
          Only job{" "}
          <Link className="link mono" href={`/jobs/${view.job}`}>
            {view.job.slice(-8)}
          </Link>
        </p>
      )}
      {volume.data ? (
        <Histogram
          volume={volume.data}
          narrow={(since, until) => change({ since, until, live: "" })}
        />
      ) : (
        <div className="mb-2 h-[85px] rounded-md border border-line bg-raised" />
      )}
      {problem && <ErrorState problem={problem} retry={() => void pages.refetch()} />}
      {pages.isPending && (
        <div role="status" aria-label="Loading" className="h-[calc(100dvh-18rem)]">
          <Skeleton lines={10} />
        </div>
      )}
      {lines.length > 0 && (
        <VirtualTable
          label="Log lines"
          columns={columns}
          rows={lines}
          rowKey={lineKey}
          rowHeight={32}
          className={`h-[calc(100dvh-17.5rem)] min-h-72 border-y border-line ${pages.isPlaceholderData ? "text-muted" : ""}`}
          total={pages.hasNextPage ? undefined : lines.length + 1}
          onEnd={() => {
            if (pages.hasNextPage && !pages.isFetching) void pages.fetchNextPage();
          }}
          onRow={(line) => {
            if (getSelection()?.toString() === "") go(addressOf(line));
          }}
        />
      )}
      {pages.isSuccess && lines.length === 0 && (
        <Empty filtered={filtered} window={view.until === "" ? view.since : "span"} clear={clear} />
      )}
      {exporting && (
        <ExportDialog
          noun="log lines"
          close={() => setExporting(false)}
          read={(cursor, signal) =>
            get("/api/v1/logs", {
              params: { query: { ...queryOf(view), limit: 500, ...(cursor ? { cursor } : {}) } },
              signal,
            })
          }
        />
      )}
    </>
  );
}

function Empty({
  filtered,
  window,
  clear,
}: {
  filtered: boolean;
  window: string;
  clear: () => void;
}) {
  if (filtered || window !== "-24h")
    return <NothingMatches clear={clear}>No line matches in this time.</NothingMatches>;
  return (
    <NothingYet snippet={'ctx.log.info("resized", image=17)'}>
      No job has logged anything in the last day. A handler writes lines like this:
    </NothingYet>
  );
}

/** Looked for when one stops typing, or by Enter. */
function WordsField({ value, change }: { value: string; change: (words: string) => void }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only typing starts the wait
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => change(text), 300);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <input
      type="search"
      aria-label="Words in the line"
      placeholder="Words in the line"
      className="input min-h-9 min-w-48 flex-1"
      maxLength={500}
      value={text}
      onInput={(event) => setText(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === "Enter" && text !== value) change(text);
      }}
    />
  );
}

function addressOf(line: FoundLine): string {
  return `/jobs/${line.job_id}#line-${line.sequence}`;
}

function useColumns(manyTenants: boolean): Column<FoundLine>[] {
  const { zone } = usePreferences();
  const columns: Column<FoundLine>[] = [
    {
      id: "at",
      title: "Time",
      width: "13rem",
      cell: (line) => (
        <time dateTime={line.at} className="text-muted">
          {absoluteWords(line.at, zone)}
        </time>
      ),
    },
    {
      id: "level",
      title: "Level",
      width: "4rem",
      cell: (line) => (
        <span className={`mono font-semibold ${LEVEL_LOOK[line.level]}`}>{line.level}</span>
      ),
    },
    {
      id: "message",
      title: "Line",
      width: "minmax(20rem, 4fr)",
      cell: (line) => (
        <span className="mono">
          <Link
            href={addressOf(line)}
            className="hover:text-accent hover:underline"
            title={line.message}
          >
            {line.message}
          </Link>
          <span className="text-muted">
            {Object.entries(line.fields).map(
              ([name, value]) =>
                ` ${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
            )}
          </span>
        </span>
      ),
    },
    {
      id: "definition",
      title: "Definition",
      width: "minmax(9rem, 1fr)",
      cell: (line) => line.definition,
    },
    { id: "tenant", title: "Tenant", width: "7rem", cell: (line) => line.tenant_id },
    { id: "job", title: "Job", width: "6.5rem", cell: (line) => <ShortId id={line.job_id} /> },
  ];
  return manyTenants ? columns : columns.filter((column) => column.id !== "tenant");
}
