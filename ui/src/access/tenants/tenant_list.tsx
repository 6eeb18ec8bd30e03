import { useState } from "react";
import { Link } from "wouter";
import { type Item, useRead, write } from "@/api/read";
import { useSession } from "@/api/session";
import { FormDialog } from "@/parts/dialogs/form_dialog";
import { NothingYet, Panel, QueryView } from "@/parts/panels/panel";
import { type Column, Table } from "@/parts/tables/table";
import { Duration } from "@/parts/values/time";
import { Count } from "@/parts/values/values";
import { useLens } from "@/shell/lens";
import { ScreenHeader } from "@/shell/shell";
import { EMPTY_TENANT, TenantFields, type TenantForm, tenantBody } from "./tenant_fields";
import { Users } from "./users";

type Tenant = Item<"/api/v1/tenants">;
type Usage = Item<"/api/v1/stats/tenants">;

/** Tenants with their limits and their use of the last hour; for superadmins also all users. */
export default function TenantList() {
  const session = useSession();
  const { single } = useLens();
  const tenants = useRead("/api/v1/tenants", { params: { query: { limit: 500 } } });
  const usage = useRead(
    "/api/v1/stats/tenants",
    { params: { query: { window: "1h", limit: 500 } } },
    { enabled: session.may("stats.read"), refetchInterval: 15_000 },
  );
  const [creating, setCreating] = useState(false);
  const used = new Map(usage.data?.items.map((each) => [each.tenant_id, each]));
  return (
    <>
      <ScreenHeader title={single ? "People" : "Tenants"}>
        {session.may("tenants.write") && session.overseer && (
          <button type="button" className="button button-primary" onClick={() => setCreating(true)}>
            New tenant
          </button>
        )}
      </ScreenHeader>
      <Panel title="Tenants">
        <QueryView query={tenants}>
          {(data) =>
            data.items.length === 0 ? (
              <NothingYet snippet="windlass tenants create acme">
                There is no tenant but the default one.
              </NothingYet>
            ) : (
              <Table
                label="Tenants"
                columns={columns(used)}
                rows={data.items}
                rowKey={(each) => each.id}
              />
            )
          }
        </QueryView>
      </Panel>
      {session.may("users.read") && session.overseer && (
        <div className="mt-4">
          <Users />
        </div>
      )}
      {creating && <NewTenant close={() => setCreating(false)} />}
    </>
  );
}

function columns(used: ReadonlyMap<string, Usage>): readonly Column<Tenant>[] {
  const of = (tenant: Tenant): Usage | undefined => used.get(tenant.id);
  return [
    {
      id: "id",
      title: "Tenant",
      cell: (each) => (
        <Link className="link font-medium" href={`/tenants/${encodeURIComponent(each.id)}`}>
          {each.id}
        </Link>
      ),
    },
    { id: "name", title: "Name", cell: (each) => (each.name === each.id ? "" : each.name) },
    { id: "state", title: "State", cell: (each) => <TenantState state={each.state} /> },
    { id: "weight", title: "Share", numeric: true, cell: (each) => each.weight },
    {
      id: "queued",
      title: "Queued",
      numeric: true,
      cell: (each) => <Count value={of(each)?.queued ?? 0} />,
    },
    {
      id: "running",
      title: "Running / limit",
      numeric: true,
      cell: (each) => `${of(each)?.running ?? 0} / ${each.max_running ?? "∞"}`,
    },
    {
      id: "failed",
      title: "Failed, 1 h",
      numeric: true,
      cell: (each) => <Count value={of(each)?.total.failed ?? 0} />,
    },
    {
      id: "seconds",
      title: "Run time, 1 h",
      numeric: true,
      cell: (each) => <Duration seconds={(of(each)?.total.run_ms ?? 0) / 1000} />,
    },
    { id: "zone", title: "Time zone", wide: true, cell: (each) => each.timezone },
  ];
}

export function TenantState({ state }: { state: Tenant["state"] }) {
  const look = { active: "text-good", suspended: "text-warn", deleted: "text-danger" }[state];
  const glyph = { active: "●", suspended: "❚❚", deleted: "✕" }[state];
  return (
    <span className={look}>
      <span aria-hidden="true">{glyph}</span> {state}
    </span>
  );
}

function NewTenant({ close }: { close: () => void }) {
  const [form, setForm] = useState<TenantForm>(EMPTY_TENANT);
  return (
    <FormDialog
      title="New tenant"
      submit="Create tenant"
      close={close}
      action={() =>
        write("post", "/api/v1/tenants", { body: { id: form.id, ...tenantBody(form) } }).then(() =>
          location.reload(),
        )
      }
    >
      {(problem) => <TenantFields form={form} change={setForm} problem={problem} withId />}
    </FormDialog>
  );
}
