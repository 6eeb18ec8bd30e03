import { screen } from "@testing-library/preact";
import { expect, test } from "vitest";
import type { Identity } from "@/api/session";
import { Menu } from "@/parts/dialogs/menu";
import { aJob } from "@/testing/a_job";
import { problem, type Routes, renderScreen } from "@/testing/render_screen";
import { useJobActions } from "./job_actions";
import { type JobSubject, refusal } from "./rules";

const ID = aJob().id;

function JobMenu({ job, done }: { job: JobSubject; done?: (state: string) => void }) {
  const actions = useJobActions({ done: (after) => done?.(after.state) });
  return (
    <>
      <Menu label="Actions" items={actions.menu(job, { all: true })}>
        …
      </Menu>
      {actions.dialog}
    </>
  );
}

async function open(job: JobSubject, options: { routes?: Routes; identity?: Identity } = {}) {
  const states: string[] = [];
  const view = renderScreen(<JobMenu job={job} done={(state) => states.push(state)} />, options);
  await view.user.click(screen.getByRole("button", { name: "Actions" }));
  return { ...view, states };
}

test("actions that the state forbids are disabled and say why", async () => {
  await open(aJob({ state: "running", view: "running" }));

  const retry = screen.getByRole("menuitem", { name: /Retry/ });
  expect(retry.getAttribute("aria-disabled")).toBe("true");
  expect(retry.textContent).toContain("It is running; only canceled or dead letter jobs");
  expect(screen.getByRole("menuitem", { name: "Cancel" }).ariaDisabled).not.toBe("true");
});

test("actions that the role may never do are not shown", async () => {
  const identity = {
    kind: "token",
    name: "ada",
    tenant_id: "acme",
    rights: null,
    memberships: [{ tenant_id: "acme", role: "user", rights: ["jobs.read", "jobs.cancel"] }],
  } as unknown as Identity;

  await open(aJob(), { identity });

  expect(screen.getAllByRole("menuitem").map((each) => each.textContent)).toEqual(["Cancel"]);
});

test("a canceled job is queued again by Undo", async () => {
  const { user, requests, states } = await open(aJob(), {
    routes: {
      [`POST /jobs/${ID}/cancel`]: aJob({ state: "canceled", view: "canceled" }),
      [`POST /jobs/${ID}/retry`]: aJob(),
    },
  });

  await user.click(screen.getByRole("menuitem", { name: "Cancel" }));
  await user.click(await screen.findByRole("button", { name: "Undo" }));

  expect(await screen.findByText(/Queued again/)).toBeTruthy();
  expect(requests.map((each) => each.path)).toEqual([`/jobs/${ID}/cancel`, `/jobs/${ID}/retry`]);
  expect(states).toEqual(["canceled", "queued"]);
});

test("a running job is asked to stop, which cannot be undone", async () => {
  const running = aJob({ state: "running", view: "running" });
  const { user } = await open(running, { routes: { [`POST /jobs/${ID}/cancel`]: running } });

  await user.click(screen.getByRole("menuitem", { name: "Cancel" }));

  expect(await screen.findByText(/Asked mail.send 8c1f42d7 to stop/)).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Undo" })).toBeNull();
});

test("a refused action tells what happened and what to do", async () => {
  const { user } = await open(aJob(), {
    routes: {
      [`POST /jobs/${ID}/cancel`]: problem(409, "WL3302", "It cannot be canceled.", {
        hint: "Clone it instead.",
      }),
    },
  });

  await user.click(screen.getByRole("menuitem", { name: "Cancel" }));

  expect(await screen.findByText("It cannot be canceled. Clone it instead.")).toBeTruthy();
});

test("a job is deleted once its id was typed", async () => {
  const { user, requests } = await open(aJob({ state: "completed", view: "completed" }), {
    routes: { [`DELETE /jobs/${ID}`]: () => new Response(null, { status: 204 }) },
  });

  await user.click(screen.getByRole("menuitem", { name: "Delete" }));
  const confirm = await screen.findByRole("button", { name: "Delete it" });
  expect(confirm.hasAttribute("disabled")).toBe(true);
  await user.type(screen.getByRole("textbox"), "8c1f42d7");
  await user.click(confirm);

  expect(await screen.findByText("Deleted mail.send 8c1f42d7.")).toBeTruthy();
  expect(requests.at(-1)?.method).toBe("DELETE");
});

test("only what changed of priority and queue is sent", async () => {
  const { user, requests } = await open(aJob(), {
    routes: {
      "GET /queues": { items: [{ name: "bulk" }], next_cursor: null },
      [`PATCH /jobs/${ID}`]: aJob({ priority: 25 }),
    },
  });

  await user.click(screen.getByRole("menuitem", { name: /Change priority/ }));
  expect((await screen.findByRole("button", { name: "Save" })).hasAttribute("disabled")).toBe(true);
  await user.selectOptions(screen.getByLabelText("Priority"), "25");
  await user.click(screen.getByRole("button", { name: "Save" }));

  expect(await screen.findByText(/^Changed/)).toBeTruthy();
  expect(requests.at(-1)?.body).toEqual({ priority: 25 });
});

test("running now is refused to jobs that wait for others, or are due", () => {
  expect(refusal("run_now", aJob({ state: "pending", view: "waiting" }))).toMatch(/waits for/);
  expect(refusal("run_now", aJob({ state: "pending", view: "waiting", held: true }))).toBe(
    undefined,
  );
  expect(refusal("run_now", aJob())).toMatch(/due already/);
  expect(refusal("run_now", aJob({ view: "scheduled" }))).toBe(undefined);
});
