import { screen, waitFor, within } from "@testing-library/preact";
import { expect, test } from "vitest";
import { aJob, aWholeJob } from "@/testing/a_job";
import { problem, renderScreen, type SentRequest } from "@/testing/render_screen";
import DeadLetter from "./dead_letter";
import GroupPage from "./group_page";
import type { Group } from "./groups";

function aGroup(change: Partial<Group> = {}): Group {
  return {
    definition: "payment.charge",
    fingerprint: "271e0b33464e6eca",
    sentence: "Permanent: the bank declined the card",
    count: 2,
    first_at: "2026-07-01T10:00:00Z",
    last_at: "2026-07-01T11:00:00Z",
    tenants: 5,
    tenant_ids: ["acme", "globex", "initech", "umbrella", "hooli"],
    sample_id: "01890a5d-ac96-774b-bcce-b3028c1f42d7",
    trend_24h: Array.from({ length: 24 }, () => 1),
    trend_7d: Array.from({ length: 28 }, () => 2),
    code: "f9e85aa9ec99",
    recovered: false,
    recovered_at: null,
    recovered_job_id: null,
    recovered_code: null,
    runbook_url: "https://runbooks.example/charge",
    muted_at: null,
    muted_by: null,
    muted_until: null,
    reason: null,
    ...change,
  };
}

const MANY = aGroup({ definition: "mail.send", sentence: "Timeout: 421", count: 2431 });

function open(groups: Group[], routes: Record<string, unknown> = {}) {
  return renderScreen(<DeadLetter />, {
    at: "/dead",
    tenants: ["acme", "globex"],
    routes: { "GET /dead/groups": { items: groups }, ...routes },
  });
}

test("shows each cause with its count, tenants, trend, code and runbook", async () => {
  open([aGroup(), MANY]);

  expect(await screen.findByText("2,433 jobs failed for 2 causes.")).toBeTruthy();
  const [first] = screen.getAllByRole("listitem") as [HTMLElement];
  expect(first.textContent).toContain("acme, globex, initech and 2 more");
  expect(within(first).getByRole("img", { name: "24 in the last 24 hours" })).toBeTruthy();
  expect(within(first).getByText("f9e85aa9ec99")).toBeTruthy();
  expect(within(first).getByRole("link", { name: "Runbook ↗" }).getAttribute("href")).toBe(
    "https://runbooks.example/charge",
  );
});

test("hides recovered and muted causes until their switches are on", async () => {
  const { user, requests } = open([aGroup()]);
  await screen.findByText("2 jobs failed for one cause.");
  expect(requests.at(-1)?.query.get("recovered")).toBe("false");
  expect(requests.at(-1)?.query.get("muted")).toBeNull();

  await user.click(screen.getByRole("switch", { name: "Recovered" }));
  await user.click(screen.getByRole("switch", { name: "Muted" }));

  await waitFor(() => expect(requests.at(-1)?.query.get("muted")).toBe("true"));
  expect(requests.at(-1)?.query.get("recovered")).toBeNull();
  expect(location.search).toContain("muted=shown");
});

test("finds causes by text, and clears the filters", async () => {
  const { user } = open([aGroup(), MANY]);

  await user.type(await screen.findByLabelText("Find a cause"), "timeout");
  expect(screen.getAllByRole("listitem")).toHaveLength(1);
  await user.type(screen.getByLabelText("Find a cause"), "zzz");
  await user.click(screen.getByRole("button", { name: "Clear filters" }));

  expect(screen.getAllByRole("listitem")).toHaveLength(2);
});

