import { screen, waitFor, within } from "@testing-library/preact";
import { expect, test } from "vitest";
import { problem, renderScreen, type SentRequest } from "@/testing/render_screen";
import DefinitionList from "./definition_list";
import DefinitionPage from "./definition_page";
import FirstJob from "./first_job";

const CODE = { max_attempts: 3, timeout_seconds: 300, backoff: null, rate_count: null };
const HELLO = {
  key: "hello",
  title: "Say hello",
  description: "The first job everybody writes.",
  kind: "code",
  queue: "default",
  priority: 100,
  max_attempts: 3,
  timeout_seconds: 300,
  backoff: null,
  max_concurrency: null,
  rate_limit: null,
  rate_per_key: null,
  max_per_key: null,
  limit_key: null,
  tags: ["first"],
  enabled: true,
  system: false,
  edited: [] as string[],
  code: CODE,
  missing_from_code: false,
  code_hash: "f570105a392d86",
  strategy: "on_demand",
  running: 2,
  next_run_at: null,
  runs_after: [],
  default_payload: {},
  payload_schema: {
    type: "object",
    properties: { name: { title: "Name", type: "string" } },
    required: ["name"],
    additionalProperties: false,
  },
  handler: "jobs:hello",
  version: 1,
};
const DETAIL = {
  ...HELLO,
  last_run_at: null,
  success_rate: 0.9994,
  p95_seconds: 1.25,
  workers: ["web-1:4"],
  import_errors: { "web-2:5": "ModuleNotFoundError: No module named 'pandas'" },
};
const NO_JOBS = { items: [], next_cursor: null };
const ROUTES = {
  "GET /definitions": { items: [HELLO], next_cursor: null },
  "GET /definitions/hello": DETAIL,
  "GET /jobs": NO_JOBS,
  "GET /triggers": { items: [], next_cursor: null },
};

/** Checks a payload as the server does: `name` is text, and required. */
function enqueue({ body, query }: SentRequest) {
  const { payload } = body as { payload: { name?: string } };
  if (payload.name === undefined)
    return problem(422, "WL2004", 'payload for "hello" is not valid.', {
      errors: [{ pointer: "/payload/name", message: "required" }],
    });
  const status = query.has("dry_run") ? "valid" : "created";
  return { receipt: { status, job_id: "01a1-12345678", because: null }, job: null };
}

test("lists definitions with their limits, and what differs from the code", async () => {
  const other = { ...HELLO, key: "old", title: "old", missing_from_code: true, edited: ["queue"] };
  renderScreen(<DefinitionList />, {
    routes: { "GET /definitions": { items: [HELLO, { ...other, rate_limit: "10/min" }] } },
  });

  const row = within((await screen.findByText("old")).closest("tr") as HTMLElement);
  expect(row.getByText("Missing from code")).toBeTruthy();
  expect(row.getByText("Edited here")).toBeTruthy();
  expect(row.getByText("10/min")).toBeTruthy();
});

test("shows how each did in the last day", async () => {
  renderScreen(<DefinitionList />, {
    routes: {
      "GET /definitions": { items: [HELLO], next_cursor: null },
      "GET /stats/definitions": {
        items: [{ definition: "hello", success_rate: 0.985, p95_run_seconds: 3.4 }],
        next_cursor: null,
      },
    },
  });

  expect(await screen.findByText("98.5 %")).toBeTruthy();
  expect(screen.getByText("3.4 s")).toBeTruthy();
});

test("filters by what is typed and chosen, and clears the filters", async () => {
  const { user, requests } = renderScreen(<DefinitionList />, {
    routes: {
      "GET /definitions": ({ query }: SentRequest) => ({
        items: query.get("search") ? [] : [HELLO],
        next_cursor: null,
      }),
    },
  });
  await screen.findByText("hello");

  await user.type(screen.getByLabelText("Search"), "zzz");
  await user.click(screen.getByRole("switch", { name: "System definitions" }));
  await user.click(await screen.findByRole("button", { name: "Clear filters" }));

  expect(await screen.findByText("hello")).toBeTruthy();
  expect(requests.some((each) => each.query.get("system") === "true")).toBe(true);
  expect(location.search).toBe("");
});

test("disables a definition after it told what that means", async () => {
  const { user, requests } = renderScreen(<DefinitionList />, {
    routes: {
      ...ROUTES,
      "GET /jobs": { items: [{ id: "a" }, { id: "b" }], next_cursor: null },
      "POST /definitions/hello/disable": { ...DETAIL, enabled: false },
    },
  });

  await user.click(await screen.findByRole("switch", { name: "hello enabled" }));
  expect(await screen.findByText(/2 queued jobs wait/)).toBeTruthy();
  expect(screen.getByText(/2 running now/)).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Disable" }));

  expect(await screen.findByText("hello is disabled.")).toBeTruthy();
  expect(requests.some((each) => each.path === "/definitions/hello/disable")).toBe(true);
});

