import { expect, test } from "vitest";
import { asCsv, asJsonLines } from "./files";

test("CSV quotes what needs it, and disarms formulas", () => {
  const text = asCsv([
    { id: "a", error: 'said "no", twice', count: -3, fields: { row: 17 } },
    { id: "=1+1", error: null, late: true },
  ]);

  expect(text).toBe(
    'id,error,count,fields,late\r\na,"said ""no"", twice",-3,"{""row"":17}",\r\n\'=1+1,,,,true\r\n',
  );
});

test("JSON lines are one entry each", () => {
  expect(asJsonLines([{ id: "a" }, { id: "b" }])).toBe('{"id":"a"}\n{"id":"b"}\n');
});
