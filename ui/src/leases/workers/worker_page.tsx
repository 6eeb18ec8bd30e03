import { Link, useParams } from "wouter";
import { useRead } from "@/api/read";
import { Panel, QueryView } from "@/parts/panels/panel";
import { Time } from "@/parts/values/time";
import { ScreenHeader } from "@/shell/shell";
import { WorkerActions } from "./worker_actions";
import { RunningJobs, WorkerState } from "./worker_list";

/** A worker: where it runs, what it knows, and all that it runs now. */
export default function WorkerPage() {
  const { id = "" } = useParams();
  const worker = useRead(
    "/api/v1/workers/{id}",
    { params: { path: { id } } },
    { topics: ["workers"], refetchInterval: 10_000 },
  );
  return (
    <>
      <ScreenHeader title={<bdi>{id}</bdi>}>
        <Link
          className="button"
          href={`/jobs?q=${encodeURIComponent(`worker:"${id.replace(/["\\]/g, "\\$&")}"`)}`}
        >
          Show its jobs
        </Link>
        {worker.data && <WorkerActions worker={worker.data} />}
      </ScreenHeader>
      <QueryView query={worker}>
        {(data) => (
          <div className="space-y-4">
            <Panel title="Process">
              <dl className="grid grid-cols-2 gap-3 sm:grid-cols-4">
                {(
                  [
                    ["State", <WorkerState key="state" worker={data} />],
                    ["Host", data.hostname],
                    ["Process id", data.pid],
                    ["Version", data.version],
                    ["Code", data.code ?? "–"],
                    ["Started", <Time key="started" at={data.started_at} />],
                    ["Last heartbeat", <Time key="seen" at={data.last_seen_at} />],
                    ["Lease", `${data.lease_seconds} s`],
                    ["Memory", data.memory_mb === null ? "–" : `${data.memory_mb} MB`],
                    ["Slots", `${data.slots_used} / ${data.slots}`],
                    ["Queues", data.queues.length === 0 ? "all" : data.queues.join(", ")],
                  ] as const
                ).map(([name, value]) => (
                  <div key={name}>
                    <dt className="text-muted">{name}</dt>
                    <dd className="font-medium">{value}</dd>
                  </div>
                ))}
              </dl>
            </Panel>
            <Panel title="Running jobs">
              <RunningJobs worker={data} most={500} />
            </Panel>
            <Panel title={`Knows ${data.definitions.length} definitions`}>
              <p className="mono">{data.definitions.join(", ")}</p>
            </Panel>
          </div>
        )}
      </QueryView>
    </>
  );
}
