import { Link } from "wouter";
import { type Item, useRead } from "@/api/read";
import { NothingYet, Panel, QueryView, Skeleton } from "@/parts/panels/panel";
import { type Column, Table } from "@/parts/tables/table";
import { Duration } from "@/parts/values/time";
import { Gauge } from "@/parts/values/values";
import { ScreenHeader } from "@/shell/shell";
import { mixedCode } from "./mixed_code";
import { WorkerActions } from "./worker_actions";

export type Worker = Item<"/api/v1/workers">;

/** Workers: where they run, what they run, and who has not been heard of. */
export default function WorkerList() {
  const workers = useRead("/api/v1/workers", {}, { topics: ["workers"], refetchInterval: 10_000 });
  return (
    <>
      <ScreenHeader title="Workers" />
      <QueryView query={workers} skeleton={<Skeleton lines={6} />}>
        {(data) => {
          const mixed = mixedCode(data.items);
          return (
            <>
              {mixed && (
                <p className="mb-3 rounded-md border-l-4 border-warn bg-warn-soft px-3 py-2 text-warn">
                  ▲ {mixed}
                </p>
              )}
              <Panel title={data.items.length === 1 ? "1 worker" : `${data.items.length} workers`}>
                {data.items.length === 0 ? (
                  <NothingYet snippet="windlass worker jobs.py">
                    No worker runs. Queued jobs wait for one.
                  </NothingYet>
                ) : (
                  <Table
                    label="Workers"
                    columns={COLUMNS}
                    rows={data.items}
                    rowKey={(each) => each.id}
                  />
                )}
              </Panel>
            </>
          );
        }}
      </QueryView>
    </>
  );
}

const COLUMNS: readonly Column<Worker>[] = [
  {
    id: "id",
    title: "Worker",
    cell: (each) => (
      <Link className="link font-medium" href={`/workers/${encodeURIComponent(each.id)}`}>
        <bdi>{each.id}</bdi>
      </Link>
    ),
  },
  { id: "state", title: "State", cell: (each) => <WorkerState worker={each} /> },
  {
    id: "beat",
    title: "Heartbeat",
    numeric: true,
    cell: (each) => <Duration seconds={each.age_seconds} />,
  },
  {
    id: "slots",
    title: "Slots",
    cell: (each) => <Gauge value={each.slots_used} limit={each.slots} label="slots used" />,
  },
  {
    id: "jobs",
    title: "Running",
    cell: (each) => <RunningJobs worker={each} most={2} />,
  },
  {
    id: "queues",
    title: "Queues",
    wide: true,
    cell: (each) => (each.queues.length === 0 ? "all" : each.queues.join(", ")),
  },
  {
    id: "memory",
    title: "Memory",
    numeric: true,
    wide: true,
    cell: (each) => (each.memory_mb === null ? "–" : `${each.memory_mb} MB`),
  },
  { id: "version", title: "Version", wide: true, cell: (each) => each.version },
  { id: "actions", title: "Actions", cell: (each) => <WorkerActions worker={each} /> },
];

/** Liveness of a worker, and what it was told to do. */
export function WorkerState({ worker }: { worker: Worker }) {
  const [glyph, look] = {
    live: ["●", "text-good"],
    stale: ["▲", "text-warn"],
    lost: ["✕", "text-danger"],
  }[worker.liveness] as [string, string];
  const order = worker.wanted === "run" ? "" : worker.wanted === "drain" ? "draining" : "stopping";
  return (
    <span className={`whitespace-nowrap ${look}`}>
      <span aria-hidden="true">{glyph}</span> {worker.liveness}
      {order && ` · ${order}`}
    </span>
  );
}

/** The jobs that a worker runs, longest first. */
export function RunningJobs({ worker, most }: { worker: Worker; most: number }) {
  const hidden = worker.jobs.length - most;
  if (worker.jobs.length === 0) return <span className="text-muted">idle</span>;
  return (
    <ul>
      {worker.jobs.slice(0, most).map((job) => (
        <li key={job.id} className="whitespace-nowrap">
          <Link className="link" href={`/jobs/${job.id}`}>
            <bdi>{job.definition}</bdi>
          </Link>{" "}
          <span className="text-muted">
            <Duration since={job.started_at} />
          </span>
        </li>
      ))}
      {hidden > 0 && <li className="text-muted">and {hidden} more</li>}
    </ul>
  );
}
