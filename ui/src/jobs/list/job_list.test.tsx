import { screen, waitFor, within } from "@testing-library/preact";
import { expect, test } from "vitest";
import { refresh } from "@/api/read";
import type { Identity } from "@/api/session";
import { aJob, jobId } from "@/testing/a_job";
import { problem, type Routes, renderScreen, type SentRequest } from "@/testing/render_screen";
import JobList from "./job_list";

const ONE = aJob({ id: jobId(1), definition: "mail.send" });
const TWO = aJob({ id: jobId(2), definition: "media.resize", state: "running", view: "running" });
const THREE = aJob({
  id: jobId(3),
  definition: "report.build",
  view: "dead_letter",
  state: "dead_letter",
});
const COUNTS = { count: 3, exact: true };

function routes(jobs: unknown, more: Routes = {}): Routes {
  return {
    "GET /jobs": jobs,
    "GET /jobs/summary": {
      views: {
        queued: COUNTS,
        running: COUNTS,
        retrying: { count: 10_000, exact: false },
        dead_letter: COUNTS,
      },
    },
    "GET /definitions": { items: [{ key: "mail.send", tags: [] }], next_cursor: null },
    "GET /jobs/suggest": { items: [] },
    ...more,
  };
}

function page(...items: unknown[]) {
  return { items, next_cursor: null };
}

function lists(requests: SentRequest[]): (string | null)[] {
  return requests.filter((each) => each.path === "/jobs").map((each) => each.query.get("q"));
}

test("lists jobs with their state, and links each to its page", async () => {
  renderScreen(<JobList />, { at: "/jobs", routes: routes(page(ONE, TWO)) });

  const link = await screen.findByRole("link", { name: "mail.send" });
  expect(link.getAttribute("href")).toBe(`/jobs/${ONE.id}`);
  expect(screen.getByText("2 jobs")).toBeTruthy();
  expect(screen.getAllByRole("row")).toHaveLength(3);
});

test("cards and quick filters change the filter and the address", async () => {
  const { user, requests } = renderScreen(<JobList />, {
    at: "/jobs",
    routes: routes(page(ONE)),
  });

  await user.click(await screen.findByRole("button", { name: /Dead letter/ }));
  await waitFor(() => expect(lists(requests)).toContain("state:dead_letter"));
  expect(new URL(location.href).searchParams.get("q")).toBe("state:dead_letter");
  await user.selectOptions(screen.getByLabelText("Definition"), "mail.send");

  await waitFor(() => expect(lists(requests)).toContain("state:dead_letter definition:mail.send"));
});

test("the filter box suggests values with counts, read when their field is typed", async () => {
  const suggest = ({ query }: SentRequest) => {
    const value = { kind: "value", means: "", exact: true };
    return {
      items:
        query.get("q") === "queue:"
          ? [{ ...value, insert: "queue:mail ", label: "queue:mail", count: 1204 }]
          : [],
    };
  };
  const { user, requests } = renderScreen(<JobList />, {
    at: "/jobs",
    routes: routes(page(ONE), { "GET /jobs/suggest": suggest }),
  });

  await user.type(await screen.findByLabelText("Filter jobs"), "queue:m");
  await user.click(await screen.findByRole("option", { name: /queue:mail.*1,204/ }));

  await waitFor(() => expect(lists(requests)).toContain("queue:mail"));
});

test("of tenants the filter box speaks only where there are several", async () => {
  const first = renderScreen(<JobList />, { at: "/jobs", routes: routes(page(ONE)) });
  await first.user.type(await screen.findByLabelText("Filter jobs"), "tena");
  expect(screen.queryByRole("option", { name: /tenant/ })).toBeNull();
  first.unmount();

  const { user } = renderScreen(<JobList />, {
    at: "/jobs",
    routes: routes(page(ONE)),
    tenants: ["acme", "globex"],
  });
  await user.type(await screen.findByLabelText("Filter jobs"), "tena");

  expect(screen.getByRole("option", { name: /^tenant:/ })).toBeTruthy();
});

