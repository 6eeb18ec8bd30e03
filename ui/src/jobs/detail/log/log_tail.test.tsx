import { screen, waitFor } from "@testing-library/preact";
import { expect, test } from "vitest";
import { stream } from "@/api/stream";
import { jobId } from "@/testing/a_job";
import { problem, renderScreen, type SentRequest } from "@/testing/render_screen";
import type { LogLine } from "./log_lines";
import LogTail from "./log_tail";

const JOB = jobId(1);
const LINES = `GET /jobs/${JOB}/logs`;

function aLine(sequence: number, change: Partial<LogLine> = {}): LogLine {
  return {
    job_id: JOB,
    attempt: 1,
    level: "info",
    message: `line number ${sequence}`,
    at: "2026-07-01T10:00:00Z",
    fields: {},
    sequence,
    tenant_id: "default",
    definition: "mail.send",
    ...change,
  };
}

function serve(lines: readonly LogLine[]) {
  return ({ query }: SentRequest) => ({
    items: lines
      .filter((line) => line.sequence > Number(query.get("after")))
      .slice(0, Number(query.get("limit"))),
  });
}

test("reads a long log whole and keeps few of its lines in the document", async () => {
  const many = Array.from({ length: 12_000 }, (_, place) => aLine(place + 1));

  renderScreen(<LogTail job={JOB} running={false} ended />, { routes: { [LINES]: serve(many) } });

  expect(await screen.findByText("12,000")).toBeTruthy();
  expect(screen.getAllByRole("listitem").length).toBeLessThan(80);
});

test("filters by level, text and attempt, and clears the filters", async () => {
  const lines = [
    aLine(1),
    aLine(2, { level: "error", message: "it broke", fields: { card: "visa" } }),
    aLine(3, { attempt: 2, level: "warn", message: "slow" }),
  ];
  const { user } = renderScreen(<LogTail job={JOB} running={false} ended />, {
    routes: { [LINES]: serve(lines) },
  });

  await user.selectOptions(await screen.findByLabelText("Attempt"), "1");
  await user.selectOptions(screen.getByLabelText("Least level"), "warn");
  expect(screen.getAllByRole("listitem")).toHaveLength(1);
  await user.type(screen.getByLabelText("Find in the log"), "VISA");
  expect(screen.getByText("it broke")).toBeTruthy();
  await user.type(screen.getByLabelText("Find in the log"), "x");
  await user.click(screen.getByRole("button", { name: "Clear filters" }));

  expect(screen.getAllByRole("listitem")).toHaveLength(3);
});

test("shows colours as colours and markup as text", async () => {
  const lines = [
    aLine(1, { message: "\u001b[31mred\u001b[0m <img src=x onerror=alert(1)>\u202e" }),
  ];
  const { container } = renderScreen(<LogTail job={JOB} running={false} ended />, {
    routes: { [LINES]: serve(lines) },
  });

  expect(await screen.findByText("red")).toBeTruthy();
  expect(screen.getByText(/<img src=x onerror=alert\(1\)>⟨U\+202E⟩/)).toBeTruthy();
  expect(container.querySelector("img")).toBeNull();
});

test("appends lines that the stream tells, each once", async () => {
  renderScreen(<LogTail job={JOB} running ended={false} />, {
    routes: { [LINES]: serve([aLine(1)]) },
  });
  await screen.findByText("line number 1");
  const tell = (lines: LogLine[]): void => {
    const changes = lines.map((line) => ({ ...line, topic: `log:${JOB}` as const }));
    (stream as unknown as { spread: (changes: unknown[]) => void }).spread(changes);
  };

  tell([aLine(1), aLine(2)]);
  tell([aLine(2), aLine(3)]);

  await waitFor(() => expect(screen.getAllByRole("listitem")).toHaveLength(3));
});

test("unfolds the fields of a line", async () => {
  const { user } = renderScreen(<LogTail job={JOB} running={false} ended />, {
    routes: { [LINES]: serve([aLine(1, { fields: { deep: { er: 1 } } })]) },
  });

  await user.click(await screen.findByRole("button", { name: /deep=/ }));

  expect(screen.getByRole("group", { name: "Fields of line 1" }).textContent).toContain('"er": 1');
});

test("says what went wrong, and why there are no lines", async () => {
  const { unmount } = renderScreen(<LogTail job={JOB} running={false} ended />, {
    routes: { [LINES]: () => problem(403, "WL5201", "You may not read this log.") },
  });
  expect(await screen.findByText("You may not read this log.")).toBeTruthy();
  unmount();

  renderScreen(<LogTail job={JOB} running={false} ended />, { routes: { [LINES]: serve([]) } });

  expect(await screen.findByText("It logged nothing.")).toBeTruthy();
});
