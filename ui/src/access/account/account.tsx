import { useState } from "react";
import { type Item, useRead, useWrite, write } from "@/api/read";
import { useSession } from "@/api/session";
import { ConfirmDialog } from "@/parts/dialogs/confirm";
import { showToast } from "@/parts/dialogs/toasts";
import { TextField } from "@/parts/forms/fields";
import { useSubmit } from "@/parts/forms/submit";
import { ErrorState, Panel, QueryView } from "@/parts/panels/panel";
import { type Column, Table } from "@/parts/tables/table";
import { Time } from "@/parts/values/time";
import { useLens } from "@/shell/lens";
import { ScreenHeader } from "@/shell/shell";
import { openDashboard } from "./account_form";

/** My account: roles, password, and the browsers that are signed in. */
export default function Account() {
  const { identity } = useSession();
  const { single } = useLens();
  return (
    <>
      <ScreenHeader title="My account" />
      <div className="grid gap-4 lg:grid-cols-2">
        <Panel title={identity.name}>
          <Table
            label="Roles"
            columns={single ? ROLES.filter((column) => column.id !== "tenant") : ROLES}
            rows={identity.memberships}
            rowKey={(each) => `${each.tenant_id} ${each.role}`}
          />
        </Panel>
        <Panel title="Password">
          <PasswordForm />
        </Panel>
        <div className="lg:col-span-2">
          <Sessions />
        </div>
      </div>
    </>
  );
}

type Membership = ReturnType<typeof useSession>["identity"]["memberships"][number];

const ROLES: readonly Column<Membership>[] = [
  { id: "tenant", title: "Tenant", cell: (each) => each.tenant_id ?? "All tenants" },
  { id: "role", title: "Role", cell: (each) => each.role },
  { id: "permissions", title: "Permissions", cell: (each) => each.permissions.join(", ") || "–" },
];

function PasswordForm() {
  const [before, setBefore] = useState("");
  const [after, setAfter] = useState("");
  const form = useSubmit(() =>
    write("post", "/api/v1/password", { body: { before, after } }).then(() => {
      setBefore("");
      setAfter("");
      showToast({ text: "The password is changed. Other browsers are signed out." });
    }),
  );
  return (
    <form onSubmit={form.submit} className="max-w-sm space-y-3">
      <TextField
        label="Current password"
        type="password"
        autoComplete="current-password"
        required
        value={before}
        change={setBefore}
      />
      <TextField
        label="New password"
        type="password"
        autoComplete="new-password"
        minLength={12}
        required
        hint="12 characters or more. All other browsers are signed out."
        error={form.problem?.field("/after")}
        value={after}
        change={setAfter}
      />
      {form.problem && <ErrorState problem={form.problem} />}
      <button type="submit" className="button button-primary" disabled={form.busy}>
        Change password
      </button>
    </form>
  );
}

type LoginSession = Item<"/api/v1/sessions">;

function Sessions() {
  const sessions = useRead("/api/v1/sessions");
  const end = useWrite("delete", "/api/v1/sessions/{id}");
  const [ending, setEnding] = useState(false);
  const columns: readonly Column<LoginSession>[] = [
    { id: "note", title: "Browser", cell: (each) => each.note || "unknown" },
    { id: "seen", title: "Last seen", cell: (each) => <Time at={each.last_seen_at} /> },
    { id: "since", title: "Since", cell: (each) => <Time at={each.created_at} /> },
    { id: "ends", title: "Ends", cell: (each) => <Time at={each.ends_at} />, wide: true },
    {
      id: "end",
      title: "Action",
      cell: (each) => (
        <button
          type="button"
          className="button button-quiet"
          onClick={() =>
            end.mutate(
              { params: { path: { id: each.id } } },
              { onError: (problem) => showToast({ text: problem.title, problem: true }) },
            )
          }
        >
          Sign out
        </button>
      ),
    },
  ];
  return (
    <Panel
      title="Signed-in browsers"
      actions={
        <button type="button" className="button button-danger" onClick={() => setEnding(true)}>
          Sign out everywhere
        </button>
      }
    >
      <QueryView query={sessions}>
        {(data) => (
          <Table
            label="Signed-in browsers"
            columns={columns}
            rows={data.items}
            rowKey={(each) => each.id}
          />
        )}
      </QueryView>
      {ending && (
        <ConfirmDialog
          title="Sign out everywhere"
          confirm="Sign out everywhere"
          danger
          action={() => write("delete", "/api/v1/sessions", {}).then(openDashboard)}
          close={() => setEnding(false)}
        >
          <p>All browsers are signed out, this one too.</p>
        </ConfirmDialog>
      )}
    </Panel>
  );
}
