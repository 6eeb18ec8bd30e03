import { useState } from "react";
import { type Item, useRead, useWrite, write } from "@/api/read";
import { useSession } from "@/api/session";
import { ConfirmDialog } from "@/parts/dialogs/confirm";
import { FormDialog } from "@/parts/dialogs/form_dialog";
import { Menu } from "@/parts/dialogs/menu";
import { showToast } from "@/parts/dialogs/toasts";
import { TextField } from "@/parts/forms/fields";
import { Panel, QueryView } from "@/parts/panels/panel";
import { type Column, Table } from "@/parts/tables/table";
import { Time } from "@/parts/values/time";
import { linkAddress, SecretDialog } from "./secret";

type User = Item<"/api/v1/users">;
type Secret = { title: string; address: string };

/** All users of the installation, for superadmins. */
export function Users() {
  const session = useSession();
  const users = useRead("/api/v1/users", { params: { query: { limit: 500 } } });
  const edit = useWrite("patch", "/api/v1/users/{id}");
  const [adding, setAdding] = useState(false);
  const [deleting, setDeleting] = useState<User | null>(null);
  const [secret, setSecret] = useState<Secret | null>(null);
  const refused = {
    onError: (problem: Error) => showToast({ text: problem.message, problem: true }),
  };
  const passwordLink = (user: User) =>
    void write("post", "/api/v1/users/{id}/link", {
      params: { path: { id: user.id } },
      body: { purpose: "password" },
    }).then(
      (link) =>
        setSecret({ title: `Password link for ${user.name}`, address: linkAddress(link.path) }),
      refused.onError,
    );
  const columns: readonly Column<User>[] = [
    { id: "name", title: "Name", cell: (each) => <bdi>{each.name}</bdi> },
    { id: "role", title: "Role", cell: (each) => (each.superadmin ? "superadmin" : "") },
    {
      id: "state",
      title: "State",
      cell: (each) => (each.disabled ? "disabled" : each.has_password ? "active" : "no password"),
    },
    { id: "login", title: "Last sign-in", cell: (each) => <Time at={each.last_login_at} /> },
    {
      id: "actions",
      title: "Actions",
      cell: (each) => (
        <Menu
          label={`Actions for ${each.name}`}
          className="button button-quiet"
          items={[
            { label: "Create password link", action: () => passwordLink(each) },
            {
              label: each.disabled ? "Enable" : "Disable and sign out",
              action: () =>
                edit.mutate(
                  { params: { path: { id: each.id } }, body: { disabled: !each.disabled } },
                  refused,
                ),
            },
            { label: "Delete…", danger: true, action: () => setDeleting(each) },
          ]}
        >
          ⋯
        </Menu>
      ),
    },
  ];
  const shown = session.may("users.write") ? columns : columns.slice(0, -1);
  return (
    <Panel
      title="Users"
      actions={
        session.may("users.write") && (
          <button type="button" className="button" onClick={() => setAdding(true)}>
            Invite a superadmin
          </button>
        )
      }
    >
      <QueryView query={users}>
        {(data) => (
          <Table label="Users" columns={shown} rows={data.items} rowKey={(each) => each.id} />
        )}
      </QueryView>
      {adding && (
        <InviteSuperadmin
          close={() => setAdding(false)}
          invited={(address) => setSecret({ title: "Invitation", address })}
        />
      )}
      {deleting && (
        <ConfirmDialog
          title={`Delete ${deleting.name}`}
          confirm="Delete user"
          danger
          typed={deleting.name}
          action={() =>
            write("delete", "/api/v1/users/{id}", { params: { path: { id: deleting.id } } }).then(
              () => users.refetch(),
            )
          }
          close={() => setDeleting(null)}
        >
          <p>The account and its roles end. Jobs and tokens that it made stay.</p>
        </ConfirmDialog>
      )}
      {secret && (
        <SecretDialog title={secret.title} secret={secret.address} close={() => setSecret(null)}>
          <p>Send this link to the person it is for. It works once.</p>
        </SecretDialog>
      )}
    </Panel>
  );
}

function InviteSuperadmin({
  close,
  invited,
}: {
  close: () => void;
  invited: (address: string) => void;
}) {
  const [name, setName] = useState("");
  return (
    <FormDialog
      title="Invite a superadmin"
      submit="Create invitation"
      close={close}
      action={() =>
        write("post", "/api/v1/users/invite", { body: { name } }).then((answer) =>
          invited(linkAddress(answer.path)),
        )
      }
    >
      {(problem) => (
        <TextField
          label="Name or mail address"
          required
          value={name}
          change={setName}
          error={problem?.field("/name")}
          hint="A superadmin may do everything in every tenant."
        />
      )}
    </FormDialog>
  );
}