test("runs a definition: what is typed is checked, and the job is linked", async () => {
  const { user, requests } = renderScreen(<DefinitionList />, {
    routes: { ...ROUTES, "POST /jobs": enqueue },
  });
  await user.click(await screen.findByRole("button", { name: "Run hello" }));

  await user.click(await screen.findByRole("button", { name: "Run" }));
  const name = screen.getByLabelText("Name");
  await waitFor(() => expect(name.getAttribute("aria-invalid")).toBe("true"));
  await user.type(name, "Ada");
  await waitFor(() => expect(name.getAttribute("aria-invalid")).toBeNull());
  await user.selectOptions(screen.getByLabelText("When"), "in");
  await user.type(screen.getByLabelText("Delay"), "10m");
  await user.selectOptions(screen.getByLabelText("Priority"), "high");
  expect(screen.getByText(/await wl.enqueue/).textContent).toBe(
    'await wl.enqueue("hello", {"name": "Ada"}, priority="high", delay="600s")',
  );
  await user.click(await screen.findByRole("button", { name: "Run" }));

  const link = await screen.findByRole("link", { name: "Open job 12345678" });
  expect(link.getAttribute("href")).toBe("/jobs/01a1-12345678");
  const sent = requests.filter((each) => each.method === "POST" && !each.query.has("dry_run"));
  expect(sent.at(-1)?.body).toEqual({
    definition: "hello",
    payload: { name: "Ada" },
    priority: "high",
    delay_seconds: 600,
  });
});

test("shows activity, workers and why others cannot run it", async () => {
  renderScreen(<DefinitionPage />, {
    routes: ROUTES,
    at: "/definitions/hello",
    pattern: "/definitions/:key",
  });

  expect(await screen.findByText("99.9 %")).toBeTruthy();
  expect(screen.getByText("1.2 s")).toBeTruthy();
  expect(screen.getByRole("link", { name: "web-1:4" })).toBeTruthy();
  expect(screen.getByText(/No module named 'pandas'/)).toBeTruthy();
});

test("shows an edited value beside the code's, and resets it", async () => {
  const edited = { ...DETAIL, max_attempts: 8, edited: ["max_attempts"] };
  const { user, requests } = renderScreen(<DefinitionPage />, {
    routes: {
      ...ROUTES,
      "GET /definitions/hello": edited,
      "POST /definitions/hello/reset": DETAIL,
    },
    at: "/definitions/hello",
    pattern: "/definitions/:key",
  });

  expect(await screen.findByText("Edited here; code says 3")).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Reset Attempts to code" }));

  await waitFor(() =>
    expect(
      requests.find((each) => each.path === "/definitions/hello/reset")?.query.get("names"),
    ).toBe("max_attempts"),
  );
});

test("edits limits, sends only what was changed, and shows what the server refuses", async () => {
  const { user, requests } = renderScreen(<DefinitionPage />, {
    routes: {
      ...ROUTES,
      "PATCH /definitions/hello": problem(422, "WL2007", "max_concurrency cannot be -1.", {
        errors: [{ pointer: "/max_concurrency", message: "-1 is not 1 or more" }],
      }),
    },
    at: "/definitions/hello",
    pattern: "/definitions/:key",
  });

  await user.click(await screen.findByRole("button", { name: "Edit…" }));
  const dialog = within(await screen.findByRole("dialog"));
  expect(dialog.getByRole<HTMLButtonElement>("button", { name: "Save" }).disabled).toBe(true);
  await user.type(dialog.getByLabelText("At once"), "-1");
  await user.clear(dialog.getByLabelText("Timeout"));
  await user.click(dialog.getByRole("button", { name: "Save" }));

  await waitFor(() =>
    expect(dialog.getByLabelText("At once").getAttribute("aria-invalid")).toBe("true"),
  );
  expect(requests.find((each) => each.method === "PATCH")?.body).toEqual({
    max_concurrency: -1,
    timeout_seconds: null,
  });
});

test("before there was a job, the first definition stands there with its form filled", async () => {
  renderScreen(<FirstJob />, { routes: { ...ROUTES, "POST /jobs": enqueue } });

  expect((await screen.findByLabelText<HTMLInputElement>("Name")).value).toBe("Ada");
  expect(screen.getByText(/Run your first job/)).toBeTruthy();
});

test("once there are jobs, nothing asks for a first one", async () => {
  const { requests } = renderScreen(<FirstJob />, {
    routes: { ...ROUTES, "GET /jobs": { items: [{ id: "a" }], next_cursor: null } },
  });

  await waitFor(() => expect(requests.length).toBe(2));
  expect(screen.queryByText(/first job/)).toBeNull();
});
