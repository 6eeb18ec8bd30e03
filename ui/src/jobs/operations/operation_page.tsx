import type { ReactNode } from "react";
import { Link, useLocation, useParams } from "wouter";
import { useSession } from "@/api/session";
import { NotPermitted, Panel, QueryView } from "@/parts/panels/panel";
import { Tabs } from "@/parts/panels/tabs";
import { Time } from "@/parts/values/time";
import { numberWords, ShortId } from "@/parts/values/values";
import { useLens } from "@/shell/lens";
import { ScreenHeader } from "@/shell/shell";
import { useView } from "@/shell/view";
import { Items, OperationProgress, useOperation } from "./operation_progress";
import { changesWords, type Operation, operationWords } from "./words";

/** One operation: how far it is, what was asked for, and what became of each job. */
export default function OperationPage() {
  const session = useSession();
  const { id } = useParams<{ id: string }>();
  if (!session.may("operations.read")) return <NotPermitted what="reading operations" />;
  return <OperationView key={id} id={id} />;
}

function OperationView({ id }: { id: string }) {
  const operation = useOperation(id);
  const [, go] = useLocation();
  const [view, change] = useView({ items: "failed" as "failed" | "skipped" | "done" | "waiting" });
  return (
    <>
      <ScreenHeader
        title={
          operation.data ? operationWords(operation.data.action, operation.data.total) : "Operation"
        }
      >
        <Link href="/operations" className="button">
          All operations
        </Link>
      </ScreenHeader>
      <QueryView query={operation}>
        {(data) => (
          <div className="space-y-4">
            <Panel title="Progress">
              <OperationProgress
                id={id}
                listsFailed={false}
                undone={(undoing) => go(`/operations/${undoing.id}`)}
              />
            </Panel>
            <Panel title="Details">
              <Details operation={data} />
            </Panel>
            <Panel title="Jobs">
              <Tabs
                label="Jobs by what became of them"
                tabs={[
                  ["failed", `Failed ${numberWords(data.failed)}`],
                  ["skipped", `Skipped ${numberWords(data.skipped)}`],
                  ["done", `Done ${numberWords(data.done)}`],
                  ["waiting", `Not reached ${numberWords(data.left)}`],
                ]}
                chosen={view.items}
                choose={(items) => change({ items }, { push: false })}
              >
                <Items id={id} state={view.items} />
              </Tabs>
            </Panel>
          </div>
        )}
      </QueryView>
    </>
  );
}

function Details({ operation }: { operation: Operation }) {
  const { single } = useLens();
  return (
    <dl className="grid grid-cols-[max-content_1fr] gap-x-6 gap-y-1">
      <Fact name="Jobs">
        <Link className="link" href={`/jobs?${new URLSearchParams({ q: operation.query })}`}>
          <code>{operation.query}</code>
        </Link>
      </Fact>
      <Fact name="By">{operation.actor_name}</Fact>
      {operation.reason && <Fact name="Reason">{operation.reason}</Fact>}
      {operation.changes && <Fact name="Changes">{changesWords(operation.changes)}</Fact>}
      {!single && operation.tenant_id && <Fact name="Tenant">{operation.tenant_id}</Fact>}
      <Fact name="Begun">
        <Time at={operation.created_at} />
      </Fact>
      {operation.finished_at && (
        <Fact name="Ended">
          <Time at={operation.finished_at} />
        </Fact>
      )}
      {operation.undo_of && (
        <Fact name="Undoes">
          <Link className="link" href={`/operations/${operation.undo_of}`}>
            {operation.undo_of.slice(-8)}
          </Link>
        </Fact>
      )}
      <Fact name="Id">
        <ShortId id={operation.id} />
      </Fact>
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0">{children}</dd>
    </>
  );
}
