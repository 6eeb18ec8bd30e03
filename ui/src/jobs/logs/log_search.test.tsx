import { screen, waitFor } from "@testing-library/preact";
import { expect, test } from "vitest";
import { jobId } from "@/testing/a_job";
import { problem, type Routes, renderScreen } from "@/testing/render_screen";
import LogSearch from "./log_search";

function line(sequence: number, message: string) {
  return {
    job_id: jobId(1),
    attempt: 1,
    level: "error",
    message,
    at: "2026-07-01T10:00:00Z",
    fields: { row: 17 },
    sequence,
    tenant_id: "acme",
    definition: "rows.import",
  };
}

const VOLUME = {
  since: "2026-07-01T00:00:00Z",
  until: "2026-07-01T12:00:00Z",
  slot_seconds: 3600,
  total: 3,
  exact: true,
  points: Array.from({ length: 12 }, (_, hour) => ({
    at: `2026-07-01T${String(hour).padStart(2, "0")}:00:00Z`,
    debug: 0,
    info: 0,
    warn: 0,
    error: hour === 11 ? 3 : 0,
  })),
};

function routes(logs: unknown, more: Routes = {}): Routes {
  return {
    "GET /logs": logs,
    "GET /logs/volume": VOLUME,
    "GET /definitions": { items: [{ key: "rows.import" }], next_cursor: null },
    ...more,
  };
}

function page(...items: unknown[]) {
  return { items, next_cursor: null };
}

test("a line leads to its place in the job's log", async () => {
  renderScreen(<LogSearch />, { at: "/logs", routes: routes(page(line(7, "no name"))) });

  const link = await screen.findByRole("link", { name: "no name" });

  expect(link.getAttribute("href")).toBe(`/jobs/${jobId(1)}#line-7`);
  expect(screen.getByText("row=17", { exact: false })).toBeTruthy();
});

test("words, level and definition are searched for, and stand in the address", async () => {
  const { user, requests } = renderScreen(<LogSearch />, {
    at: "/logs",
    routes: routes(page(line(7, "no name"))),
  });

  await user.type(await screen.findByLabelText("Words in the line"), "no name{Enter}");
  await user.selectOptions(screen.getByLabelText("Least level"), "warn");
  await user.selectOptions(screen.getByLabelText("Definition"), "rows.import");

  await waitFor(() => {
    const sent = requests.findLast((each) => each.path === "/logs")?.query;
    expect(sent?.get("words")).toBe("no name");
    expect(sent?.get("level")).toBe("warn");
    expect(sent?.get("definition")).toBe("rows.import");
  });
  expect(location.search).toContain("words=no+name");
});

test("a slot of the histogram narrows the search by keyboard", async () => {
  const { user, requests } = renderScreen(<LogSearch />, {
    at: "/logs",
    routes: routes(page(line(7, "no name"))),
  });
  const slots = await screen.findByRole("slider");
  expect(slots.getAttribute("aria-valuetext")).toContain("3 error");

  slots.focus();
  await user.keyboard("{ArrowLeft}{Enter}");

  await waitFor(() =>
    expect(requests.findLast((each) => each.path === "/logs")?.query.get("since")).toBe(
      "2026-07-01T10:00:00.000Z",
    ),
  );
  expect(screen.getByRole("button", { name: /Live tail/ }).hasAttribute("disabled")).toBe(true);
});

test("with live tail new lines come before the others", async () => {
  let now = page(line(1, "first"));
  const { user } = renderScreen(<LogSearch />, { at: "/logs", routes: routes(() => now) });
  await screen.findByRole("link", { name: "first" });

  now = page(line(2, "second"), line(1, "first"));
  await user.click(screen.getByRole("button", { name: /Live tail/ }));

  await screen.findByRole("link", { name: "second" });
  const links = screen.getAllByRole("link").map((each) => each.textContent);
  expect(links).toEqual(["second", "first"]);
});

test("nothing found can be widened, and an error is told", async () => {
  const { user } = renderScreen(<LogSearch />, {
    at: "/logs?words=nowhere",
    routes: routes((sent: { query: URLSearchParams }) =>
      sent.query.has("words") ? page() : problem(503, "WL1101", "The database cannot be reached."),
    ),
  });

  await screen.findByText("No line matches in this time.");
  await user.click(screen.getAllByRole("button", { name: "Clear filters" })[0] as HTMLElement);

  expect(await screen.findByText("The database cannot be reached.")).toBeTruthy();
});
