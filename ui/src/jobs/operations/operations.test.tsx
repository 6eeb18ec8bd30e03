import { screen } from "@testing-library/preact";
import { expect, test } from "vitest";
import { renderScreen } from "@/testing/render_screen";
import OperationList from "./operation_list";
import OperationPage from "./operation_page";

const DONE = {
  id: "01890a5d-ac96-774b-bcce-000000000001",
  tenant_id: null,
  action: "cancel",
  query: "queue:mail",
  total: 10,
  done: 8,
  failed: 1,
  skipped: 1,
  left: 0,
  state: "completed",
  actor_name: "ada",
  reason: "wrong batch",
  changes: null,
  undo_of: null,
  created_at: "2026-07-01T10:00:00Z",
  stop_requested_at: null,
  finished_at: "2026-07-01T10:00:02Z",
};

test("operations are listed with how far they are", async () => {
  renderScreen(<OperationList />, {
    routes: { "GET /operations": { items: [DONE], next_cursor: null } },
  });

  const link = await screen.findByRole("link", { name: "Cancel 10 jobs" });
  expect(link.getAttribute("href")).toBe(`/operations/${DONE.id}`);
  expect(screen.getByText("8 canceled, 1 failed, 1 skipped")).toBeTruthy();
});

test("an operation shows what failed and why, and a cancel is undone", async () => {
  const undoing = { ...DONE, id: "01890a5d-ac96-774b-bcce-000000000002", action: "retry" };
  const { user } = renderScreen(<OperationPage />, {
    at: `/operations/${DONE.id}`,
    pattern: "/operations/:id",
    routes: {
      [`GET /operations/${DONE.id}`]: DONE,
      [`GET /operations/${undoing.id}`]: undoing,
      [`GET /operations/${DONE.id}/items`]: {
        items: [{ place: 1, job_id: DONE.id, state: "failed", note: "the database is away" }],
        next_cursor: null,
      },
      [`POST /operations/${DONE.id}/undo`]: undoing,
    },
  });

  expect(await screen.findByText("the database is away")).toBeTruthy();
  expect(screen.getByText("wrong batch")).toBeTruthy();
  expect(screen.getByRole("link", { name: "queue:mail" }).getAttribute("href")).toBe(
    "/jobs?q=queue%3Amail",
  );
  await user.click(await screen.findByRole("button", { name: /Undo/ }));

  expect(await screen.findByRole("heading", { name: "Retry 10 jobs" })).toBeTruthy();
});
