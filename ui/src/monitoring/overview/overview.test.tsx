import { screen } from "@testing-library/preact";
import { expect, test } from "vitest";
import { problem, renderScreen } from "@/testing/render_screen";
import Overview from "./overview";

const SUMMARY = {
  queued: 12,
  running: 3,
  dead_letter: 4,
  views: {
    queued: { count: 12, exact: true },
    retrying: { count: 10_000, exact: false },
  },
};
const NONE = { items: [], next_cursor: null };

test("shows counts by state, and that a count is capped", async () => {
  renderScreen(<Overview />, { routes: { "GET /jobs/summary": SUMMARY } });

  expect(await screen.findByText("10,000+")).toBeTruthy();
  expect(screen.getByText("Dead letter", { selector: "a *" })).toBeTruthy();
});

test("one panel's error leaves the others, names its code, and can be tried again", async () => {
  let broken = true;
  const { user } = renderScreen(<Overview />, {
    routes: {
      "GET /jobs/summary": () =>
        broken ? problem(500, "WL1101", "The database cannot be reached.") : SUMMARY,
      "GET /stats/queues": NONE,
      "GET /schedules": NONE,
    },
  });

  expect(await screen.findByText("The database cannot be reached.")).toBeTruthy();
  expect(screen.getByText(/WL1101/)).toBeTruthy();
  expect(await screen.findByText("Healthy")).toBeTruthy();
  broken = false;
  await user.click(screen.getAllByRole("button", { name: "Try again" })[0] as HTMLElement);

  expect(await screen.findByText("10,000+")).toBeTruthy();
});

test("next runs are the five soonest of the enabled schedules", async () => {
  const schedule = (name: string, at: string, enabled = true) => ({
    id: name,
    name,
    definition: "report",
    enabled,
    next_run_at: at,
  });
  renderScreen(<Overview />, {
    routes: {
      "GET /schedules": {
        items: [
          schedule("late", "2030-01-02T00:00:00Z"),
          schedule("off", "2030-01-01T00:00:00Z", false),
          schedule("soon", "2030-01-01T00:00:00Z"),
        ],
      },
    },
  });

  const links = await screen.findAllByRole("link", { name: /late|soon|off/ });
  expect(links.map((link) => link.textContent)).toEqual(["soon", "late"]);
});

test("opens on the first definition with its form filled while there never was a job", async () => {
  const hello = {
    key: "hello",
    title: "hello",
    description: "",
    default_payload: {},
    payload_schema: {
      type: "object",
      properties: { name: { title: "Name", type: "string" } },
      required: ["name"],
    },
  };
  const none = { pending: 0, queued: 0, running: 0, completed: 0, canceled: 0, dead_letter: 0 };
  renderScreen(<Overview />, {
    routes: {
      "GET /jobs/summary": { ...none, views: {} },
      "GET /jobs": NONE,
      "GET /definitions": { items: [hello], next_cursor: null },
    },
  });

  expect((await screen.findByLabelText<HTMLInputElement>("Name")).value).toBe("Ada");
});