test("retries a group above a hundred only once its count is typed, batch by batch", async () => {
  let left = 2431;
  const { user, requests } = open([MANY], {
    "POST /dead/groups/retry": ({ body }: SentRequest) => {
      const changed = Math.min(left, (body as { limit: number }).limit);
      left -= changed;
      return { changed, skipped: 0, more: left > 0 };
    },
  });
  await user.click(await screen.findByRole("button", { name: "Retry all" }));
  const confirm = (await screen.findByRole("button", {
    name: "Retry 2,431 jobs",
  })) as HTMLButtonElement;
  expect(confirm.disabled).toBe(true);

  await user.type(screen.getByLabelText(/to go on/), "2431");
  await user.click(confirm);

  expect(await screen.findByText("Queued again: 2,431 of 2,431 jobs.")).toBeTruthy();
  const limits = requests
    .filter((each) => each.method === "POST")
    .map((each) => (each.body as { limit: number }).limit);
  expect(limits).toEqual([1000, 1000, 431]);
});

test("mutes a cause for a time with a reason, and unmutes it", async () => {
  const { user, requests } = open([aGroup()], { "POST /dead/groups/mute": {} });
  await user.click(await screen.findByRole("button", { name: "More actions" }));
  await user.click(screen.getByRole("menuitem", { name: "Mute…" }));

  await user.selectOptions(await screen.findByLabelText("For"), "8 hours");
  await user.type(screen.getByLabelText("Reason"), "known");
  await user.click(screen.getByRole("button", { name: "Mute" }));

  await waitFor(() =>
    expect(requests.find((each) => each.path === "/dead/groups/mute")?.body).toEqual({
      definition: "payment.charge",
      fingerprint: "271e0b33464e6eca",
      for_seconds: 28800,
      reason: "known",
    }),
  );
});

test("discards only with the count typed, and keeps the dialog open on an error", async () => {
  const { user } = open([aGroup()], {
    "POST /dead/groups/discard": () => problem(403, "WL5201", "Your role may not discard jobs."),
  });
  await user.click(await screen.findByRole("button", { name: "More actions" }));
  await user.click(screen.getByRole("menuitem", { name: "Discard all…" }));

  await user.type(await screen.findByLabelText(/to go on/), "2");
  await user.click(screen.getByRole("button", { name: "Discard 2 jobs" }));

  expect(await screen.findByText("Your role may not discard jobs.")).toBeTruthy();
});

test("shows who muted a cause and what recovered", async () => {
  open([
    aGroup({ muted_at: "2026-07-01T10:00:00Z", muted_by: "ada", reason: "known" }),
    aGroup({ recovered: true, recovered_at: "2026-07-01T10:00:00Z", recovered_job_id: "abc" }),
  ]);

  expect(await screen.findByText(/Muted/, { selector: "p" })).toBeTruthy();
  expect(screen.getByText(/✓ Recovered/)).toBeTruthy();
});

test("never makes a link of an address that a browser would run", async () => {
  open([aGroup({ runbook_url: "javascript:alert(1)" })]);

  await screen.findByText("2 jobs failed for one cause.");

  expect(screen.queryByText(/Runbook/)).toBeNull();
});

test("says that nothing needs attention", async () => {
  open([]);

  expect(await screen.findByText(/Nothing needs you/)).toBeTruthy();
});

test("a cause shows its newest job and all its jobs", async () => {
  const group = aGroup();
  const job = aWholeJob({
    state: "dead_letter",
    view: "dead_letter",
    error_type: "windlass.errors.Permanent",
    last_error: "the bank declined the card of 7",
  });
  const { user } = renderScreen(<GroupPage />, {
    at: `/dead/payment.charge/${group.fingerprint}`,
    pattern: "/dead/:definition/:fingerprint",
    routes: {
      "GET /dead/groups": { items: [group] },
      [`GET /jobs/${job.id}`]: job,
      "GET /dead": {
        items: [aJob({ state: "dead_letter", view: "dead_letter", last_error: "it" })],
        next_cursor: null,
      },
    },
  });

  expect(await screen.findByText("the bank declined the card of 7")).toBeTruthy();
  expect(await screen.findByRole("link", { name: "8c1f42d7" })).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Edit payload and retry" }));

  expect(await screen.findByRole("button", { name: "Retry unchanged" })).toBeTruthy();
});
