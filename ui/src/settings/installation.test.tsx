import { screen } from "@testing-library/preact";
import { expect, test } from "vitest";
import { problem, renderScreen } from "@/testing/render_screen";
import { Installation } from "./installation";

const SETTINGS = {
  environment: "staging",
  version: "0.9.0",
  development: false,
  authentication: true,
  single_tenant: false,
  database: { kind: "postgresql", version: "15.6" },
  retention: { days: 30, log_days: 1, count: 100_000 },
  redaction: { names: ["iban", "password"], patterns: 1 },
  notifications: [
    { kind: "mail", to: "o…@example.com" },
    { kind: "webhook", to: "https://hooks.example.com/…" },
  ],
};

function shownFor(name: string): string {
  return screen.getByText(name).nextElementSibling?.textContent ?? "";
}

test("shows what holds, each with the key that changes it", async () => {
  renderScreen(<Installation />, { routes: { "GET /settings": SETTINGS } });

  await screen.findByText("Environment");
  expect(shownFor("Environment")).toBe("stagingserver.environment");
  expect(shownFor("Database")).toContain("PostgreSQL 15.6");
  expect(shownFor("Authentication")).toContain("On");
  expect(shownFor("Tenants")).toContain("Several");
  expect(shownFor("Ended jobs are kept")).toContain("30 days, at most 100,000 of each definition");
  expect(shownFor("Ended jobs are kept")).toContain("retention_days");
  expect(shownFor("Log lines are kept")).toContain("1 day");
  expect(shownFor("Redacted values")).toContain("Fields of 2 names, 1 pattern of your own");
  expect(shownFor("Alerts go to")).toContain("Mail o…@example.com");
});

test("a test message goes to each receiver, and tells what failed", async () => {
  const { user, requests } = renderScreen(<Installation />, {
    routes: {
      "GET /settings": SETTINGS,
      "POST /notifications/test": {
        items: [
          { receiver: "mail", sent: true, error: null },
          { receiver: "webhook", sent: false, error: "the webhook answered 500" },
        ],
      },
    },
  });

  await user.click(await screen.findByRole("button", { name: "Send a test message" }));

  expect(await screen.findByText(/mail: sent/)).toBeTruthy();
  expect(screen.getByText(/webhook: not sent, the webhook answered 500/)).toBeTruthy();
  expect(requests.filter((each) => each.method === "POST")).toHaveLength(1);
});

test("without receivers there is nothing to test, and without limits things are kept for ever", async () => {
  renderScreen(<Installation />, {
    routes: {
      "GET /settings": {
        ...SETTINGS,
        notifications: [],
        authentication: false,
        retention: { days: null, log_days: null, count: null },
      },
    },
  });

  await screen.findByText(/only in the server's log/);
  expect(screen.queryByRole("button")).toBeNull();
  expect(shownFor("Ended jobs are kept")).toContain("For ever");
  expect(shownFor("Authentication")).toContain("Off");
});

test("an error leaves a way to try again", async () => {
  renderScreen(<Installation />, {
    routes: { "GET /settings": () => problem(503, "WL3001", "The database does not answer.") },
  });

  expect(
    await screen.findByText("The database does not answer.", {}, { timeout: 10_000 }),
  ).toBeTruthy();
}, 15_000);
