import { Link, useParams } from "wouter";
import { useRead } from "@/api/read";
import { useSession } from "@/api/session";
import { ChartSkeleton } from "@/monitoring/overview/charts";
import { TimeChart } from "@/parts/charts/time_chart";
import { Panel, QueryView } from "@/parts/panels/panel";
import { Duration } from "@/parts/values/time";
import { Count } from "@/parts/values/values";
import { ScreenHeader } from "@/shell/shell";
import { PausedNote } from "./paused_note";
import { QueueActions } from "./queue_actions";

/** A queue over the last day. */
export default function QueuePage() {
  const { name = "" } = useParams();
  const session = useSession();
  const queue = useRead(
    "/api/v1/queues/{name}",
    { params: { path: { name } } },
    { topics: ["queues"] },
  );
  const series = useRead(
    "/api/v1/stats/queues",
    { params: { query: { window: "24h", limit: 500 } } },
    { refetchInterval: 30_000 },
  );
  const filter = encodeURIComponent(`queue:"${name.replace(/["\\]/g, "\\$&")}"`);
  return (
    <>
      <ScreenHeader title={<bdi>{name}</bdi>}>
        {session.may("jobs.read") && (
          <Link className="button" href={`/jobs?q=${filter}`}>
            Show its jobs
          </Link>
        )}
        {queue.data && <QueueActions queue={queue.data} />}
      </ScreenHeader>
      <div className="space-y-4">
        <Panel title="Now">
          <QueryView query={queue}>
            {(data) => (
              <>
                <PausedNote queue={data} />
                <dl className="grid grid-cols-2 gap-3 sm:grid-cols-4">
                  <Fact name="Queued">
                    <Count value={data.queued} />
                  </Fact>
                  <Fact name="Pending">
                    <Count value={data.pending} />
                  </Fact>
                  <Fact name="Running / limit">
                    {data.running} / {data.max_concurrency ?? "∞"}
                  </Fact>
                  <Fact name="Oldest waits">
                    <Duration
                      seconds={
                        series.data?.items.find((each) => each.name === name)
                          ?.oldest_queued_seconds ?? null
                      }
                    />
                  </Fact>
                </dl>
              </>
            )}
          </QueryView>
        </Panel>
        <Panel title="Last 24 hours">
          <QueryView query={series} skeleton={<ChartSkeleton />}>
            {(data) => {
              const points = data.items.find((each) => each.name === name)?.points ?? [];
              const times = points.map((point) => Date.parse(point.at));
              return (
                <div className="space-y-6">
                  <TimeChart
                    label={`Waiting jobs of ${name}`}
                    unit="count"
                    times={times}
                    slotSeconds={900}
                    lines={[
                      {
                        label: "Waiting",
                        color: "var(--state-queued)",
                        area: true,
                        values: points.map((point) => point.depth),
                      },
                    ]}
                  />
                  <TimeChart
                    label={`Rates of ${name}`}
                    unit="rate"
                    times={times}
                    slotSeconds={900}
                    lines={[
                      {
                        label: "In",
                        color: "var(--state-running)",
                        values: points.map((point) => point.in_per_second),
                      },
                      {
                        label: "Out",
                        color: "var(--state-completed)",
                        dash: [6, 3],
                        values: points.map((point) => point.out_per_second),
                      },
                    ]}
                  />
                </div>
              );
            }}
          </QueryView>
        </Panel>
      </div>
    </>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt className="text-muted">{name}</dt>
      <dd className="text-lg font-semibold">{children}</dd>
    </div>
  );
}
