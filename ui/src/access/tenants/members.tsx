import { useState } from "react";
import { type Item, useRead, write } from "@/api/read";
import { useSession } from "@/api/session";
import { ConfirmDialog } from "@/parts/dialogs/confirm";
import { FormDialog } from "@/parts/dialogs/form_dialog";
import { Menu } from "@/parts/dialogs/menu";
import { SelectField, TextField } from "@/parts/forms/fields";
import { NothingYet, Panel, QueryView } from "@/parts/panels/panel";
import { type Column, Table } from "@/parts/tables/table";
import { Time } from "@/parts/values/time";
import { linkAddress, SecretDialog } from "./secret";

type Member = Item<"/api/v1/members">;

export const ROLES: readonly (readonly [string, string])[] = [
  ["user", "user: submits jobs, sees and cancels their own"],
  ["tenant_admin", "tenant_admin: everything in this tenant"],
];

/** Members of a tenant: roles, permissions and invitations. */
export function Members({ tenant }: { tenant: string }) {
  const session = useSession();
  const members = useRead("/api/v1/members", { params: { query: { tenant, limit: 500 } } });
  const [inviting, setInviting] = useState(false);
  const [editing, setEditing] = useState<Member | null>(null);
  const [removing, setRemoving] = useState<Member | null>(null);
  const [link, setLink] = useState<{ name: string; address: string } | null>(null);
  const reread = (): void => void members.refetch();
  const columns: readonly Column<Member>[] = [
    { id: "name", title: "Name", cell: (each) => <bdi>{each.name}</bdi> },
    { id: "role", title: "Role", cell: (each) => each.role },
    { id: "permissions", title: "Permissions", cell: (each) => each.permissions.join(", ") || "–" },
    {
      id: "state",
      title: "State",
      cell: (each) => (each.pending ? "◌ invited" : "● member"),
    },
    { id: "since", title: "Since", cell: (each) => <Time at={each.created_at} /> },
    {
      id: "actions",
      title: "Actions",
      cell: (each) => (
        <Menu
          label={`Actions for ${each.name}`}
          className="button button-quiet"
          items={[
            { label: "Change role…", action: () => setEditing(each) },
            { label: "Remove…", danger: true, action: () => setRemoving(each) },
          ]}
        >
          ⋯
        </Menu>
      ),
    },
  ];
  const writes = session.may("members.write");
  return (
    <Panel
      title="Members"
      actions={
        writes && (
          <button type="button" className="button" onClick={() => setInviting(true)}>
            Invite
          </button>
        )
      }
    >
      <QueryView query={members}>
        {(data) =>
          data.items.length === 0 ? (
            <NothingYet>Nobody has a role in this tenant yet.</NothingYet>
          ) : (
            <Table
              label="Members"
              columns={writes ? columns : columns.slice(0, -1)}
              rows={data.items}
              rowKey={(each) => each.name}
            />
          )
        }
      </QueryView>
      {inviting && (
        <RoleDialog
          title="Invite a member"
          submit="Create invitation"
          close={() => setInviting(false)}
          save={(name, role, permissions) =>
            write("post", "/api/v1/members", {
              params: { query: { tenant } },
              body: { name, role, permissions },
            }).then((answer) => {
              setLink({ name, address: linkAddress(answer.link.path) });
              reread();
            })
          }
        />
      )}
      {editing && (
        <RoleDialog
          title={`Role of ${editing.name}`}
          submit="Save"
          member={editing}
          close={() => setEditing(null)}
          save={(_, role, permissions) =>
            write("patch", "/api/v1/members/{id}", {
              params: { path: { id: editing.name }, query: { tenant } },
              body: { role, permissions },
            }).then(reread)
          }
        />
      )}
      {removing && (
        <ConfirmDialog
          title={`Remove ${removing.name}`}
          confirm="Remove member"
          danger
          action={() =>
            write("delete", "/api/v1/members/{id}", {
              params: { path: { id: removing.name }, query: { tenant } },
            }).then(reread)
          }
          close={() => setRemoving(null)}
        >
          <p>The role in {tenant} ends at once. The account and its jobs stay.</p>
        </ConfirmDialog>
      )}
      {link && (
        <SecretDialog
          title={`Invitation for ${link.name}`}
          secret={link.address}
          close={() => setLink(null)}
        >
          <p>Send this link to {link.name}. The role begins when it is accepted.</p>
        </SecretDialog>
      )}
    </Panel>
  );
}

function RoleDialog({
  title,
  submit,
  member,
  save,
  close,
}: {
  title: string;
  submit: string;
  member?: Member;
  save: (name: string, role: string, permissions: string[]) => Promise<unknown>;
  close: () => void;
}) {
  const [name, setName] = useState(member?.name ?? "");
  const [role, setRole] = useState(member?.role ?? "user");
  const [permissions, setPermissions] = useState(member?.permissions.join(" ") ?? "");
  return (
    <FormDialog
      title={title}
      submit={submit}
      close={close}
      action={() => save(name, role, permissions.split(/[\s,]+/).filter(Boolean))}
    >
      {(problem) => (
        <>
          {member === undefined && (
            <TextField
              label="Name or mail address"
              required
              value={name}
              change={setName}
              error={problem?.field("/name")}
            />
          )}
          <SelectField
            label="Role"
            value={role}
            change={setRole}
            options={ROLES}
            error={problem?.field("/role")}
          />
          <TextField
            label="Permissions"
            hint="Words that definitions ask for, separated by spaces."
            value={permissions}
            change={setPermissions}
            error={problem?.field("/permissions")}
          />
        </>
      )}
    </FormDialog>
  );
}
