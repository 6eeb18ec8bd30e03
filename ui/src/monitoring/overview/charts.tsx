import { useLocation } from "wouter";
import { type Answer, useRead } from "@/api/read";
import { useSession } from "@/api/session";
import { type Line, TimeChart } from "@/parts/charts/time_chart";
import { Panel, QueryView, Skeleton } from "@/parts/panels/panel";

export type Window = "5m" | "1h" | "24h" | "7d";

export const WINDOWS: readonly (readonly [Window, string])[] = [
  ["5m", "5 min"],
  ["1h", "1 h"],
  ["24h", "24 h"],
  ["7d", "7 d"],
];
/** Colours and dashes of lines that stand for no state. */
export const LINES: readonly Pick<Line, "color" | "dash">[] = [
  { color: "var(--state-running)" },
  { color: "var(--state-retrying)", dash: [6, 3] },
  { color: "var(--state-completed)", dash: [2, 2] },
  { color: "var(--state-dead-letter)", dash: [8, 3, 2, 3] },
  { color: "var(--state-scheduled)", dash: [4, 4] },
  { color: "var(--state-queued)", dash: [10, 3] },
  { color: "var(--state-waiting)", dash: [1, 3] },
  { color: "var(--state-canceled)", dash: [12, 4] },
];
const MOST_QUEUES = 6;
type Stats = Answer<"/api/v1/stats", "get">;
type Point = Stats["points"][number];

/** Throughput, waits, run times, depth and worker use over a window; a dragged span leads to its jobs. */
export function Charts({ window }: { window: Window }) {
  const session = useSession();
  const stats = useRead(
    "/api/v1/stats",
    { params: { query: { window } } },
    { topics: ["jobs"], staleTime: 5_000, refetchInterval: 15_000 },
  );
  const showJobs = useShowJobs();
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Panel title="Throughput">
        <QueryView query={stats} skeleton={<ChartSkeleton />}>
          {(data) => (
            <StatsChart
              label="Jobs per second by outcome"
              stats={data}
              unit="rate"
              onSpan={showJobs}
              lines={[
                [
                  "Completed",
                  "var(--state-completed)",
                  [],
                  (point) => perSecond(point.completed, data),
                ],
                [
                  "Failed attempts",
                  "var(--state-retrying)",
                  [6, 3],
                  (point) => perSecond(point.failed, data),
                ],
                [
                  "Dead letter",
                  "var(--state-dead-letter)",
                  [2, 2],
                  (point) => perSecond(point.dead_letter, data),
                ],
              ]}
            />
          )}
        </QueryView>
      </Panel>
      <Panel title="Wait until start">
        <QueryView query={stats} skeleton={<ChartSkeleton />}>
          {(data) => (
            <StatsChart
              label="Percentiles of the wait"
              stats={data}
              unit="seconds"
              onSpan={showJobs}
              lines={[
                ["p50", "var(--state-running)", [], (point) => point.p50_wait_seconds],
                ["p95", "var(--state-retrying)", [6, 3], (point) => point.p95_wait_seconds],
                ["p99", "var(--state-dead-letter)", [2, 2], (point) => point.p99_wait_seconds],
              ]}
            />
          )}
        </QueryView>
      </Panel>
      <Panel title="Run time">
        <QueryView query={stats} skeleton={<ChartSkeleton />}>
          {(data) => (
            <StatsChart
              label="Percentiles of the run time"
              stats={data}
              unit="seconds"
              onSpan={showJobs}
              lines={[
                ["p50", "var(--state-running)", [], (point) => point.p50_run_seconds],
                ["p95", "var(--state-retrying)", [6, 3], (point) => point.p95_run_seconds],
              ]}
            />
          )}
        </QueryView>
      </Panel>
      <Depth window={window} />
      {session.may("workers.read") && <WorkerUse window={window} />}
    </div>
  );
}

export function ChartSkeleton() {
  return (
    <div className="h-[206px]">
      <Skeleton lines={5} />
    </div>
  );
}

function perSecond(count: number, stats: Stats): number {
  return count / stats.slot_seconds;
}

type StatsLine = readonly [
  label: string,
  color: string,
  dash: readonly number[],
  value: (point: Point) => number | null,
];

function StatsChart({
  stats,
  lines,
  ...chart
}: {
  label: string;
  stats: Stats;
  unit: "rate" | "seconds";
  lines: readonly StatsLine[];
  onSpan?: ((from: number, until: number) => void) | undefined;
}) {
  return (
    <TimeChart
      {...chart}
      times={stats.points.map((point) => Date.parse(point.at))}
      slotSeconds={stats.slot_seconds}
      lines={lines.map(([label, color, dash, value]) => ({
        label,
        color,
        ...(dash.length > 0 ? { dash } : {}),
        values: stats.points.map(value),
      }))}
    />
  );
}

function Depth({ window }: { window: Window }) {
  const queues = useRead(
    "/api/v1/stats/queues",
    { params: { query: { window, limit: 100 } } },
    { refetchInterval: 30_000 },
  );
  return (
    <Panel title="Waiting jobs by queue">
      <QueryView query={queues} skeleton={<ChartSkeleton />}>
        {(data) => {
          const deepest = [...data.items]
            .sort((one, other) => other.depth - one.depth)
            .slice(0, MOST_QUEUES);
          const points = deepest[0]?.points ?? [];
          return (
            <TimeChart
              label="Waiting jobs by queue"
              unit="count"
              times={points.map((point) => Date.parse(point.at))}
              slotSeconds={slotSeconds(points)}
              lines={deepest.map((queue, place) => ({
                ...(LINES[place] ?? { color: "var(--muted)" }),
                label: queue.name,
                values: queue.points.map((point) => point.depth),
              }))}
            />
          );
        }}
      </QueryView>
    </Panel>
  );
}

function WorkerUse({ window }: { window: Window }) {
  const use = useRead(
    "/api/v1/stats/workers",
    { params: { query: { window } } },
    { refetchInterval: 30_000 },
  );
  return (
    <Panel title="Worker slots">
      <QueryView query={use} skeleton={<ChartSkeleton />}>
        {(data) => (
          <TimeChart
            label="Worker slots"
            unit="count"
            times={data.points.map((point) => Date.parse(point.at))}
            slotSeconds={data.slot_seconds}
            lines={[
              {
                label: "Used",
                color: "var(--state-running)",
                area: true,
                values: data.points.map((point) => point.slots_used),
              },
              {
                label: "All",
                color: "var(--state-waiting)",
                dash: [6, 3],
                values: data.points.map((point) => point.slots),
              },
            ]}
          />
        )}
      </QueryView>
    </Panel>
  );
}

function slotSeconds(points: readonly { at: string }[]): number {
  const [first, second] = points;
  return first && second ? (Date.parse(second.at) - Date.parse(first.at)) / 1000 : 60;
}

/** Leads to the jobs that were created in a span. */
function useShowJobs(): ((from: number, until: number) => void) | undefined {
  const session = useSession();
  const [, go] = useLocation();
  if (!session.may("jobs.read")) return undefined;
  return (from, until) => {
    const [since, before] = [from, until].map((at) => new Date(at).toISOString().slice(0, 19));
    go(`/jobs?q=${encodeURIComponent(`created:>=${since}Z created:<${before}Z`)}`);
  };
}
