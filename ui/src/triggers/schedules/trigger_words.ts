import type { Answer, Item } from "@/api/read";
import { durationWords } from "@/parts/values/time";

export type Trigger = Item<"/api/v1/triggers">;
/** A trigger by time, as the list of schedules has it. */
export type Schedule = Item<"/api/v1/schedules">;
export type TriggerAnswer = Answer<"/api/v1/triggers/{id}", "get">;
export type TriggerType = Trigger["type"];
export type Preview = Answer<"/api/v1/schedules/preview", "get">;

export const TYPES: readonly (readonly [TriggerType, string])[] = [
  ["cron", "Cron"],
  ["interval", "Every"],
  ["once", "Once"],
  ["init", "On start"],
  ["event", "On event"],
];

/** How policies read on a schedule. */
export const MISFIRE: readonly (readonly [Trigger["misfire"], string, string])[] = [
  ["fire_once", "Fire once", "If times were missed, it fires once for the latest."],
  ["skip", "Skip", "Missed times are passed by."],
  ["all", "Catch up", "Every missed time is made up for, at most a hundred."],
];
export const OVERLAP: readonly (readonly [Trigger["overlap"], string, string])[] = [
  ["allow", "Allow", "A job is made even if an earlier one has not ended."],
  ["skip", "Skip", "No job is made while an earlier one has not ended."],
  ["queue_one", "Queue one", "While one runs, at most one waits."],
];

/** When a trigger fires, in words that need no server: its type and what belongs to it. */
export function triggerWords(trigger: Trigger): string {
  switch (trigger.type) {
    case "interval":
      return `every ${durationWords(trigger.interval_seconds ?? 0)}`;
    case "once":
      return "once";
    case "init":
      return trigger.run_once ? "at start, until one has completed" : "at each start";
    case "event":
      return `on ${trigger.event_name}`;
    default:
      return trigger.cron ?? "";
  }
}

/** The expression of a trigger, as it was written. */
export function expressionOf(trigger: Trigger): string | null {
  return trigger.cron ?? trigger.event_name ?? null;
}

export function policyWords(trigger: Trigger): string {
  const misfire = MISFIRE.find(([value]) => value === trigger.misfire)?.[1] ?? trigger.misfire;
  const overlap = OVERLAP.find(([value]) => value === trigger.overlap)?.[1] ?? trigger.overlap;
  return `${misfire} · ${overlap}`;
}

/** An offset such as `+05:30` of a zone at a time; empty if the browser does not know the zone. */
export function offsetOf(zone: string, at = new Date()): string {
  try {
    const parts = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
    const name = parts.formatToParts(at).find((part) => part.type === "timeZoneName")?.value ?? "";
    return name.replace("GMT", "") || "+00:00";
  } catch {
    return "";
  }
}

/** The part of an expression that a message names between backticks: where it begins and ends. */
export function offendingPart(text: string, message: string): [number, number] | null {
  const part = /`([^`]+)`/.exec(message)?.[1];
  if (part === undefined) return null;
  const pattern = new RegExp(`(^|[\\s,/-])(${escaped(part)})(?=$|[\\s,/-])`);
  const found = pattern.exec(text);
  const start = found ? found.index + (found[1]?.length ?? 0) : text.indexOf(part);
  return start < 0 ? null : [start, start + part.length];
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
