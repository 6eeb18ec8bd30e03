import { screen, waitFor, within } from "@testing-library/preact";
import { expect, test } from "vitest";
import { problem, renderScreen, type SentRequest } from "@/testing/render_screen";
import ScheduleList from "./schedule_list";
import SchedulePage from "./schedule_page";
import { offendingPart } from "./trigger_words";

const NIGHTLY = {
  id: "01a1f618-f9e9-75a7-9d87-dc00edf6543c",
  tenant_id: "default",
  name: "nightly",
  type: "cron",
  definition: "report",
  payload: {},
  enabled: true,
  cron: "0 2 * * 1-5",
  interval_seconds: null,
  at: null,
  timezone: "Europe/Berlin",
  misfire: "fire_once",
  overlap: "skip",
  run_once: false,
  event_name: null,
  condition: null,
  delay_seconds: null,
  dedupe_window_seconds: null,
  dedupe_key: null,
  max_attempts: null,
  origin: "code",
  edited: ["cron"],
  code: { cron: "0 3 * * 1-5" },
  missing_from_code: false,
  next_run_at: "2027-01-04T01:00:00Z",
  last_run_at: null,
  last_job_id: null,
  last_error: null,
  last_error_at: null,
  created_by: null,
  updated_at: "2026-11-19T00:00:00Z",
};
const PACK = {
  ...NIGHTLY,
  id: "01a1f618-f9fc-7322-813e-6e00acc8a7f7",
  name: "pack",
  type: "event",
  cron: null,
  event_name: "order.paid",
  edited: [],
  next_run_at: null,
};
const REPORT = {
  key: "report",
  payload_schema: {
    type: "object",
    properties: { day: { type: "string", title: "Day" } },
    required: ["day"],
  },
};
const RUNS = [4, 5, 6, 7, 8].map((day) => ({
  at: `2027-01-0${day}T01:00:00Z`,
  local: `Mon 2027-01-0${day} 02:00 CET`,
  note: "",
}));

function preview({ query }: SentRequest) {
  const cron = query.get("cron") ?? "";
  if (cron.startsWith("61"))
    return problem(422, "WL4401", `"${cron}" is not a cron expression.`, {
      errors: [{ pointer: "/cron", message: "`61` is not a minute, use 0–59" }],
    });
  const warnings = cron === "* * * * *" ? ["It fires once a minute."] : [];
  return { words: `words of ${cron}`, timezone: "Europe/Berlin", runs: RUNS, warnings };
}

/** Accepts a schedule whose payload has a day. */
function save({ body, query }: SentRequest) {
  const { payload, name } = body as { payload: { day?: string }; name: string };
  if (!payload.day)
    return problem(422, "WL2004", "payload is not valid.", {
      errors: [{ pointer: "/payload/day", message: "required" }],
    });
  return { ...NIGHTLY, name, id: query.has("dry_run") ? null : "new", warnings: [] };
}

const ROUTES = {
  "GET /schedules": { items: [NIGHTLY], next_cursor: null },
  "GET /triggers": { items: [PACK], next_cursor: null },
  "GET /definitions": { items: [REPORT], next_cursor: null },
  "GET /schedules/preview": preview,
  "POST /triggers": save,
};

test("lists schedules in words, with what was edited, and events in a tab", async () => {
  const { user } = renderScreen(<ScheduleList />, { routes: ROUTES });

  expect(await screen.findByText("words of 0 2 * * 1-5")).toBeTruthy();
  expect(screen.getByText("Edited here: cron")).toBeTruthy();
  expect(screen.getByText("Fire once · Skip")).toBeTruthy();
  await user.click(screen.getByRole("tab", { name: "By event" }));
  expect(await screen.findByText("order.paid")).toBeTruthy();
});

test("creates a schedule: the preview follows, and what is wrong keeps it back", async () => {
  const { user, requests } = renderScreen(<ScheduleList />, { routes: ROUTES });
  await user.click(await screen.findByRole("button", { name: "New…" }));
  const dialog = within(await screen.findByRole("dialog"));

  await user.type(dialog.getByLabelText("Name"), "daily");
  await waitFor(() => expect(dialog.getByRole("option", { name: "report" })).toBeTruthy());
  await user.selectOptions(dialog.getByLabelText("Definition"), "report");
  const cron = dialog.getByLabelText("Cron expression");
  await user.clear(cron);
  await user.type(cron, "0 5 * * *");
  expect(await dialog.findByText("“words of 0 5 * * *”")).toBeTruthy();
  expect(dialog.getAllByText(/CET/).length).toBe(5);
  expect(dialog.getAllByText("+1 d").length).toBe(4);

  await user.clear(cron);
  await user.type(cron, "61 5 * * *");
  expect(await dialog.findByText("`61` is not a minute, use 0–59")).toBeTruthy();
  expect(dialog.getByText("61").tagName).toBe("MARK");
  expect(dialog.getByText("This is what it was before the last change.")).toBeTruthy();
  const button = dialog.getByRole<HTMLButtonElement>("button", { name: "Save" });
  expect(button.disabled).toBe(true);

  await user.clear(cron);
  await user.type(cron, "* * * * *");
  expect(await dialog.findByText(/It fires once a minute/)).toBeTruthy();
  await user.click(button);
  await waitFor(() => expect(dialog.getByText("required")).toBeTruthy());
  await user.type(dialog.getByLabelText("Day"), "monday");
  await user.click(button);

  expect(await screen.findByText("daily is saved.")).toBeTruthy();
  const sent = requests.filter((each) => each.method === "POST" && !each.query.has("dry_run"));
  expect(sent.at(-1)?.body).toMatchObject({
    name: "daily",
    type: "cron",
    definition: "report",
    cron: "* * * * *",
    payload: { day: "monday" },
  });
});

