import { useEffect, useMemo, useState } from "react";
import { Link, useLocation } from "wouter";
import { get } from "@/api/read";
import { useSession } from "@/api/session";
import { useJobActions } from "@/jobs/actions/job_actions";
import { type JobAction, refusal } from "@/jobs/actions/rules";
import { rememberList } from "@/jobs/detail/neighbours";
import { BulkDialog } from "@/jobs/operations/bulk_dialog";
import { showToast } from "@/parts/dialogs/toasts";
import { ExportDialog } from "@/parts/export/export_dialog";
import { FilterBox } from "@/parts/filters/filter_box";
import { fieldValue, withField } from "@/parts/filters/terms";
import {
  ErrorState,
  NothingMatches,
  NothingYet,
  NotPermitted,
  Skeleton,
} from "@/parts/panels/panel";
import { STATES, stateLook } from "@/parts/values/state";
import { useLens } from "@/shell/lens";
import { ScreenHeader } from "@/shell/shell";
import { useShortcuts } from "@/shell/shortcuts";
import { useView } from "@/shell/view";
import { namedColumns, saveColumns, savedColumns, usualColumns } from "./columns";
import { ColumnsDialog } from "./columns_dialog";
import { JobTable } from "./job_table";
import { useKnownValues } from "./known_values";
import { EVERY_JOB, useJobRows } from "./rows";
import { SavedViews } from "./saved_views";
import { useSelection } from "./selection";
import { SummaryCards } from "./summary_cards";
import { Toolbar } from "./toolbar";

const BAD_FILTER = "WL2008";

export default function JobList() {
  const session = useSession();
  if (!session.may("jobs.read")) return <NotPermitted what="reading jobs" />;
  return <Jobs />;
}

