import { expect, test } from "vitest";
import { parseTrace } from "./traceback";

const TRACE = `Traceback (most recent call last):
  File "/usr/lib/python3.12/asyncio/runners.py", line 118, in run
    return self._loop.run_until_complete(task)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/app/jobs.py", line 7, in send
    charge(card)
ValueError: no card

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/app/jobs.py", line 9, in send
    raise Failed from error
Failed: card 7
`;

test("tells frames of one's own code from those of libraries", () => {
  const [first, between, second, error] = parseTrace(TRACE);

  expect(first).toMatchObject({
    frames: [
      { own: false, name: "run", code: "return self._loop.run_until_complete(task)" },
      { own: true, file: "/app/jobs.py", line: 7, name: "send", code: "charge(card)" },
    ],
  });
  expect(between).toMatchObject({ text: expect.stringContaining("ValueError: no card") });
  expect(second).toMatchObject({ frames: [{ line: 9 }] });
  expect(error).toEqual({ text: "Failed: card 7" });
});

test("leaves text that is no traceback alone", () => {
  expect(parseTrace("sh: 1: not found")).toEqual([{ text: "sh: 1: not found" }]);
});
