import { expect, test } from "vitest";
import { durationWords, relativeWords } from "./time";

test.each([
  [0.82, "820 ms"],
  [3.46, "3.4 s"],
  [42, "42 s"],
  [125, "2 min 5 s"],
  [3_600 * 3 + 1_200, "3 h 20 min"],
  [86_400 * 40, "40 d"],
])("says %s seconds as %s", (seconds, words) => {
  expect(durationWords(seconds)).toBe(words);
});

test("tells how far an instant is away", () => {
  expect(relativeWords(60_000, 300_000)).toBe("4 min ago");
  expect(relativeWords(7_200_000, 0)).toBe("in 2 h");
  expect(relativeWords(400, 0)).toBe("now");
});
