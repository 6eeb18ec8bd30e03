import { given } from "@/parts/code/snippets";
import type { PreviewQuery } from "./preview";
import type { Trigger, TriggerType } from "./trigger_words";

/** What the dialog holds: every field of every type, so that a change of tab loses nothing. */
export interface ScheduleForm {
  name: string;
  type: TriggerType;
  definition: string;
  tenant: string;
  cron: string;
  interval_seconds: number | null;
  at: string;
  run_once: boolean;
  event_name: string;
  condition: Record<string, unknown> | undefined;
  timezone: string;
  misfire: Trigger["misfire"];
  overlap: Trigger["overlap"];
  payload: unknown;
  delay_seconds: number | null;
  dedupe_key: string;
  dedupe_window_seconds: number | null;
}

export const NEW: ScheduleForm = {
  name: "",
  type: "cron",
  definition: "",
  tenant: "",
  cron: "0 2 * * *",
  interval_seconds: 900,
  at: "",
  run_once: true,
  event_name: "",
  condition: undefined,
  timezone: "",
  misfire: "fire_once",
  overlap: "allow",
  payload: {},
  delay_seconds: null,
  dedupe_key: "",
  dedupe_window_seconds: null,
};

export function formOf(trigger: Trigger): ScheduleForm {
  return {
    ...NEW,
    name: trigger.name,
    type: trigger.type,
    definition: trigger.definition,
    tenant: trigger.tenant_id,
    cron: trigger.cron ?? NEW.cron,
    interval_seconds: trigger.interval_seconds ?? NEW.interval_seconds,
    at: trigger.at ? localText(trigger.at) : "",
    run_once: trigger.type === "init" ? trigger.run_once : true,
    event_name: trigger.event_name ?? "",
    condition: trigger.condition ?? undefined,
    timezone: trigger.timezone,
    misfire: trigger.misfire,
    overlap: trigger.overlap,
    payload: trigger.payload,
    delay_seconds: trigger.delay_seconds,
    dedupe_key: trigger.dedupe_key ?? "",
    dedupe_window_seconds: trigger.dedupe_window_seconds,
  };
}

/** Fields that say when it fires, by type. */
function timing(form: ScheduleForm): Record<string, unknown> {
  const zoned = { timezone: form.timezone || null };
  switch (form.type) {
    case "cron":
      return { cron: form.cron, ...zoned };
    case "interval":
      return { interval_seconds: form.interval_seconds };
    case "once":
      return { at: instant(form.at), ...zoned };
    case "init":
      return { run_once: form.run_once };
    case "event":
      return { event_name: form.event_name, condition: form.condition ?? null };
  }
}

function options(form: ScheduleForm): Record<string, unknown> {
  const byTime = form.type !== "event" && form.type !== "init";
  return {
    name: form.name,
    payload: form.payload ?? {},
    ...timing(form),
    ...(byTime && { misfire: form.misfire }),
    ...(form.type !== "event" && { overlap: form.overlap }),
    delay_seconds: form.delay_seconds,
    dedupe_key: form.dedupe_key || null,
    dedupe_window_seconds: form.dedupe_window_seconds,
  };
}

/** The body that creates it. */
export function newBody(form: ScheduleForm): Record<string, unknown> {
  const { name, definition, tenant, type } = form;
  return { name, definition, type, ...given({ ...options(form), tenant }) };
}

/** The body that changes it: only what differs, so that the rest goes on following the code. */
export function editBody(form: ScheduleForm, before: ScheduleForm): Record<string, unknown> {
  const [was, is] = [options(before), options(form)];
  const changed = Object.entries(is).filter(
    ([name, value]) => JSON.stringify(value ?? null) !== JSON.stringify(was[name] ?? null),
  );
  return {
    ...(form.type !== before.type && { type: form.type }),
    ...Object.fromEntries(changed),
  };
}

/** What the preview is asked for; null where there are no dates to show. */
export function previewQuery(form: ScheduleForm): PreviewQuery | null {
  const shared = {
    timezone: form.timezone,
    dedupe_window_seconds: form.dedupe_window_seconds,
    tenant: form.tenant,
  };
  switch (form.type) {
    case "cron":
      return { cron: form.cron, ...given(shared) };
    case "interval":
      return form.interval_seconds === null
        ? null
        : { interval_seconds: form.interval_seconds, ...given(shared) };
    case "once": {
      const at = instant(form.at);
      return at === null ? null : { at, ...given(shared) };
    }
    default:
      return null;
  }
}

/** What a typed local time means as an instant; null if it is none. */
function instant(text: string): string | null {
  const at = new Date(text);
  return text && !Number.isNaN(at.getTime()) ? at.toISOString() : null;
}

function localText(at: string): string {
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}
