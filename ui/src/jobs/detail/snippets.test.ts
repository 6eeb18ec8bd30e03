import { expect, test } from "vitest";
import { aWholeJob } from "@/testing/a_job";
import { asCommand, asCurl, asPython, incidentSummary, shellQuoted } from "./snippets";

const JOB = aWholeJob({
  payload: { to: "it's; rm -rf /", cc: null, now: true },
  last_error: "has ``` in it",
});

test("quotes what a shell would read", () => {
  expect(shellQuoted("a'b; $(c)")).toBe("'a'\\''b; $(c)'");
  expect(asCommand(JOB)).toBe(
    `windlass --tenant default enqueue mail.send --queue mail --payload '{"to":"it'\\''s; rm -rf /","cc":null,"now":true}'`,
  );
  expect(asCurl(JOB)).toContain('-H "Authorization: Bearer $WINDLASS_TOKEN"');
});

test("writes Python literals", () => {
  expect(asPython(JOB)).toContain(`{"to": "it's; rm -rf /", "cc": None, "now": True}`);
});

test("fences an error that has fences of its own", () => {
  expect(incidentSummary(JOB)).toContain("````\nhas ``` in it\n````");
});
