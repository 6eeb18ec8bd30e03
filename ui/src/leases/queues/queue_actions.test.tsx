import { screen } from "@testing-library/preact";
import { expect, test } from "vitest";
import { problem, renderScreen } from "@/testing/render_screen";
import QueueList from "./queue_list";

const MAIL = {
  name: "mail",
  pending: 1,
  queued: 12,
  running: 3,
  max_concurrency: null,
  paused_at: null,
  paused_by: null,
  paused_by_name: null,
  pause_reason: null,
};

test("pausing tells what waits, sends the reason, and can be undone", async () => {
  const { user, requests } = renderScreen(<QueueList />, {
    routes: {
      "GET /queues": { items: [MAIL] },
      "GET /stats/queues": { items: [], next_cursor: null },
      "POST /queues/mail/pause": MAIL,
      "POST /queues/mail/resume": MAIL,
    },
  });

  await user.click(await screen.findByRole("button", { name: "Actions for mail" }));
  await user.click(screen.getByRole("menuitem", { name: "Pause…" }));
  expect(screen.getByText(/Its 12 queued jobs wait/)).toBeTruthy();
  await user.type(screen.getByLabelText("Reason"), "the relay is down");
  await user.click(screen.getByRole("button", { name: "Pause queue" }));
  await user.click(await screen.findByRole("button", { name: "Undo" }));

  const writes = requests.filter((each) => each.method === "POST");
  expect(writes.map((each) => each.path)).toEqual(["/queues/mail/pause", "/queues/mail/resume"]);
  expect(writes[0]?.body).toEqual({ reason: "the relay is down" });
});

test("a refused limit is shown at its field, and the dialog stays", async () => {
  const { user } = renderScreen(<QueueList />, {
    routes: {
      "GET /queues": { items: [MAIL] },
      "GET /stats/queues": { items: [], next_cursor: null },
      "PATCH /queues/mail": () =>
        problem(422, "WL2004", "The request is not valid.", {
          errors: [{ pointer: "/max_concurrency", message: "at most 100000" }],
        }),
    },
  });

  await user.click(await screen.findByRole("button", { name: "Actions for mail" }));
  await user.click(screen.getByRole("menuitem", { name: "Limit…" }));
  await user.type(screen.getByLabelText("Most running jobs"), "999999999");
  await user.click(screen.getByRole("button", { name: "Save" }));

  const field = await screen.findByLabelText("Most running jobs");
  expect(field.getAttribute("aria-invalid")).toBe("true");
  expect(screen.getAllByText("at most 100000").length).toBeGreaterThan(0);
});
