import { expect, test } from "vitest";
import { commandSnippet, curlSnippet, pythonSnippet } from "./snippets";

const CALL = {
  definition: "mail.send",
  payload: { to: "ada@example.com", note: "it's", urgent: true, cc: null },
  tenant: "acme",
  priority: "high",
  delay_seconds: 60,
  dedupe_key: "r:1",
};

test("writes Python's own literals", () => {
  expect(pythonSnippet({ definition: "hello", payload: { name: "Ada" } })).toBe(
    'await wl.enqueue("hello", {"name": "Ada"})',
  );
  expect(pythonSnippet(CALL)).toContain('"urgent": True, "cc": None');
  expect(pythonSnippet(CALL)).toContain('delay="60s"');
  expect(pythonSnippet({ definition: "a", due_at: "2027-01-01T00:00:00Z" })).toContain(
    'from datetime import datetime\n\nawait wl.enqueue("a", {}, at=datetime.fromisoformat("2027-01-01T00:00:00Z"))',
  );
});

test("quotes for the shell, and leaves out what is not given", () => {
  expect(commandSnippet({ definition: "hello", payload: { name: "Ada L" }, queue: null })).toBe(
    "windlass enqueue hello 'name=Ada L'",
  );
  expect(commandSnippet(CALL)).toBe(
    `windlass enqueue mail.send --payload '${JSON.stringify(CALL.payload).replace("'", `'\\''`)}' --tenant acme --priority high --in 60s --dedupe-key r:1`,
  );
  const curl = curlSnippet(
    { definition: "hello", payload: { a: "it's" }, queue: null },
    "http://h",
  );
  expect(curl).toContain("curl -X POST http://h/api/v1/jobs");
  expect(curl).toContain(`-d '{"definition":"hello","payload":{"a":"it'\\''s"}}'`);
});
