import { screen, waitFor, within } from "@testing-library/preact";
import { beforeEach, expect, test } from "vitest";
import { aJob, aWholeJob, jobId } from "@/testing/a_job";
import { type Routes, renderScreen, type SentRequest } from "@/testing/render_screen";
import JobPage from "./job_page";
import { rememberList } from "./neighbours";

type Job = ReturnType<typeof aWholeJob>;

beforeEach(() => sessionStorage.clear());

function open(job: Job, routes: Routes = {}, at = `/jobs/${job.id}`) {
  const path = `/jobs/${job.id}`;
  return renderScreen(<JobPage />, {
    at,
    pattern: "/jobs/:id",
    routes: {
      [`GET ${path}`]: () => job,
      [`GET ${path}/explain`]: { code: "claiming", sentence: "It is being claimed.", hint: "" },
      [`GET ${path}/history`]: { items: [] },
      [`GET ${path}/attempts`]: { items: [] },
      [`GET ${path}/logs`]: { items: [] },
      [`GET ${path}/graph`]: { edges: [], nodes: [], more: false },
      "GET /jobs": { items: [], next_cursor: null },
      ...routes,
    },
  });
}

test("tells why a job waits, and resumes the queue that is paused", async () => {
  const job = aWholeJob();
  const { user, requests } = open(job, {
    [`GET /jobs/${job.id}/explain`]: {
      code: "queue_paused",
      sentence: "Its queue mail was paused by ada: <b>deploy</b>.",
      hint: "",
    },
    "POST /queues/mail/resume": {},
  });

  expect(await screen.findByText("Its queue mail was paused by ada: <b>deploy</b>.")).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Resume mail" }));

  await waitFor(() =>
    expect(requests.some((each) => each.path === "/queues/mail/resume")).toBe(true),
  );
});

test("enables the definition that is disabled", async () => {
  const job = aWholeJob();
  const { user, requests } = open(job, {
    [`GET /jobs/${job.id}/explain`]: {
      code: "definition_disabled",
      sentence: "Its definition mail.send is disabled.",
      hint: "",
    },
    "POST /definitions/mail.send/enable": {},
  });

  await user.click(await screen.findByRole("button", { name: "Enable mail.send" }));

  await waitFor(() => expect(requests.at(-1)?.path).not.toBe(""));
  expect(requests.some((each) => each.path === "/definitions/mail.send/enable")).toBe(true);
});

test("shows progress of a running job, and no question why", async () => {
  open(
    aWholeJob({
      state: "running",
      view: "running",
      progress: 0.25,
      progress_note: "resizing",
      last_started_at: new Date().toISOString(),
    }),
  );

  expect((await screen.findByRole("progressbar")).getAttribute("aria-valuenow")).toBe("25");
  expect(screen.queryByText("Why isn't it running?")).toBeNull();
  expect(screen.getByRole("button", { name: "Cancel" })).toBeTruthy();
});

test("shows actions that the state forbids disabled, with the reason", async () => {
  const { user } = open(aWholeJob({ state: "completed", view: "completed", result: "done" }));

  await user.click(await screen.findByRole("button", { name: "Actions" }));

  const entry = screen.getByRole("menuitem", { name: /Edit payload and retry/ });
  expect(entry.getAttribute("aria-disabled")).toBe("true");
  expect(entry.textContent).toContain("Only of dead-lettered jobs.");
});

const DEFINITION = {
  payload_schema: {
    type: "object",
    properties: { to: { type: "string", title: "To" } },
    required: ["to"],
  },
};

test("edits the payload by its form, shows what differs, and retries", async () => {
  const job = aWholeJob({ state: "dead_letter", view: "dead_letter", payload: { to: "ada@" } });
  const path = `/dead/${job.id}/edit-retry`;
  const { user, requests } = open(job, {
    [`POST ${path}`]: { ...job, state: "queued" },
    "GET /definitions/mail.send": DEFINITION,
  });
  await user.click(await screen.findByRole("button", { name: "Actions" }));
  await user.click(screen.getByRole("menuitem", { name: /Edit payload and retry/ }));

  await user.type(await screen.findByRole("textbox", { name: /^to/i }), "example.com");
  const changes = screen.getByRole("region", { name: "Changes" });
  expect(within(changes).getByText(/^\+.*ada@example.com/)).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Save and retry" }));

  await waitFor(() =>
    expect(requests.find((each) => each.path === path)?.body).toEqual({
      payload: { to: "ada@example.com" },
    }),
  );
});

test("never retries with a mask in place of a secret", async () => {
  const job = aWholeJob({
    state: "dead_letter",
    view: "dead_letter",
    payload: { token: "•••", to: "ada" },
  });
  const { user, requests } = open(job, {
    [`POST /jobs/${job.id}/reveal`]: { ...job, payload: { token: "s3", to: "ada" }, result: null },
  });
  await user.click(await screen.findByRole("button", { name: "Actions" }));
  await user.click(screen.getByRole("menuitem", { name: /Edit payload and retry/ }));
  const save = (await screen.findByRole("button", {
    name: "Retry unchanged",
  })) as HTMLButtonElement;
  expect(save.disabled).toBe(true);

  const dialog = screen.getByRole("dialog");
  await user.click(within(dialog).getByRole("button", { name: "Reveal •••" }));
  await user.type(screen.getByLabelText("Reason"), "ticket 12");
  await user.click(screen.getByRole("button", { name: "Reveal" }));

  await waitFor(() => expect(save.disabled).toBe(false));
  const sent = requests.find((each) => each.path.endsWith("/reveal"));
  expect(sent?.body).toEqual({ reason: "ticket 12" });
});

test("replaces the end of an id in the address by all of it", async () => {
  const job = aWholeJob();
  open(job, { "GET /jobs/1f42d7": job }, "/jobs/1f42d7#line-3");

  await screen.findByRole("heading", { level: 1 });

  await waitFor(() => expect(location.pathname).toBe(`/jobs/${job.id}`));
  expect(location.hash).toBe("#line-3");
});

test("goes on to the next job of the list by ]", async () => {
  const job = aWholeJob();
  rememberList(["before", job.id, "after"]);
  const { user } = open(job);
  expect(await screen.findByText("2 of 3")).toBeTruthy();

  await user.keyboard("]");

  await waitFor(() => expect(location.pathname).toBe("/jobs/after"));
});

test("shows the jobs that it waits for, as a list too", async () => {
  const job = aWholeJob({ state: "pending", view: "waiting", waits: 1 });
  const parent = aJob({ id: jobId(7), definition: "order.extract", view: "running" });
  const edge = {
    parent_id: parent.id,
    child_id: job.id,
    policy: "cancel",
    settled: false,
    child_state: "pending",
    parent_state: "running",
  };
  const { user } = open(job, {
    [`GET /jobs/${job.id}/graph`]: { edges: [edge] },
    [`GET /jobs/${parent.id}/graph`]: { edges: [edge] },
    "GET /jobs": ({ query }: SentRequest) => ({
      items: query.get("q")?.startsWith("id:") ? [parent, job] : [],
      next_cursor: null,
    }),
  });

  expect(await screen.findByRole("link", { name: /order.extract.*Running/ })).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "List" }));

  const list = await screen.findByRole("list", { name: "Dependencies as a list" });
  const inner = within(list).getByRole("list");
  expect(within(inner).getByText("mail.send").closest("[aria-current=page]")).toBeTruthy();
});
