import { useState } from "react";
import { useLocation } from "wouter";
import { type Item, useRead } from "@/api/read";
import { ChartSkeleton, LINES, WINDOWS, type Window } from "@/monitoring/overview/charts";
import { TimeChart } from "@/parts/charts/time_chart";
import { Panel, QueryView, Skeleton } from "@/parts/panels/panel";
import { type Column, Table } from "@/parts/tables/table";
import { Duration } from "@/parts/values/time";
import { Count } from "@/parts/values/values";
import { useLens } from "@/shell/lens";
import { ScreenHeader } from "@/shell/shell";
import { useView } from "@/shell/view";

type TenantUse = Item<"/api/v1/stats/tenants">;

/** What tenants are ranked by. */
const RANKINGS = {
  worker_seconds: ["Worker time", (each: TenantUse) => each.worker_seconds],
  depth: ["Waiting", (each: TenantUse) => each.queued + each.pending],
  latency: ["Wait p95", (each: TenantUse) => each.total.p95_wait_seconds ?? 0],
  failures: ["Failures", (each: TenantUse) => each.total.failed],
} as const;
type Ranking = keyof typeof RANKINGS;

/** All tenants side by side: who waits, who fails, and who takes the workers. */
export default function Fleet() {
  const [view, setView] = useView({ window: "1h", by: "worker_seconds" });
  const window = view.window as Window;
  const by = (view.by in RANKINGS ? view.by : "worker_seconds") as Ranking;
  const tenants = useRead(
    "/api/v1/stats/tenants",
    { params: { query: { window, limit: 500 } } },
    { refetchInterval: 15_000 },
  );
  const series = useRead(
    "/api/v1/stats/tenants/series",
    { params: { query: { window } } },
    { refetchInterval: 30_000 },
  );
  const [all, setAll] = useState(false);
  const columns = useColumns();
  return (
    <>
      <ScreenHeader title="Fleet">
        <label className="flex items-center gap-1.5">
          Rank by
          <select
            className="input w-auto"
            value={by}
            onChange={(event) => setView({ by: event.target.value })}
          >
            {Object.entries(RANKINGS).map(([key, [label]]) => (
              <option key={key} value={key}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <label className="flex items-center gap-1.5">
          Window
          <select
            className="input w-auto"
            value={window}
            onChange={(event) => setView({ window: event.target.value })}
          >
            {WINDOWS.map(([each, label]) => (
              <option key={each} value={each}>
                {label}
              </option>
            ))}
          </select>
        </label>
      </ScreenHeader>
      <div className="space-y-4">
        <QueryView query={tenants} skeleton={<Skeleton lines={6} />}>
          {(data) => {
            const score = RANKINGS[by][1];
            const ranked = [...data.items].sort((one, other) => score(other) - score(one));
            const noisy = ranked.filter((each) => each.noisy);
            return (
              <>
                {noisy.length > 0 && (
                  <p className="rounded-md border-l-4 border-warn bg-warn-soft px-3 py-2 text-warn">
                    ▲ {noisy.map((each) => each.tenant_id).join(", ")} takes more than twice its
                    share of the workers while others wait.
                  </p>
                )}
                <Panel
                  title={data.items.length === 1 ? "1 tenant" : `${data.items.length} tenants`}
                  actions={
                    ranked.length > 20 && (
                      <button type="button" className="button" onClick={() => setAll(!all)}>
                        {all ? "Show the first 20" : "Show all"}
                      </button>
                    )
                  }
                >
                  <Table
                    label="Tenants by rank"
                    columns={columns}
                    rows={all ? ranked : ranked.slice(0, 20)}
                    rowKey={(each) => each.tenant_id}
                  />
                </Panel>
              </>
            );
          }}
        </QueryView>
        <Panel title="Worker time of tenants">
          <QueryView query={series} skeleton={<ChartSkeleton />}>
            {(data) => {
              const points = data.rest.points;
              const share = (values: readonly { worker_seconds: number }[]) =>
                values.map((point) => point.worker_seconds / data.slot_seconds);
              return (
                <TimeChart
                  label="Workers that each tenant kept busy"
                  unit="count"
                  times={points.map((point) => Date.parse(point.at))}
                  slotSeconds={data.slot_seconds}
                  lines={[
                    ...data.tenants.map((each, place) => ({
                      ...(LINES[place] ?? { color: "var(--muted)" }),
                      label: each.tenant_id,
                      values: share(each.points),
                    })),
                    { label: "others", color: "var(--muted)", values: share(points) },
                  ]}
                />
              );
            }}
          </QueryView>
        </Panel>
      </div>
    </>
  );
}

function useColumns(): readonly Column<TenantUse>[] {
  const lens = useLens();
  const [, go] = useLocation();
  return [
    {
      id: "tenant",
      title: "Tenant",
      cell: (each) => (
        <button
          type="button"
          className="link min-h-6 font-medium"
          title="Show only this tenant"
          onClick={() => {
            lens.choose(each.tenant_id);
            go("/");
          }}
        >
          <bdi>{each.tenant_id}</bdi>
        </button>
      ),
    },
    {
      id: "noisy",
      title: "Share now",
      cell: (each) => (
        <span className={each.noisy ? "font-medium text-warn" : ""}>
          {each.share === null ? "–" : `${Math.round(each.share * 100)} %`}
          {each.noisy ? " ▲ noisy" : ""}
        </span>
      ),
    },
    {
      id: "seconds",
      title: "Worker time",
      numeric: true,
      cell: (each) => <Duration seconds={each.worker_seconds} />,
    },
    { id: "weight", title: "Weight", numeric: true, cell: (each) => each.weight },
    {
      id: "depth",
      title: "Waiting",
      numeric: true,
      cell: (each) => <Count value={each.queued + each.pending} />,
    },
    {
      id: "oldest",
      title: "Oldest",
      numeric: true,
      cell: (each) => <Duration seconds={each.oldest_queued_seconds} />,
    },
    {
      id: "wait",
      title: "Wait p95",
      numeric: true,
      cell: (each) => <Duration seconds={each.total.p95_wait_seconds} />,
    },
    {
      id: "run",
      title: "Run p95",
      numeric: true,
      cell: (each) => <Duration seconds={each.total.p95_run_seconds} />,
    },
    {
      id: "failed",
      title: "Failed",
      numeric: true,
      cell: (each) => <Count value={each.total.failed} />,
    },
    {
      id: "dead",
      title: "Dead letter",
      numeric: true,
      cell: (each) => <Count value={each.dead_letter} />,
    },
    {
      id: "throttle",
      title: "Limits",
      cell: (each) => (
        <button
          type="button"
          className="link min-h-6"
          onClick={() => go(`/tenants/${encodeURIComponent(each.tenant_id)}`)}
        >
          Throttle…
        </button>
      ),
    },
  ];
}
