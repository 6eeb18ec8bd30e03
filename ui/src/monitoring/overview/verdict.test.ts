import { expect, test } from "vitest";
import { type QueueFacts, verdictOf } from "./verdict";

const MAIL: QueueFacts = {
  name: "mail",
  queued: 0,
  paused: false,
  oldest_queued_seconds: null,
  workers: 2,
};

test("is healthy while no job waits long", () => {
  expect(verdictOf([{ ...MAIL, queued: 5, oldest_queued_seconds: 3 }], 0).text).toBe("Healthy");
});

test("names the queue that is furthest behind, and its live workers", () => {
  const late = { ...MAIL, queued: 9, oldest_queued_seconds: 240, workers: 0 };
  const verdict = verdictOf([{ ...MAIL, name: "media", oldest_queued_seconds: 90 }, late], 0);

  expect(verdict.level).toBe("bad");
  expect(verdict.text).toBe("mail is 4 min behind: 0 live workers, and 1 more");
});

test("warns of a queue that nobody serves before anything is late", () => {
  const verdict = verdictOf([{ ...MAIL, queued: 2, oldest_queued_seconds: 1, workers: 0 }], 0);

  expect(verdict.text).toBe("mail has 2 queued and no live worker");
});

test("does not call a paused queue late, but says that it is paused", () => {
  const verdict = verdictOf([{ ...MAIL, queued: 7, paused: true, oldest_queued_seconds: 900 }], 0);

  expect(verdict).toMatchObject({ level: "warn", text: "mail is paused with 7 queued" });
});

test("tells a tenant's admin no number of workers that they may not know", () => {
  const verdict = verdictOf([{ ...MAIL, queued: 1, oldest_queued_seconds: 120, workers: null }], 0);

  expect(verdict.text).toBe("mail is 2 min behind");
});

test("counts fresh dead letters when nothing waits", () => {
  expect(verdictOf([MAIL], 3)).toMatchObject({ level: "warn", href: "/dead" });
});