test("finds a zone by city and by offset", async () => {
  const { user, requests } = renderScreen(<ScheduleList />, { routes: ROUTES });
  await user.click(await screen.findByRole("button", { name: "New…" }));
  const dialog = within(await screen.findByRole("dialog"));

  const zone = dialog.getByRole("combobox", { name: "Time zone" });
  await user.type(zone, "tokyo");
  await user.keyboard("{Enter}");
  expect((zone as HTMLInputElement).value).toBe("Asia/Tokyo");
  await waitFor(() => expect(requests.at(-1)?.query.get("timezone")).toBe("Asia/Tokyo"));
  await user.clear(zone);
  await user.type(zone, "+5:45");
  expect(dialog.getByRole("option", { name: /Kat[h]?mandu/ })).toBeTruthy();
});

test("edits only what was changed", async () => {
  const { user, requests } = renderScreen(<ScheduleList />, {
    routes: { ...ROUTES, [`PATCH /triggers/${NIGHTLY.id}`]: { ...NIGHTLY, warnings: [] } },
  });
  await user.click(await screen.findByRole("button", { name: "Actions on nightly" }));
  await user.click(screen.getByRole("menuitem", { name: "Edit…" }));
  const dialog = within(await screen.findByRole("dialog"));
  expect(dialog.getByText("Nothing is changed.")).toBeTruthy();

  await user.clear(dialog.getByLabelText("Cron expression"));
  await user.type(dialog.getByLabelText("Cron expression"), "0 4 * * *");
  await user.click(dialog.getByRole("button", { name: "Save" }));

  expect(await screen.findByText("nightly is saved.")).toBeTruthy();
  const sent = requests.filter((each) => each.method === "PATCH" && !each.query.has("dry_run"));
  expect(sent.map((each) => each.body)).toEqual([{ cron: "0 4 * * *" }]);
});

test("deletes after its name was typed", async () => {
  const { user, requests } = renderScreen(<ScheduleList />, {
    routes: {
      ...ROUTES,
      [`DELETE /triggers/${NIGHTLY.id}`]: () => new Response(null, { status: 204 }),
    },
  });
  await user.click(await screen.findByRole("button", { name: "Actions on nightly" }));
  await user.click(screen.getByRole("menuitem", { name: "Delete…" }));
  const button = await screen.findByRole<HTMLButtonElement>("button", { name: "Delete" });
  expect(button.disabled).toBe(true);

  await user.type(screen.getByLabelText(/Type/), "nightly");
  await user.click(button);

  expect(await screen.findByText("nightly is deleted.")).toBeTruthy();
  expect(requests.some((each) => each.method === "DELETE")).toBe(true);
});

test("disables a schedule, and undoes it", async () => {
  const { user, requests } = renderScreen(<ScheduleList />, {
    routes: {
      ...ROUTES,
      [`POST /triggers/${NIGHTLY.id}/disable`]: NIGHTLY,
      [`POST /triggers/${NIGHTLY.id}/enable`]: NIGHTLY,
    },
  });
  await user.click(await screen.findByRole("switch", { name: "nightly enabled" }));
  await user.click(await screen.findByRole("button", { name: "Undo" }));

  await waitFor(() => expect(requests.some((each) => each.path.endsWith("/enable"))).toBe(true));
});

test("tests a trigger against a past event", async () => {
  const { user, requests } = renderScreen(<ScheduleList />, {
    at: "/schedules?show=event",
    routes: {
      ...ROUTES,
      "GET /events": { items: [{ id: "e-12345678", created_at: "2026-11-19T00:00:00Z" }] },
      [`POST /triggers/${PACK.id}/test`]: {
        matches: true,
        because: "",
        payload: { order: 7 },
        error: null,
      },
    },
  });
  await user.click(await screen.findByRole("button", { name: "Actions on pack" }));
  await user.click(screen.getByRole("menuitem", { name: "Test…" }));
  await waitFor(() => expect(screen.getByRole("option", { name: /12345678/ })).toBeTruthy());
  await user.selectOptions(screen.getByLabelText("Event"), "e-12345678");
  await user.click(screen.getByRole("button", { name: "Test" }));

  expect(await screen.findByText(/would make a job/)).toBeTruthy();
  expect(requests.at(-1)?.body).toEqual({ event_id: "e-12345678" });
});

test("a schedule's page shows its last error and its jobs", async () => {
  const failing = {
    ...NIGHTLY,
    last_error: "the payload does not fit",
    warnings: ["It overlaps."],
  };
  const { requests } = renderScreen(<SchedulePage />, {
    at: `/schedules/${NIGHTLY.id}`,
    pattern: "/schedules/:id",
    routes: {
      ...ROUTES,
      [`GET /triggers/${NIGHTLY.id}`]: failing,
      "GET /jobs": { items: [], next_cursor: null },
    },
  });

  expect(await screen.findByText(/the payload does not fit/)).toBeTruthy();
  expect(screen.getByText(/It overlaps/)).toBeTruthy();
  expect(await screen.findByText("0 3 * * 1-5")).toBeTruthy();
  await waitFor(() =>
    expect(requests.some((each) => each.query.get("q") === `trigger:${NIGHTLY.id}`)).toBe(true),
  );
});

test("finds the part of an expression that a message is about", () => {
  expect(offendingPart("1 61 * * *", "`61` is not an hour")).toEqual([2, 4]);
  expect(offendingPart("161 61 * * *", "`61` is not an hour")).toEqual([4, 6]);
  expect(offendingPart("0 2 31 2 *", "February has no day 31")).toBeNull();
});
