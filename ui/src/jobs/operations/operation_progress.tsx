import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import type { Problem } from "@/api/problem";
import { refresh, useRead, useReadPages, write } from "@/api/read";
import { useSession } from "@/api/session";
import { ErrorState, QueryView } from "@/parts/panels/panel";
import { Table } from "@/parts/tables/table";
import { durationWords, useNow } from "@/parts/values/time";
import { ShortId } from "@/parts/values/values";
import { type Operation, progressWords } from "./words";

const READ_MS = 700;

/** An operation that is read again until it has ended. */
export function useOperation(id: string) {
  const [running, setRunning] = useState(true);
  const query = useRead(
    "/api/v1/operations/{id}",
    { params: { path: { id } } },
    { refetchInterval: running ? READ_MS : false },
  );
  const now = query.data === undefined || query.data.state === "running";
  if (now !== running) setRunning(now);
  return query;
}

/** How far an operation is, Stop, Undo of a cancel, and what failed. */
export function OperationProgress({
  id,
  listsFailed = true,
  undone,
}: {
  id: string;
  listsFailed?: boolean;
  /** Told the operation that undoes this one. */
  undone: (undoing: Operation) => void;
}) {
  const operation = useOperation(id);
  return (
    <QueryView query={operation}>
      {(data) => (
        <div className="space-y-3">
          <Bar operation={data} />
          <Controls operation={data} undone={undone} />
          {listsFailed && data.failed > 0 && <Items id={id} state="failed" />}
        </div>
      )}
    </QueryView>
  );
}

function Bar({ operation }: { operation: Operation }) {
  const settled = operation.total - operation.left;
  const share = operation.total === 0 ? 1 : settled / operation.total;
  return (
    <div>
      <div
        role="progressbar"
        aria-label="Progress of the operation"
        aria-valuenow={Math.round(share * 100)}
        aria-valuemin={0}
        aria-valuemax={100}
        className="h-3 overflow-hidden rounded-full border border-line-strong bg-sunken"
      >
        <div
          className={`h-full transition-[width] ${operation.failed > 0 ? "bg-danger" : "bg-accent"}`}
          style={{ width: `${share * 100}%` }}
        />
      </div>
      <p role="status" className="mt-1 flex flex-wrap justify-between gap-2">
        <span>
          <b className="font-medium">{stateWords(operation)}</b> {progressWords(operation)}
        </span>
        <span className="text-muted">
          {Math.floor(share * 100)} %<Left operation={operation} />
        </span>
      </p>
    </div>
  );
}

function stateWords(operation: Operation): string {
  if (operation.state === "running") return operation.stop_requested_at ? "Stopping…" : "Running:";
  return operation.state === "stopped" ? "Stopped:" : "Completed:";
}

/** Time left at the speed so far. */
function Left({ operation }: { operation: Operation }) {
  const now = useNow();
  const settled = operation.total - operation.left;
  if (operation.state !== "running" || settled === 0 || !operation.created_at) return null;
  const seconds = Math.max(0, now - Date.parse(operation.created_at)) / 1000;
  return <> · about {durationWords(Math.ceil((seconds / settled) * operation.left))} left</>;
}

function Controls({
  operation,
  undone,
}: {
  operation: Operation;
  undone: (undoing: Operation) => void;
}) {
  const session = useSession();
  const client = useQueryClient();
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(false);
  const params = { params: { path: { id: operation.id } } };
  const call = (work: () => Promise<void>): void => {
    setBusy(true);
    setProblem(null);
    work()
      .catch((error: Problem) => setProblem(error))
      .finally(() => {
        setBusy(false);
        void client.invalidateQueries({ queryKey: ["/api/v1/operations/{id}"] });
      });
  };
  if (!session.may("operations.write")) return null;
  const running = operation.state === "running";
  const undoable =
    !running && operation.action === "cancel" && operation.done > 0 && session.may("jobs.retry");
  if (!running && !undoable && problem === null) return null;
  return (
    <div className="flex flex-wrap items-center gap-2">
      {running && (
        <button
          type="button"
          className="button button-danger"
          disabled={busy || operation.stop_requested_at !== null}
          onClick={() =>
            call(async () => {
              await write("post", "/api/v1/operations/{id}/stop", params);
            })
          }
        >
          Stop
        </button>
      )}
      {undoable && (
        <button
          type="button"
          className="button"
          disabled={busy}
          onClick={() =>
            call(async () => {
              undone((await write("post", "/api/v1/operations/{id}/undo", params)) as Operation);
              refresh(client, ["jobs"]);
            })
          }
        >
          Undo: queue them again
        </button>
      )}
      {problem && <ErrorState problem={problem} />}
    </div>
  );
}

/** Jobs of an operation in one state, each with what became of it. */
export function Items({
  id,
  state,
}: {
  id: string;
  state: "waiting" | "done" | "failed" | "skipped";
}) {
  const items = useReadPages("/api/v1/operations/{id}/items", {
    params: { path: { id }, query: { state, limit: 100 } },
  });
  const rows = items.data?.pages.flatMap((page) => page.items) ?? [];
  if (items.isError) return <ErrorState problem={items.error} retry={() => void items.refetch()} />;
  if (items.isSuccess && rows.length === 0)
    return <p className="py-4 text-muted">No jobs are here.</p>;
  return (
    <div>
      <Table
        label={`Jobs: ${state}`}
        rows={rows}
        rowKey={(row) => row.job_id}
        columns={[
          { id: "id", title: "Id", cell: (row) => <ShortId id={row.job_id} /> },
          {
            id: "job",
            title: "Job",
            cell: (row) => (
              <Link className="link" href={`/jobs/${row.job_id}`}>
                Open
              </Link>
            ),
          },
          {
            id: "note",
            title: state === "done" ? "Brought to" : "Why",
            cell: (row) => row.note ?? "–",
          },
        ]}
      />
      {items.hasNextPage && (
        <button
          type="button"
          className="button mt-2"
          disabled={items.isFetchingNextPage}
          onClick={() => void items.fetchNextPage()}
        >
          Show more
        </button>
      )}
    </div>
  );
}
