import { expect, test } from "vitest";
import { diffLines } from "./diff";

test("keeps the lines in common", () => {
  expect(diffLines("a\nb\nc", "a\nx\nc\nd").map(({ kind, line }) => kind + line)).toEqual([
    " a",
    "-b",
    "+x",
    " c",
    "+d",
  ]);
});
