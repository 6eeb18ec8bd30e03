import { Link } from "wouter";
import { type Item, useRead } from "@/api/read";
import { NothingYet, Panel, QueryView } from "@/parts/panels/panel";
import { type Column, Table } from "@/parts/tables/table";
import { Time } from "@/parts/values/time";

type Schedule = Item<"/api/v1/schedules">;

const COLUMNS: readonly Column<Schedule>[] = [
  {
    id: "name",
    title: "Schedule",
    cell: (each) => (
      <Link className="link" href={`/schedules/${each.id}`}>
        <bdi>{each.name}</bdi>
      </Link>
    ),
  },
  { id: "definition", title: "Definition", cell: (each) => each.definition },
  { id: "at", title: "Next run", cell: (each) => <Time at={each.next_run_at} /> },
];

/** The next five runs of schedules. */
export function NextRuns() {
  const schedules = useRead(
    "/api/v1/schedules",
    { params: { query: { limit: 200 } } },
    { topics: ["schedules"] },
  );
  return (
    <Panel title="Next scheduled runs">
      <QueryView query={schedules}>
        {(data) => {
          const next = data.items
            .filter((each) => each.enabled && each.next_run_at !== null)
            .sort(
              (one, other) =>
                Date.parse(one.next_run_at ?? "") - Date.parse(other.next_run_at ?? ""),
            )
            .slice(0, 5);
          return next.length === 0 ? (
            <NothingYet snippet='@wl.job(schedule=cron("0 2 * * *"))'>
              Nothing is scheduled.
            </NothingYet>
          ) : (
            <Table
              label="Next scheduled runs"
              columns={COLUMNS}
              rows={next}
              rowKey={(each) => each.id}
            />
          );
        }}
      </QueryView>
    </Panel>
  );
}