test("a refused filter shows its error at the box", async () => {
  renderScreen(<JobList />, {
    at: "/jobs?q=stat:x",
    routes: routes(() =>
      problem(422, "WL2008", 'the filter cannot be understood at character 1: "stat".'),
    ),
  });

  expect(await screen.findByText(/cannot be understood at character 1/)).toBeTruthy();
  expect(screen.getByLabelText("Filter jobs").getAttribute("aria-invalid")).toBe("true");
});

test("an empty list says whether there is anything at all, or nothing that matches", async () => {
  const { user } = renderScreen(<JobList />, {
    at: "/jobs?q=queue:none",
    routes: routes(page()),
  });

  await user.click(await screen.findByRole("button", { name: "Clear filters" }));

  expect(await screen.findByText(/There are no jobs yet/)).toBeTruthy();
});

test("rows change in place, and new ones wait until they are asked for", async () => {
  let now = page(TWO, THREE);
  const { client } = renderScreen(<JobList />, { at: "/jobs", routes: routes(() => now) });
  await screen.findByRole("link", { name: "media.resize" });

  now = page(ONE, { ...TWO, state: "completed", view: "completed", updated_at: "later" }, THREE);
  const pill = await waitFor(() => {
    refresh(client, ["jobs"]);
    return screen.getByRole("button", { name: /1 new/ });
  });
  const table = screen.getByRole("table");
  expect(await within(table).findByText("Completed")).toBeTruthy();
  expect(screen.queryByRole("link", { name: "mail.send" })).toBeNull();
  pill.click();
  expect(await screen.findByRole("link", { name: "mail.send" })).toBeTruthy();
});

test("a row that matches no longer stays, and is told", async () => {
  let now = page(TWO, THREE);
  const { client } = renderScreen(<JobList />, {
    at: "/jobs?q=state:running",
    routes: routes((sent: SentRequest) =>
      sent.query.get("q")?.startsWith("id:")
        ? page({ ...TWO, state: "completed", view: "completed", updated_at: "later" })
        : now,
    ),
  });
  await screen.findByRole("link", { name: "media.resize" });

  now = page(THREE);
  await waitFor(() => {
    refresh(client, ["jobs"]);
    expect(screen.getByRole("button", { name: /1 no longer match/ })).toBeTruthy();
  });
  expect(await within(screen.getByRole("table")).findByText("Completed")).toBeTruthy();
});

test("keys move, pick and act on the current row", async () => {
  const { user, requests } = renderScreen(<JobList />, {
    at: "/jobs",
    routes: routes(page(ONE, TWO), {
      [`POST /jobs/${ONE.id}/cancel`]: { ...ONE, state: "canceled", view: "canceled" },
    }),
  });
  await screen.findByRole("link", { name: "mail.send" });

  await user.keyboard("j");
  await waitFor(() => expect(location.search).toContain(ONE.id));
  await user.keyboard("c");
  expect(await screen.findByText(/Canceled mail.send/)).toBeTruthy();
  expect(requests.some((each) => each.path === `/jobs/${ONE.id}/cancel`)).toBe(true);
  await user.keyboard("x");

  expect(await screen.findByText("1 selected")).toBeTruthy();
  expect(screen.getByRole("button", { name: "Clear selection" })).toBeTruthy();
});

