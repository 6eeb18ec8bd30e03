import { Link } from "wouter";
import type { Column } from "@/parts/tables/table";
import { StateBadge } from "@/parts/values/state";
import { Duration, Time } from "@/parts/values/time";
import { Progress, priorityWords, ShortId } from "@/parts/values/values";
import { store, stored } from "@/shell/preferences";
import type { JobEntry } from "./rows";

const NONE = <span className="text-muted">–</span>;

/** Every column that a list of jobs can have, in the order in which they stand. */
export const COLUMNS: readonly Column<JobEntry>[] = [
  {
    id: "state",
    title: "State",
    width: "8.75rem",
    cell: (job) => (
      <StateBadge
        state={job.view}
        canceling={job.state === "running" && job.cancel_requested_at !== null}
      />
    ),
  },
  {
    id: "definition",
    title: "Definition",
    width: "minmax(10rem, 1.5fr)",
    cell: (job) => (
      <Link href={`/jobs/${job.id}`} className="link font-medium" title={job.definition}>
        {job.definition}
      </Link>
    ),
  },
  { id: "id", title: "Id", width: "6.5rem", cell: (job) => <ShortId id={job.id} /> },
  { id: "tenant", title: "Tenant", width: "minmax(6rem, 1fr)", cell: (job) => job.tenant_id },
  { id: "source", title: "Source", width: "6rem", cell: (job) => job.source },
  { id: "queue", title: "Queue", width: "minmax(6rem, 1fr)", cell: (job) => job.queue },
  {
    id: "priority",
    title: "Priority",
    width: "5rem",
    cell: (job) => priorityWords(job.priority),
  },
  {
    id: "attempts",
    title: "Attempts",
    width: "5.5rem",
    numeric: true,
    cell: (job) => `${job.attempts}/${job.max_attempts}`,
  },
  {
    id: "progress",
    title: "Progress",
    width: "10rem",
    cell: (job) =>
      job.state === "running" && (job.progress > 0 || job.progress_note) ? (
        <Progress value={job.progress} note={job.progress_note} />
      ) : (
        NONE
      ),
  },
  {
    id: "created",
    title: "Created",
    width: "8.75rem",
    cell: (job) => <Time at={job.created_at} />,
  },
  { id: "queued", title: "Queued", width: "8.75rem", cell: (job) => <Time at={job.queued_at} /> },
  { id: "due", title: "Due", width: "8.75rem", cell: (job) => <Time at={job.due_at} /> },
  {
    id: "started",
    title: "Started",
    width: "8.75rem",
    cell: (job) => <Time at={job.last_started_at} />,
  },
  {
    id: "finished",
    title: "Finished",
    width: "8.75rem",
    cell: (job) => <Time at={job.finished_at} />,
  },
  {
    id: "duration",
    title: "Duration",
    width: "7rem",
    numeric: true,
    cell: (job) =>
      job.state === "running" ? (
        <Duration since={job.last_started_at} />
      ) : (
        <Duration seconds={job.duration_ms === null ? null : job.duration_ms / 1000} />
      ),
  },
  {
    id: "worker",
    title: "Worker",
    width: "minmax(8rem, 1fr)",
    cell: (job) => (job.worker_id ? <span title={job.worker_id}>{job.worker_id}</span> : NONE),
  },
  {
    id: "correlation",
    title: "Correlation",
    width: "minmax(8rem, 1fr)",
    cell: (job) => job.correlation_id ?? NONE,
  },
  {
    id: "error",
    title: "Last error",
    width: "minmax(12rem, 3fr)",
    cell: (job) => {
      const text = job.last_error ?? job.reason;
      return text ? <span title={text}>{text.split("\n").at(-1)}</span> : NONE;
    },
  },
];

const USUAL = ["state", "definition", "id", "queue", "attempts", "created", "duration", "error"];
const KEY = "windlass.jobs.columns";

/** Ids of the columns shown unless others are chosen. */
export function usualColumns(manyTenants: boolean): string {
  return COLUMNS.map((column) => column.id)
    .filter((id) => USUAL.includes(id) || (id === "tenant" && manyTenants))
    .join();
}

/** The columns that were chosen in this browser; null for the usual ones. */
export function savedColumns(): string | null {
  return stored<string | null>(KEY, null);
}

export function saveColumns(columns: string | null): void {
  store(KEY, columns);
}

/** The columns that an address names, as far as there are such. */
export function namedColumns(names: string, manyTenants: boolean): Column<JobEntry>[] {
  const wanted = names.split(",");
  const found = COLUMNS.filter(
    (column) => wanted.includes(column.id) && (manyTenants || column.id !== "tenant"),
  );
  return found.length > 0 ? found : namedColumns(usualColumns(manyTenants), manyTenants);
}
