import { screen } from "@testing-library/preact";
import { expect, test } from "vitest";
import { problem, renderScreen } from "@/testing/render_screen";
import Overview from "./overview";

const SUMMARY = {
  queued: 12,
  running: 3,
  views: {
    queued: { count: 12, exact: true },
    running: { count: 3, exact: true },
    retrying: { count: 10_000, exact: false },
    dead_letter: { count: 4, exact: true },
  },
};

test("shows counts by state, and that a count is capped", async () => {
  renderScreen(<Overview />, { routes: { "GET /jobs/summary": SUMMARY } });

  expect(await screen.findByText("10,000+")).toBeTruthy();
  expect(screen.getByText("Dead letter")).toBeTruthy();
});

test("shows what went wrong, the code, and tries again", async () => {
  let broken = true;
  const { user } = renderScreen(<Overview />, {
    routes: {
      "GET /jobs/summary": () =>
        broken ? problem(500, "WL1101", "The database cannot be reached.") : SUMMARY,
    },
  });

  expect(await screen.findByText("The database cannot be reached.")).toBeTruthy();
  expect(screen.getByText(/WL1101/)).toBeTruthy();
  broken = false;
  await user.click(screen.getByRole("button", { name: "Try again" }));

  expect(await screen.findByText("10,000+")).toBeTruthy();
});
