import { Link } from "wouter";
import { type Item, useReadPages } from "@/api/read";
import { useSession } from "@/api/session";
import { ErrorState, NothingYet, NotPermitted, Skeleton } from "@/parts/panels/panel";
import { Table } from "@/parts/tables/table";
import { Time } from "@/parts/values/time";
import { ScreenHeader } from "@/shell/shell";
import { operationWords, progressWords } from "./words";

type Operation = Item<"/api/v1/operations">;
const STATES = { running: "◐ Running", completed: "✓ Completed", stopped: "⊘ Stopped" } as const;

/** What was done to many jobs at once, newest first. */
export default function OperationList() {
  const session = useSession();
  if (!session.may("operations.read")) return <NotPermitted what="reading operations" />;
  return <Operations />;
}

function Operations() {
  const operations = useReadPages(
    "/api/v1/operations",
    { params: { query: { limit: 50 } } },
    { topics: ["jobs"] },
  );
  const rows = operations.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <>
      <ScreenHeader title="Operations" />
      {operations.isError && (
        <ErrorState problem={operations.error} retry={() => void operations.refetch()} />
      )}
      {operations.isPending && (
        <div role="status" aria-label="Loading">
          <Skeleton lines={5} />
        </div>
      )}
      {operations.isSuccess && rows.length === 0 && (
        <NothingYet snippet="windlass jobs retry --where state:dead_letter --dry-run">
          Nothing was done to many jobs at once yet. Select jobs in the list of jobs, or:
        </NothingYet>
      )}
      {rows.length > 0 && (
        <Table
          label="Operations"
          rows={rows}
          rowKey={(row) => row.id}
          columns={[
            {
              id: "action",
              title: "Operation",
              cell: (row: Operation) => (
                <Link href={`/operations/${row.id}`} className="link font-medium whitespace-nowrap">
                  {operationWords(row.action, row.total)}
                </Link>
              ),
            },
            { id: "state", title: "State", cell: (row) => STATES[row.state] },
            { id: "done", title: "Done", cell: (row) => progressWords(row) },
            {
              id: "query",
              title: "Jobs",
              wide: true,
              cell: (row) => <code className="line-clamp-1 max-w-80">{row.query}</code>,
            },
            { id: "by", title: "By", wide: true, cell: (row) => row.actor_name },
            { id: "at", title: "Begun", cell: (row) => <Time at={row.created_at} /> },
          ]}
        />
      )}
      {operations.hasNextPage && (
        <button
          type="button"
          className="button mt-3"
          disabled={operations.isFetchingNextPage}
          onClick={() => void operations.fetchNextPage()}
        >
          Show more
        </button>
      )}
    </>
  );
}
