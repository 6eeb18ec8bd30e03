import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { refresh, useRead, write } from "@/api/read";
import { useSession } from "@/api/session";
import { Dialog } from "@/parts/dialogs/dialog";
import { showToast } from "@/parts/dialogs/toasts";
import { DurationField } from "@/parts/forms/duration_field";
import { Field, SelectField, TextField } from "@/parts/forms/fields";
import { useDryRun } from "@/parts/forms/schema_form/dry_run";
import { emptyValue } from "@/parts/forms/schema_form/schema";
import { SchemaForm } from "@/parts/forms/schema_form/schema_form";
import { useSubmit } from "@/parts/forms/submit";
import { ErrorState } from "@/parts/panels/panel";
import { Tabs } from "@/parts/panels/tabs";
import { useLens } from "@/shell/lens";
import { PreviewPanel, usePreview } from "./preview";
import { editBody, formOf, NEW, newBody, previewQuery, type ScheduleForm } from "./schedule_form";
import { TimingFields } from "./timing_fields";
import { MISFIRE, OVERLAP, type Trigger, TYPES } from "./trigger_words";

/** Creates a schedule or trigger, or changes one; shows what it means while it is typed. */
export function ScheduleDialog({
  trigger,
  like,
  definition = "",
  close,
}: {
  /** The one to change. */
  trigger?: Trigger;
  /** The one that a new one begins as. */
  like?: Trigger;
  /** Definition of a new one. */
  definition?: string;
  close: () => void;
}) {
  const client = useQueryClient();
  const session = useSession();
  const lens = useLens();
  const [before] = useState<ScheduleForm>(() =>
    trigger
      ? formOf(trigger)
      : like
        ? { ...formOf(like), name: `${like.name} copy` }
        : { ...NEW, definition, tenant: lens.tenant ?? "" },
  );
  const [form, setForm] = useState(before);
  const put = (change: Partial<ScheduleForm>): void => setForm((now) => ({ ...now, ...change }));
  const definitions = useRead("/api/v1/definitions", { params: { query: { limit: 500 } } });
  const chosen = definitions.data?.items.find((each) => each.key === form.definition);
  const body = trigger ? editBody(form, before) : newBody(form);
  const complete = form.definition !== "" && (form.type !== "event" || form.event_name !== "");
  const changed = !trigger || Object.keys(body).length > 0;
  const send = (dry: boolean, signal?: AbortSignal) =>
    trigger
      ? write("patch", "/api/v1/triggers/{id}", {
          params: { path: { id: trigger.id }, query: dry ? { dry_run: true } : {} },
          body,
          signal,
        })
      : write("post", "/api/v1/triggers", {
          params: { query: dry ? { dry_run: true } : {} },
          body,
          signal,
        });
  const key = JSON.stringify(body);
  const [tried, setTried] = useState<string | null>(null);
  const checked = useDryRun(body, (signal) => send(true, signal), {
    enabled: complete && changed && form.name.trim() !== "",
  });
  const preview = usePreview(previewQuery(form));
  const submission = useSubmit(async () => {
    setTried(key);
    const saved = await send(false);
    refresh(client);
    showToast({ text: `${saved.name} is saved.` });
    close();
  });
  const refused = tried === key ? submission.problem : null;
  const problem = refused ?? checked.problem;
  const errors = (problem?.errors ?? []).map((each) =>
    // A template's pointers begin at the payload.
    problem?.code === "WL4501" ? { ...each, pointer: `/payload${each.pointer}` } : each,
  );
  const error = (pointer: string): string | undefined =>
    preview.problem?.field(pointer) ??
    preview.problem?.field(`?${pointer.slice(1)}`) ??
    errors.find((each) => each.pointer === pointer)?.message;
  const ready = complete && changed && form.name.trim() !== "" && preview.problem === null;
  const elsewhere =
    preview.problem === null &&
    (errors.length === 0 || errors.some(({ pointer }) => !SHOWN.test(pointer)));
  const schema = chosen?.payload_schema;
  return (
    <Dialog title={trigger ? `Edit ${trigger.name}` : "New schedule or trigger"} close={close} wide>
      <form onSubmit={submission.submit} className="space-y-4">
        <div className="grid gap-3 sm:grid-cols-2">
          <TextField
            label="Name"
            required
            autoComplete="off"
            value={form.name}
            change={(name) => put({ name })}
            error={error("/name")}
          />
          {trigger ? (
            <Field label="Definition">
              {(attributes) => (
                <input {...attributes} className="input" readOnly value={form.definition} />
              )}
            </Field>
          ) : (
            <SelectField
              label="Definition"
              value={form.definition}
              change={(next) => {
                const found = definitions.data?.items.find((each) => each.key === next);
                const of = found?.payload_schema ?? {};
                put({ definition: next, payload: emptyValue(of, of) ?? {} });
              }}
              options={[
                ["", "Choose…"],
                ...(definitions.data?.items ?? []).map((each) => [each.key, each.key] as const),
              ]}
              error={error("/definition")}
            />
          )}
          {!trigger && !lens.single && (
            <SelectField
              label="Tenant"
              value={form.tenant}
              change={(tenant) => put({ tenant })}
              options={[
                ["", session.identity.tenant_id ?? "default"],
                ...lens.tenants.map((each) => [each, each] as const),
              ]}
              error={error("/tenant")}
            />
          )}
        </div>
        <div className="grid gap-4 lg:grid-cols-[minmax(0,1fr)_minmax(0,1.2fr)]">
          <Tabs label="Fires" tabs={TYPES} chosen={form.type} choose={(type) => put({ type })}>
            <div className="space-y-3">
              <TimingFields
                form={form}
                put={put}
                error={error}
                zone={preview.preview?.timezone ?? ""}
              />
            </div>
          </Tabs>
          <PreviewPanel state={preview} words={wordsWithout(form)} />
        </div>
        <details open={form.overlap !== NEW.overlap || form.dedupe_window_seconds !== null}>
          <summary className="min-h-6 font-medium">Missed times, overlap and duplicates</summary>
          <div className="mt-2 grid gap-3 sm:grid-cols-2">
            {form.type !== "event" && form.type !== "init" && (
              <SelectField
                label="Missed times"
                value={form.misfire}
                change={(misfire) => put({ misfire: misfire as ScheduleForm["misfire"] })}
                options={MISFIRE.map(([value, label]) => [value, label] as const)}
                hint={MISFIRE.find(([value]) => value === form.misfire)?.[2]}
                error={error("/misfire")}
              />
            )}
            {form.type !== "event" && (
              <SelectField
                label="Overlap"
                value={form.overlap}
                change={(overlap) => put({ overlap: overlap as ScheduleForm["overlap"] })}
                options={OVERLAP.map(([value, label]) => [value, label] as const)}
                hint={OVERLAP.find(([value]) => value === form.overlap)?.[2]}
                error={error("/overlap")}
              />
            )}
            <DurationField
              label="Delay"
              hint="From the due time or event to the job's due time."
              seconds={form.delay_seconds}
              change={(delay_seconds) => put({ delay_seconds })}
              error={error("/delay_seconds")}
            />
            <TextField
              label="Dedupe key"
              hint="A template, for example folder {{event.path}}: one open job per key."
              autoComplete="off"
              value={form.dedupe_key}
              change={(dedupe_key) => put({ dedupe_key })}
              error={error("/dedupe_key")}
            />
            <DurationField
              label="Dedupe window"
              hint="For so long after one was made, an equal job is left out."
              seconds={form.dedupe_window_seconds}
              change={(dedupe_window_seconds) => put({ dedupe_window_seconds })}
              error={error("/dedupe_window_seconds")}
            />
          </div>
        </details>
        {schema && (
          <section aria-label="Payload of its jobs" className="border-t border-line pt-3">
            <h3 className="mb-1">Payload of its jobs</h3>
            {form.type === "event" && (
              <p className="mb-2 text-[13px] text-muted">
                Fields may be templates: <code>{"{{event.path}}"}</code> is the field{" "}
                <code>path</code> of the event's data.
              </p>
            )}
            <SchemaForm
              schema={schema}
              value={form.payload}
              change={(payload) => put({ payload })}
              problems={errors}
              submitted={tried !== null}
              templates={form.type === "event"}
            />
          </section>
        )}
        {problem && elsewhere && <ErrorState problem={problem} />}
        <div className="flex flex-wrap items-center justify-end gap-2">
          <p role="status" className="flex-1 text-[13px] text-muted">
            {(preview.problem ?? problem)?.title ??
              (trigger && !changed ? "Nothing is changed." : "")}
          </p>
          <button type="button" className="button" onClick={close}>
            Cancel
          </button>
          <button
            type="submit"
            className="button button-primary"
            disabled={!ready || submission.busy}
          >
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}

const SHOWN =
  /^\/(name|definition|tenant|cron|interval_seconds|at|timezone|event_name|condition|misfire|overlap|delay_seconds|dedupe_key|dedupe_window_seconds|payload)(\/|$)/;

function wordsWithout(form: ScheduleForm): string {
  if (form.type === "event")
    return form.event_name
      ? `Each time “${form.event_name}” is emitted.`
      : "Each time an event with this name is emitted.";
  if (form.type === "init")
    return form.run_once
      ? "At start, until one of its jobs has completed."
      : "At each start of a program that declares its definition.";
  return form.type === "once" ? "Choose a time." : "…";
}
