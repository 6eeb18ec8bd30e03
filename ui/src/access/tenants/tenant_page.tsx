import { useState } from "react";
import { useLocation, useParams } from "wouter";
import { type Answer, useRead, useWrite, write } from "@/api/read";
import { useSession } from "@/api/session";
import { ConfirmDialog } from "@/parts/dialogs/confirm";
import { FormDialog } from "@/parts/dialogs/form_dialog";
import { Panel, QueryView } from "@/parts/panels/panel";
import { useLens } from "@/shell/lens";
import { ScreenHeader } from "@/shell/shell";
import { Members } from "./members";
import { TenantFields, type TenantForm, tenantBody } from "./tenant_fields";
import { TenantState } from "./tenant_list";
import { Tokens } from "./tokens";

type Tenant = Answer<"/api/v1/tenants/{id}", "get">;
type Asked = "edit" | "suspend" | "delete" | null;

/** A tenant: limits, members with their roles, and tokens. */
export default function TenantPage() {
  const { id = "" } = useParams();
  const session = useSession();
  const lens = useLens();
  const path = { params: { path: { id } } };
  const tenant = useRead("/api/v1/tenants/{id}", path);
  const resume = useWrite("post", "/api/v1/tenants/{id}/resume");
  const [asked, setAsked] = useState<Asked>(null);
  const writes = session.may("tenants.write") && session.overseer;
  return (
    <>
      <ScreenHeader title={<bdi>{id}</bdi>}>
        {!lens.single && lens.tenant !== id && (
          <button type="button" className="button" onClick={() => lens.choose(id)}>
            Show only this tenant
          </button>
        )}
        {writes && tenant.data && (
          <>
            <button type="button" className="button" onClick={() => setAsked("edit")}>
              Edit
            </button>
            {tenant.data.state === "suspended" ? (
              <button
                type="button"
                className="button"
                onClick={() => resume.mutate(path, { onSuccess: () => void tenant.refetch() })}
              >
                Resume
              </button>
            ) : (
              <button type="button" className="button" onClick={() => setAsked("suspend")}>
                Suspend
              </button>
            )}
            <button
              type="button"
              className="button button-danger"
              onClick={() => setAsked("delete")}
            >
              Delete
            </button>
          </>
        )}
      </ScreenHeader>
      <div className="space-y-4">
        <Panel title="Limits">
          <QueryView query={tenant}>{(data) => <Limits tenant={data} />}</QueryView>
        </Panel>
        {session.may("members.read") && <Members tenant={id} />}
        {session.may("tokens.read") && <Tokens tenant={id} />}
      </div>
      {tenant.data && asked && (
        <AskedDialog
          tenant={tenant.data}
          asked={asked}
          close={() => setAsked(null)}
          changed={() => void tenant.refetch()}
        />
      )}
    </>
  );
}

function Limits({ tenant }: { tenant: Tenant }) {
  const facts: readonly (readonly [string, React.ReactNode])[] = [
    ["State", <TenantState key="state" state={tenant.state} />],
    ["Share of workers", tenant.weight],
    ["Most running jobs", tenant.max_running ?? "no limit"],
    ["Most open jobs", tenant.max_open ?? "no limit"],
    ["Time zone", tenant.timezone],
  ];
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-2 sm:grid-cols-5">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt className="text-muted">{name}</dt>
          <dd className="font-medium">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function AskedDialog({
  tenant,
  asked,
  close,
  changed,
}: {
  tenant: Tenant;
  asked: Exclude<Asked, null>;
  close: () => void;
  changed: () => void;
}) {
  const [, go] = useLocation();
  const path = { params: { path: { id: tenant.id } } };
  const [form, setForm] = useState<TenantForm>({
    id: tenant.id,
    name: tenant.name,
    weight: String(tenant.weight),
    maxRunning: String(tenant.max_running ?? ""),
    maxOpen: String(tenant.max_open ?? ""),
    timezone: tenant.timezone,
  });
  switch (asked) {
    case "edit":
      return (
        <FormDialog
          title={`Edit ${tenant.id}`}
          submit="Save"
          close={close}
          action={() =>
            write("patch", "/api/v1/tenants/{id}", { ...path, body: tenantBody(form) }).then(
              changed,
            )
          }
        >
          {(problem) => <TenantFields form={form} change={setForm} problem={problem} />}
        </FormDialog>
      );
    case "suspend":
      return (
        <ConfirmDialog
          title={`Suspend ${tenant.id}`}
          confirm="Suspend tenant"
          action={() => write("post", "/api/v1/tenants/{id}/suspend", path).then(changed)}
          close={close}
        >
          <p>Its queued jobs wait and its schedules stand still until it is resumed.</p>
          <p>Running jobs continue. Its members can still read.</p>
        </ConfirmDialog>
      );
    case "delete":
      return (
        <ConfirmDialog
          title={`Delete ${tenant.id}`}
          confirm="Delete tenant"
          danger
          typed={tenant.id}
          action={() => write("delete", "/api/v1/tenants/{id}", path).then(() => go("/tenants"))}
          close={close}
        >
          <p>
            Its open jobs end in the dead letter. Its tokens, roles and invitations end at once.
            History stays. The id can never be used again.
          </p>
        </ConfirmDialog>
      );
  }
}
