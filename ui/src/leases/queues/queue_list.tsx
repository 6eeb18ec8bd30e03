import { Link } from "wouter";
import { type Item, useRead } from "@/api/read";
import { NothingYet, Panel, QueryView, Skeleton } from "@/parts/panels/panel";
import { type Column, Table } from "@/parts/tables/table";
import { Duration } from "@/parts/values/time";
import { Count, Gauge, Sparkline } from "@/parts/values/values";
import { ScreenHeader } from "@/shell/shell";
import { PausedNote } from "./paused_note";
import { QueueActions } from "./queue_actions";

type Queue = Item<"/api/v1/queues">;
type Series = Item<"/api/v1/stats/queues">;

/** Queues: depth, rates, limits, workers, and what pauses them. */
export default function QueueList() {
  const queues = useRead("/api/v1/queues", {}, { topics: ["queues"], refetchInterval: 30_000 });
  const series = useRead(
    "/api/v1/stats/queues",
    { params: { query: { window: "1h", limit: 500 } } },
    { refetchInterval: 15_000 },
  );
  const byName = new Map(series.data?.items.map((each) => [each.name, each]));
  return (
    <>
      <ScreenHeader title="Queues" />
      <Panel title="Queues">
        <QueryView query={queues} skeleton={<Skeleton lines={6} />}>
          {(data) =>
            data.items.length === 0 ? (
              <NothingYet snippet='@wl.job(queue="mail")'>
                A queue appears with its first job.
              </NothingYet>
            ) : (
              <Table
                label="Queues"
                columns={columns(byName)}
                rows={data.items}
                rowKey={(each) => each.name}
              />
            )
          }
        </QueryView>
      </Panel>
    </>
  );
}

function columns(series: ReadonlyMap<string, Series>): readonly Column<Queue>[] {
  const of = (queue: Queue): Series | undefined => series.get(queue.name);
  return [
    {
      id: "name",
      title: "Queue",
      cell: (each) => (
        <>
          <Link className="link font-medium" href={`/queues/${encodeURIComponent(each.name)}`}>
            <bdi>{each.name}</bdi>
          </Link>{" "}
          <PausedNote queue={each} />
        </>
      ),
    },
    {
      id: "depth",
      title: "Waiting",
      numeric: true,
      cell: (each) => <Count value={each.pending + each.queued} />,
    },
    {
      id: "oldest",
      title: "Oldest",
      numeric: true,
      cell: (each) => <Duration seconds={of(each)?.oldest_queued_seconds ?? null} />,
    },
    {
      id: "running",
      title: "Running / limit",
      cell: (each) => <Gauge value={each.running} limit={each.max_concurrency} label="running" />,
    },
    { id: "in", title: "In/s", numeric: true, cell: (each) => rate(of(each)?.in_per_second) },
    { id: "out", title: "Out/s", numeric: true, cell: (each) => rate(of(each)?.out_per_second) },
    {
      id: "trend",
      title: "Last hour",
      wide: true,
      cell: (each) => (
        <Sparkline
          values={(of(each)?.points ?? []).map((point) => point.depth)}
          label={`Waiting jobs of ${each.name} over the last hour`}
        />
      ),
    },
    {
      id: "workers",
      title: "Workers",
      numeric: true,
      cell: (each) => <Serving queue={of(each)} />,
    },
    {
      id: "actions",
      title: "Actions",
      cell: (each) => <QueueActions queue={each} />,
    },
  ];
}

function rate(value: number | undefined): string {
  if (value === undefined) return "–";
  return value < 10 ? (Math.round(value * 100) / 100).toString() : Math.round(value).toString();
}

/** The number of live workers that serve a queue; none is a warning. */
function Serving({ queue }: { queue: Series | undefined }) {
  if (queue === undefined || queue.workers === null) return <span className="text-muted">–</span>;
  if (queue.workers > 0) return queue.workers;
  return (
    <span className="font-medium text-danger" title="No live worker serves this queue">
      ▲ 0
    </span>
  );
}
