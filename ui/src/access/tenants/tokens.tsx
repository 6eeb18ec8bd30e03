import { useState } from "react";
import { type Item, useRead, write } from "@/api/read";
import { useSession } from "@/api/session";
import { ConfirmDialog } from "@/parts/dialogs/confirm";
import { FormDialog } from "@/parts/dialogs/form_dialog";
import { SelectField, TextField } from "@/parts/forms/fields";
import { NothingYet, Panel, QueryView } from "@/parts/panels/panel";
import { type Column, Table } from "@/parts/tables/table";
import { Time } from "@/parts/values/time";
import { SecretDialog } from "./secret";

type Token = Item<"/api/v1/tokens">;

const LIVES: readonly (readonly [string, string])[] = [
  ["7776000", "90 days"],
  ["2592000", "30 days"],
  ["86400", "1 day"],
  ["31536000", "1 year"],
  ["", "until it is revoked"],
];

/** Tokens of programs; without a tenant, those of the installation. */
export function Tokens({ tenant }: { tenant: string | null }) {
  const session = useSession();
  const query = { limit: 500, ...(tenant === null ? {} : { tenant }) };
  const tokens = useRead("/api/v1/tokens", { params: { query } });
  const [creating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<Token | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const writes = session.may("tokens.write");
  const columns: readonly Column<Token>[] = [
    { id: "name", title: "Name", cell: (each) => <bdi>{each.name}</bdi> },
    { id: "role", title: "Role", cell: (each) => each.role },
    {
      id: "rights",
      title: "Rights",
      cell: (each) => (each.rights === null ? "all of the role" : each.rights.join(", ")),
    },
    { id: "used", title: "Last used", cell: (each) => <Time at={each.last_used_at} /> },
    {
      id: "expires",
      title: "Expires",
      cell: (each) => (each.expires_at ? <Time at={each.expires_at} /> : "never"),
    },
    {
      id: "state",
      title: "State",
      cell: (each) =>
        each.revoked_at ? (
          <span className="text-muted">⊘ revoked</span>
        ) : each.expires_at && Date.parse(each.expires_at) < Date.now() ? (
          <span className="text-muted">◷ expired</span>
        ) : (
          <span className="text-good">● valid</span>
        ),
    },
    {
      id: "actions",
      title: "Actions",
      cell: (each) =>
        each.revoked_at === null && (
          <button
            type="button"
            className="button button-quiet text-danger"
            onClick={() => setRevoking(each)}
          >
            Revoke
          </button>
        ),
    },
  ];
  return (
    <Panel
      title="Tokens"
      actions={
        writes && (
          <button type="button" className="button" onClick={() => setCreating(true)}>
            New token
          </button>
        )
      }
    >
      <QueryView query={tokens}>
        {(data) =>
          data.items.length === 0 ? (
            <NothingYet>No program has a token yet.</NothingYet>
          ) : (
            <Table
              label="Tokens"
              columns={writes ? columns : columns.slice(0, -1)}
              rows={data.items}
              rowKey={(each) => each.id}
            />
          )
        }
      </QueryView>
      {creating && (
        <NewToken tenant={tenant} close={() => setCreating(false)} created={setSecret} />
      )}
      {revoking && (
        <ConfirmDialog
          title={`Revoke ${revoking.name}`}
          confirm="Revoke token"
          danger
          action={() =>
            write("delete", "/api/v1/tokens/{id}", {
              params: { path: { id: revoking.id } },
            }).then(() => tokens.refetch())
          }
          close={() => setRevoking(null)}
        >
          <p>Programs that use it are refused within ten seconds. This cannot be undone.</p>
        </ConfirmDialog>
      )}
      {secret && (
        <SecretDialog
          title="New token"
          secret={secret}
          close={() => {
            setSecret(null);
            void tokens.refetch();
          }}
        >
          <p>Give it to the program as WINDLASS_TOKEN, or as a bearer token.</p>
        </SecretDialog>
      )}
    </Panel>
  );
}

function NewToken({
  tenant,
  close,
  created,
}: {
  tenant: string | null;
  close: () => void;
  created: (secret: string) => void;
}) {
  const [name, setName] = useState("");
  const [role, setRole] = useState("user");
  const [life, setLife] = useState("7776000");
  const roles: (readonly [string, string])[] = [
    ["user", "user: submits jobs, sees and cancels its own"],
    ...(tenant === null
      ? ([
          ["worker", "worker: runs jobs over HTTP"],
          ["superadmin", "superadmin: everything in every tenant"],
        ] as const)
      : ([["tenant_admin", "tenant_admin: everything in this tenant"]] as const)),
  ];
  return (
    <FormDialog
      title="New token"
      submit="Create token"
      close={close}
      action={() =>
        write("post", "/api/v1/tokens", {
          body: {
            name,
            role,
            ...(tenant === null ? {} : { tenant }),
            ...(life ? { expires_seconds: Number(life) } : {}),
          },
        }).then((answer) => created(answer.secret))
      }
    >
      {(problem) => (
        <>
          <TextField
            label="Name"
            hint="What uses it, such as “shop backend”."
            required
            value={name}
            change={setName}
            error={problem?.field("/name")}
          />
          <SelectField
            label="Role"
            value={role}
            change={setRole}
            options={roles}
            error={problem?.field("/role")}
          />
          <SelectField label="Valid for" value={life} change={setLife} options={LIVES} />
        </>
      )}
    </FormDialog>
  );
}