test("picking the page offers all that match, and the count has to be typed", async () => {
  const { user, requests } = renderScreen(<JobList />, {
    at: "/jobs?q=state:dead_letter",
    routes: routes(page(THREE, aJob({ id: jobId(4), state: "dead_letter", view: "dead_letter" })), {
      "POST /operations/preview": {
        action: "retry",
        total: 12_431,
        more: false,
        by_state: { dead_letter: 12_400, running: 31 },
        skipped: [
          { reason: "it is running; only canceled or dead_letter jobs can be retried", count: 31 },
        ],
        sample: [THREE],
      },
      "POST /operations": {
        id: "op",
        action: "retry",
        total: 12_400,
        left: 12_400,
        done: 0,
        failed: 0,
        skipped: 0,
        state: "running",
      },
      "GET /operations/op": {
        id: "op",
        action: "retry",
        total: 12_400,
        left: 6_200,
        done: 6_200,
        failed: 0,
        skipped: 0,
        state: "running",
        stop_requested_at: null,
        created_at: null,
      },
      "POST /operations/op/stop": {},
    }),
  });
  await user.click(await screen.findByLabelText("Select the jobs shown"));
  await user.click(await screen.findByRole("button", { name: "Select all 12,431 matching" }));
  await user.click(screen.getByRole("button", { name: "Retry" }));

  expect(await screen.findByText(/31 jobs skipped: it is running/)).toBeTruthy();
  const begin = screen.getByRole("button", { name: "Retry 12,400 jobs" });
  expect(begin.hasAttribute("disabled")).toBe(true);
  await user.type(screen.getByLabelText("Type 12400 to go on"), "12400");
  await user.click(begin);

  expect(await screen.findByText(/6,200 retried, 6,200 to go/)).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Stop" }));
  await waitFor(() =>
    expect(requests.some((each) => each.path === "/operations/op/stop")).toBe(true),
  );
  expect(requests.find((each) => each.path === "/operations")?.body).toMatchObject({
    action: "retry",
    q: "state:dead_letter",
  });
});

test("columns are chosen, kept in the address and in the browser", async () => {
  const { user, unmount } = renderScreen(<JobList />, { at: "/jobs", routes: routes(page(ONE)) });
  await user.click(await screen.findByRole("button", { name: "Columns" }));
  await user.click(screen.getByLabelText("Worker"));
  expect(await screen.findByRole("columnheader", { name: "Worker" })).toBeTruthy();
  expect(location.search).toContain("worker");
  unmount();

  renderScreen(<JobList />, { at: "/jobs", routes: routes(page(ONE)) });

  expect(await screen.findByRole("columnheader", { name: "Worker" })).toBeTruthy();
});

test("a filter is saved by a name, opened and removed", async () => {
  const { user } = renderScreen(<JobList />, {
    at: "/jobs?q=queue:mail",
    routes: routes(page(ONE)),
  });
  await user.click(await screen.findByRole("button", { name: "Manage views" }));
  await user.click(screen.getByRole("menuitem", { name: "Save this view…" }));
  await user.click(await screen.findByRole("button", { name: "Save" }));
  expect(screen.getByText("A view needs a name.")).toBeTruthy();
  await user.type(screen.getByLabelText("Name"), "Mail");
  await user.click(screen.getByRole("button", { name: "Save" }));

  expect(screen.getByRole("button", { name: "Mail" }).getAttribute("aria-current")).toBe("true");
  await user.click(screen.getByRole("button", { name: "Failing now" }));
  await waitFor(() => expect(location.search).toContain("retrying"));
  await user.click(screen.getByRole("button", { name: "Mail" }));
  await waitFor(() => expect(location.search).toContain("mail"));
});

test("who may only see jobs of their own picks none, and cancels them one by one", async () => {
  const identity = {
    kind: "session",
    name: "ada",
    id: "u1",
    tenant_id: "acme",
    rights: null,
    memberships: [{ tenant_id: "acme", role: "user", rights: ["jobs.read", "jobs.cancel"] }],
  } as unknown as Identity;
  const { user } = renderScreen(<JobList />, { at: "/jobs", identity, routes: routes(page(ONE)) });

  await user.click(await screen.findByRole("button", { name: /Actions on mail.send/ }));

  expect(screen.getAllByRole("menuitem").map((each) => each.textContent)).toEqual(["Cancel"]);
  expect(screen.queryByRole("checkbox")).toBeNull();
  expect(screen.getByRole("button", { name: "Mine" })).toBeTruthy();
});
