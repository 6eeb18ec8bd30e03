import { Link } from "wouter";
import { type Answer, useRead } from "@/api/read";
import { Panel, QueryView } from "@/parts/panels/panel";
import { type Column, Table } from "@/parts/tables/table";
import { Count } from "@/parts/values/values";
import type { Window } from "./charts";

type Failure = Answer<"/api/v1/stats", "get">["failing"][number];

const COLUMNS: readonly Column<Failure>[] = [
  {
    id: "definition",
    title: "Definition",
    cell: (each) => (
      <Link className="link" href={`/definitions/${encodeURIComponent(each.definition)}`}>
        {each.definition}
      </Link>
    ),
  },
  {
    id: "failed",
    title: "Failed attempts",
    numeric: true,
    cell: (each) => <Count value={each.failed} />,
  },
  {
    id: "share",
    title: "of all",
    numeric: true,
    cell: (each) => `${Math.round((100 * each.failed) / (each.failed + each.succeeded))} %`,
  },
  {
    id: "dead",
    title: "Dead letter",
    numeric: true,
    cell: (each) => <Count value={each.dead_letter} />,
  },
];

/** The definitions with the most failed attempts. */
export function Failing({ window }: { window: Window }) {
  const stats = useRead("/api/v1/stats", { params: { query: { window } } });
  return (
    <Panel title="Top failing definitions">
      <QueryView query={stats}>
        {(data) =>
          data.failing.length === 0 ? (
            <p className="py-6 text-center text-muted">No attempt failed in this window.</p>
          ) : (
            <Table
              label="Top failing definitions"
              columns={COLUMNS}
              rows={data.failing.slice(0, 5)}
              rowKey={(each) => each.definition}
            />
          )
        }
      </QueryView>
    </Panel>
  );
}
