import { expect, test } from "vitest";
import { parseAnsi, plainText } from "./ansi";

test("splits a line by its colours", () => {
  expect(parseAnsi("\u001b[1;31mred\u001b[0m and \u001b[48;5;21;4mblue\u001b[49m")).toEqual([
    { text: "red", bold: true, color: 1 },
    { text: " and " },
    { text: "blue", background: 4, underline: true },
  ]);
});

test("maps every colour to one of eight", () => {
  expect(parseAnsi("\u001b[38;2;250;20;240mx")).toEqual([{ text: "x", color: 5 }]);
  expect(parseAnsi("\u001b[38;2;1mx\u001b[999mx")).toEqual([
    { text: "x", color: 0 },
    { text: "x", color: 0 },
  ]);
});

test("shows other escape sequences as text", () => {
  expect(parseAnsi("\u001b]0;title\u0007\u001b[2J\u001b[31")).toEqual([
    { text: "␛]0;title␇␛[2J␛[31" },
  ]);
  expect(plainText("\u001b[31mred\u001b[0m")).toBe("red");
});