function Jobs() {
  const session = useSession();
  const { single } = useLens();
  const [, go] = useLocation();
  const usual = usualColumns(!single);
  const [view, change] = useView({ q: "", columns: usual, job: "" });
  const list = useJobRows(view.q, view.job !== "");
  const ids = useMemo(() => list.rows.map((job) => job.id), [list.rows]);
  const selection = useSelection(ids);
  const { valuesOf, ask, definitions } = useKnownValues();
  const actions = useJobActions({ done: list.replace, removed: list.remove });
  const [dialog, setDialog] = useState<"columns" | "export" | null>(null);
  const [bulk, setBulk] = useState<{ action: JobAction; q: string } | null>(null);
  const columns = useMemo(() => namedColumns(view.columns, !single), [view.columns, single]);
  const mayPick = session.may("operations.write");
  const current = list.rows.find((job) => job.id === view.job);

  // biome-ignore lint/correctness/useExhaustiveDependencies: once; afterwards the address leads
  useEffect(() => {
    const saved = savedColumns();
    if (saved !== null && view.columns === usual) change({ columns: saved }, { push: false });
  }, []);

  const filter = (q: string): void => {
    selection.clear();
    change({ q, job: "" });
  };
  // Back returns to this row, and the job's page goes on to the next one by this list.
  const leaveFor = (id: string): void => {
    change({ job: id }, { push: false });
    rememberList(ids);
  };
  const open = (job: { id: string }): void => {
    leaveFor(job.id);
    go(`/jobs/${job.id}`);
  };
  const move = (step: number): void => {
    const place = ids.indexOf(view.job);
    const next = ids[Math.max(0, Math.min(ids.length - 1, place + step))];
    if (next !== undefined) change({ job: next }, { push: false });
  };
  const actOn = (action: JobAction): void => {
    if (selection.picked.size > 0) bulkOf(action);
    if (selection.picked.size > 0 || current === undefined) return;
    const why = refusal(action, current);
    if (why !== undefined) showToast({ text: why });
    else if (actions.offered(current).some((each) => each.action === action))
      actions.run(action, current);
  };
  const bulkOf = (action: JobAction): void => {
    const picked = `id:${[...selection.picked].join(",")}`;
    setBulk({ action, q: selection.all ? view.q || EVERY_JOB : picked });
  };
  useShortcuts({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => current && open(current),
    x: () => current && mayPick && selection.toggle(current.id),
    r: () => actOn("retry"),
    c: () => actOn("cancel"),
    Escape: () =>
      selection.picked.size > 0 ? selection.clear() : change({ job: "" }, { push: false }),
  });

  const badFilter = list.problem?.code === BAD_FILTER ? list.problem : null;
  return (
    <>
      <ScreenHeader title="Jobs">
        <SavedViews
          q={view.q}
          columns={view.columns}
          open={(saved) => {
            selection.clear();
            change({ q: saved.q, job: "", ...(saved.columns ? { columns: saved.columns } : {}) });
          }}
        />
        {session.may("operations.read") && (
          <Link href="/operations" className="button">
            Operations
          </Link>
        )}
        <button type="button" className="button" onClick={() => setDialog("columns")}>
          Columns
        </button>
        <button type="button" className="button" onClick={() => setDialog("export")}>
          Export
        </button>
      </ScreenHeader>
      <SummaryCards q={view.q} change={filter} />
      <div className="flex flex-wrap items-start gap-2">
        <div className="min-w-60 flex-1">
          <FilterBox
            label="Filter jobs"
            value={view.q}
            change={filter}
            valuesOf={valuesOf}
            ask={ask}
            problem={badFilter}
          />
        </div>
        <QuickFilter
          label="State"
          value={fieldValue(view.q, "state")}
          options={STATES.map((state) => [state, stateLook(state).label] as const)}
          change={(state) => filter(withField(view.q, "state", state))}
        />
        <QuickFilter
          label="Definition"
          value={fieldValue(view.q, "definition")}
          options={definitions.map((key) => [key, key] as const)}
          change={(key) => filter(withField(view.q, "definition", key))}
        />
      </div>
      <Toolbar list={list} q={view.q} selection={selection} act={bulkOf} />
      {list.problem !== null && badFilter === null && (
        <ErrorState problem={list.problem} retry={list.retry} />
      )}
      {list.pending && list.problem === null && (
        <div role="status" aria-label="Loading" className="h-[calc(100dvh-15.75rem)] min-h-72">
          <Skeleton lines={10} />
        </div>
      )}
      {list.rows.length > 0 && (
        <div
          className={list.stale || list.problem ? "text-muted" : ""}
          aria-busy={list.stale}
          onClickCapture={(event) => {
            const link = (event.target as HTMLElement).closest("a");
            const id = link?.pathname.split("/").at(-1);
            if (id && ids.includes(id)) leaveFor(id);
          }}
        >
          <JobTable
            list={list}
            columns={columns}
            current={view.job}
            selection={selection}
            actions={actions}
            mayPick={mayPick}
            open={open}
          />
        </div>
      )}
      {!list.pending && list.rows.length === 0 && list.problem === null && (
        <Empty filtered={view.q !== ""} more={list.more} list={list} clear={() => filter("")} />
      )}
      {actions.dialog}
      {dialog === "columns" && (
        <ColumnsDialog
          chosen={view.columns}
          usual={usual}
          manyTenants={!single}
          close={() => setDialog(null)}
          change={(chosen) => {
            saveColumns(chosen === usual ? null : chosen);
            change({ columns: chosen }, { push: false });
          }}
        />
      )}
      {dialog === "export" && (
        <ExportDialog
          noun="jobs"
          close={() => setDialog(null)}
          read={(cursor, signal) =>
            get("/api/v1/jobs", {
              params: { query: { q: view.q, limit: 500, ...(cursor ? { cursor } : {}) } },
              signal,
            })
          }
        />
      )}
      {bulk && (
        <BulkDialog {...bulk} close={() => setBulk(null)} started={() => selection.clear()} />
      )}
    </>
  );
}

function QuickFilter({
  label,
  value,
  options,
  change,
}: {
  label: string;
  value: string | null;
  options: readonly (readonly [value: string, label: string])[];
  change: (value: string | null) => void;
}) {
  const known = value === null || options.some(([each]) => each === value);
  return (
    <select
      aria-label={label}
      className="input min-h-9 w-auto max-w-48"
      value={value ?? ""}
      onChange={(event) => change(event.target.value || null)}
    >
      <option value="">{label}: any</option>
      {!known && <option value={value}>{value}</option>}
      {options.map(([each, words]) => (
        <option key={each} value={each}>
          {words}
        </option>
      ))}
    </select>
  );
}

function Empty({
  filtered,
  more,
  list,
  clear,
}: {
  filtered: boolean;
  more: boolean;
  list: { loadMore: () => void; loading: boolean };
  clear: () => void;
}) {
  if (!filtered)
    return (
      <NothingYet snippet="windlass enqueue hello name=Ada">
        There are no jobs yet. Enqueue the first one:
      </NothingYet>
    );
  if (!more) return <NothingMatches clear={clear}>No job matches this filter.</NothingMatches>;
  return (
    <div className="py-6 text-center">
      <p>None of the newest jobs match. Older ones have not been looked at.</p>
      <button type="button" className="button mt-3" disabled={list.loading} onClick={list.loadMore}>
        Look further back
      </button>
    </div>
  );
}
