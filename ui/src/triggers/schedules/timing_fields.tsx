import { DurationField } from "@/parts/forms/duration_field";
import { Switch, TextField } from "@/parts/forms/fields";
import { FormContext } from "@/parts/forms/schema_form/form_context";
import { JsonField } from "@/parts/forms/schema_form/json_field";
import { useLens } from "@/shell/lens";
import type { ScheduleForm } from "./schedule_form";
import { offendingPart } from "./trigger_words";
import { ZonePicker } from "./zone_picker";

const EXAMPLES = [
  ["0 2 * * *", "each day at 02:00"],
  ["0 9 * * 1-5", "weekdays at 09:00"],
  ["*/15 * * * *", "every 15 minutes"],
  ["0 0 1 * *", "each first of a month"],
] as const;

/** The fields that say when it fires, by its type. */
export function TimingFields({
  form,
  put,
  error,
  zone,
}: {
  form: ScheduleForm;
  put: (change: Partial<ScheduleForm>) => void;
  error: (pointer: string) => string | undefined;
  /** Zone that holds if none is chosen. */
  zone: string;
}) {
  const { single } = useLens();
  const picker = (
    <ZonePicker
      value={form.timezone}
      change={(timezone) => put({ timezone })}
      error={error("/timezone")}
      {...(form.timezone === "" && {
        hint: `${single ? "The default" : "The tenant's"}${zone ? `: ${zone}` : ""}`,
      })}
    />
  );
  switch (form.type) {
    case "cron":
      return (
        <>
          <TextField
            label="Cron expression"
            hint="minute hour day month weekday"
            className="input mono"
            autoComplete="off"
            spellCheck={false}
            value={form.cron}
            change={(cron) => put({ cron })}
            error={error("/cron")}
          />
          <Offending text={form.cron} message={error("/cron")} />
          <p className="flex flex-wrap gap-1">
            {EXAMPLES.map(([cron, words]) => (
              <button
                key={cron}
                type="button"
                className="button min-h-6 px-2 text-[12px] font-normal"
                onClick={() => put({ cron })}
              >
                {words}
              </button>
            ))}
          </p>
          {picker}
        </>
      );
    case "interval":
      return (
        <DurationField
          label="Every"
          seconds={form.interval_seconds}
          change={(interval_seconds) => put({ interval_seconds })}
          error={error("/interval_seconds")}
        />
      );
    case "once":
      return (
        <>
          <TextField
            label="At"
            type="datetime-local"
            hint={`In ${Intl.DateTimeFormat().resolvedOptions().timeZone} time`}
            value={form.at}
            change={(at) => put({ at })}
            error={error("/at")}
          />
          {picker}
        </>
      );
    case "init":
      return (
        <Switch
          label="Only until one has completed"
          checked={form.run_once}
          change={(run_once) => put({ run_once })}
        />
      );
    case "event":
      return (
        <>
          <TextField
            label="Event"
            hint="Name of the event, for example order.paid"
            autoComplete="off"
            value={form.event_name}
            change={(event_name) => put({ event_name })}
            error={error("/event_name")}
          />
          <FormContext
            value={{
              root: {},
              templates: false,
              touch: () => {},
              problems: error("/condition")
                ? [{ pointer: "/condition", message: error("/condition") ?? "" }]
                : [],
            }}
          >
            <JsonField
              label="Condition"
              aside="optional"
              hint={'Fields of the event\'s data, for example {"kind": {"in": ["photos"]}}'}
              value={form.condition}
              change={(condition) => put({ condition: condition as ScheduleForm["condition"] })}
              pointer="/condition"
              rows={3}
            />
          </FormContext>
        </>
      );
  }
}

/** The expression with the part that cannot be read marked in it. */
function Offending({ text, message }: { text: string; message: string | undefined }) {
  const part = message === undefined ? null : offendingPart(text, message);
  if (part === null) return null;
  const [start, end] = part;
  return (
    <p className="mono" role="note" aria-label={`Cannot be read: ${text.slice(start, end)}`}>
      {text.slice(0, start)}
      <mark className="rounded bg-danger-soft px-0.5 font-bold text-danger underline decoration-wavy">
        {text.slice(start, end)}
      </mark>
      {text.slice(end)}
    </p>
  );
}
