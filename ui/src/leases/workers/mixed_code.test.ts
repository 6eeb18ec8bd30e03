import { expect, test } from "vitest";
import { mixedCode } from "./mixed_code";

const worker = (id: string, code: string, more = {}) => ({
  id,
  code,
  liveness: "live",
  version: "1.0",
  definitions: ["mail.send"],
  ...more,
});

test("warns when live workers of the same definitions run different code", () => {
  expect(mixedCode([worker("a", "aaa"), worker("b", "bbb"), worker("c", "bbb")])).toContain(
    "1.0 aaa on 1, 1.0 bbb on 2",
  );
});

test("is silent for workers of other definitions, and for those that are gone", () => {
  const other = worker("b", "bbb", { definitions: ["media.resize"] });

  expect(mixedCode([worker("a", "aaa"), other, worker("c", "ccc", { liveness: "lost" })])).toBe("");
});
