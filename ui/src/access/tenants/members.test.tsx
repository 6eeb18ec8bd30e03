import { screen } from "@testing-library/preact";
import { expect, test } from "vitest";
import { renderScreen } from "@/testing/render_screen";
import { Members } from "./members";

const GRACE = {
  name: "grace@example.com",
  role: "user",
  permissions: [],
  pending: true,
  user_id: null,
  tenant_id: "acme",
  created_at: "2026-01-01T00:00:00Z",
};

test("an invitation shows its link once", async () => {
  const { user, requests } = renderScreen(<Members tenant="acme" />, {
    routes: {
      "GET /members": { items: [], next_cursor: null },
      "POST /members": { member: GRACE, link: { path: "/invitation?link=wlk_x" } },
    },
  });

  await user.click(await screen.findByRole("button", { name: "Invite" }));
  await user.type(screen.getByLabelText("Name or mail address"), "grace@example.com");
  await user.selectOptions(screen.getByLabelText("Role"), "tenant_admin");
  await user.click(screen.getByRole("button", { name: "Create invitation" }));

  expect(await screen.findByText(/invitation\?link=wlk_x$/)).toBeTruthy();
  const [sent] = requests.filter((each) => each.method === "POST");
  expect(sent?.query.get("tenant")).toBe("acme");
  expect(sent?.body).toEqual({ name: "grace@example.com", role: "tenant_admin", permissions: [] });
});

test("who may only read members is offered no action", async () => {
  const identity = {
    name: "ada",
    kind: "session" as const,
    id: "1",
    tenant_id: "acme",
    rights: [],
    memberships: [{ tenant_id: "acme", role: "reader", permissions: [], rights: ["members.read"] }],
  };
  renderScreen(<Members tenant="acme" />, {
    identity,
    routes: { "GET /members": { items: [GRACE], next_cursor: null } },
  });

  expect(await screen.findByText("grace@example.com")).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Invite" })).toBeNull();
  expect(screen.queryByRole("button", { name: /Actions/ })).toBeNull();
});
