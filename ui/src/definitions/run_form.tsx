import { useState } from "react";
import { Link } from "wouter";
import { type Answer, write } from "@/api/read";
import { useSession } from "@/api/session";
import { JobCode } from "@/parts/code/code_tabs";
import { given } from "@/parts/code/snippets";
import { DurationField } from "@/parts/forms/duration_field";
import { SelectField, TextField } from "@/parts/forms/fields";
import { useDryRun } from "@/parts/forms/schema_form/dry_run";
import { emptyValue, type Value, withoutSecrets } from "@/parts/forms/schema_form/schema";
import { SchemaForm } from "@/parts/forms/schema_form/schema_form";
import { useSubmit } from "@/parts/forms/submit";
import { ErrorState } from "@/parts/panels/panel";
import { useLens } from "@/shell/lens";
import type { DefinitionEntry } from "./definition_words";

type Enqueued = Answer<"/api/v1/jobs", "post">;

const PRIORITIES = ["", "critical", "high", "normal", "low"].map(
  (name) => [name, name ? name[0]?.toUpperCase() + name.slice(1) : "Of the definition"] as const,
);

/** A form that runs a definition: its payload, when, and how; what is typed is checked as typed. */
export function RunForm({
  definition,
  example,
  close,
}: {
  definition: DefinitionEntry;
  /** Payload to begin with. */
  example?: Value;
  close?: () => void;
}) {
  const schema = definition.payload_schema;
  const session = useSession();
  const lens = useLens();
  const [payload, setPayload] = useState<Value>(
    () => example ?? { ...(emptyValue(schema, schema) as object), ...definition.default_payload },
  );
  const [when, setWhen] = useState<"now" | "in" | "at">("now");
  const [delay, setDelay] = useState<number | null>(null);
  const [at, setAt] = useState("");
  const [priority, setPriority] = useState("");
  const [dedupeKey, setDedupeKey] = useState("");
  const [tenant, setTenant] = useState(lens.tenant ?? "");
  const [tried, setTried] = useState<string | null>(null);
  const [enqueued, setEnqueued] = useState<Enqueued | null>(null);
  const body = given({
    definition: definition.key,
    payload,
    priority,
    delay_seconds: when === "in" ? delay : null,
    due_at: when === "at" && at ? new Date(at).toISOString() : null,
    dedupe_key: dedupeKey,
    tenant,
  });
  const key = JSON.stringify(body);
  const checked = useDryRun(body, (signal) =>
    write("post", "/api/v1/jobs", { params: { query: { dry_run: true } }, body, signal }),
  );
  const form = useSubmit(async () => {
    setTried(key);
    setEnqueued(await write("post", "/api/v1/jobs", { body }));
  });
  // What the last attempt said holds until something is changed.
  const refused = tried === key ? form.problem : null;
  const problem = refused ?? checked.problem;
  if (enqueued !== null)
    return <Made enqueued={enqueued} again={() => setEnqueued(null)} close={close} />;
  const elsewhere =
    problem !== null &&
    (problem.errors.length === 0 || problem.errors.some((each) => !isShown(each.pointer)));
  return (
    <form onSubmit={form.submit} className="space-y-4">
      {definition.description && <p className="text-muted">{definition.description}</p>}
      <SchemaForm
        schema={schema}
        value={payload}
        change={setPayload}
        problems={problem?.errors}
        submitted={tried !== null}
      />
      <div className="grid gap-3 border-t border-line pt-3 sm:grid-cols-2">
        <SelectField
          label="When"
          value={when}
          change={(next) => setWhen(next as typeof when)}
          options={[
            ["now", "Now"],
            ["in", "In a while"],
            ["at", "At a time"],
          ]}
        />
        {when === "in" && (
          <DurationField
            label="Delay"
            seconds={delay}
            change={setDelay}
            error={problem?.field("/delay_seconds")}
          />
        )}
        {when === "at" && (
          <TextField
            label="Time"
            type="datetime-local"
            hint={`In ${Intl.DateTimeFormat().resolvedOptions().timeZone} time`}
            value={at}
            change={setAt}
            error={problem?.field("/due_at")}
          />
        )}
        <SelectField
          label="Priority"
          value={priority}
          change={setPriority}
          options={PRIORITIES}
          error={problem?.field("/priority")}
        />
        <TextField
          label="Dedupe key"
          hint="No second job while one with this key is open."
          autoComplete="off"
          value={dedupeKey}
          change={setDedupeKey}
          error={problem?.field("/dedupe_key")}
        />
        {!lens.single && (
          <SelectField
            label="Tenant"
            value={tenant}
            change={setTenant}
            options={[
              ["", session.identity.tenant_id ?? "default"],
              ...lens.tenants.map((each) => [each, each] as const),
            ]}
            error={problem?.field("/tenant")}
          />
        )}
      </div>
      <details>
        <summary className="min-h-6 text-muted">Copy as Python, curl or command</summary>
        <div className="mt-2">
          <JobCode call={{ ...body, payload: withoutSecrets(payload, schema) } as never} />
        </div>
      </details>
      {problem && elsewhere && <ErrorState problem={problem} />}
      <div className="flex flex-wrap items-center justify-end gap-2">
        <p role="status" className="flex-1 text-[13px] text-muted">
          {problem ? problem.title : checked.pending ? "Checking…" : "Ready to run."}
        </p>
        {close && (
          <button type="button" className="button" onClick={close}>
            Cancel
          </button>
        )}
        <button type="submit" className="button button-primary" disabled={form.busy}>
          Run
        </button>
      </div>
    </form>
  );
}

const SHOWN = ["/payload", "/delay_seconds", "/due_at", "/priority", "/dedupe_key", "/tenant"];

function isShown(pointer: string): boolean {
  return SHOWN.some((each) => pointer === each || pointer.startsWith(`${each}/`));
}

function Made({
  enqueued: { receipt },
  again,
  close,
}: {
  enqueued: Enqueued;
  again: () => void;
  close?: (() => void) | undefined;
}) {
  const words = {
    created: "The job is in line.",
    existing: "An equal job exists already.",
    rejected: `No job was made: ${receipt.because ?? "it was rejected"}.`,
    valid: "It is valid.",
  }[receipt.status];
  return (
    <div role="status" className="space-y-3">
      <p>
        {words}{" "}
        {receipt.job_id && (
          <Link className="link font-medium" href={`/jobs/${receipt.job_id}`}>
            Open job {receipt.job_id.slice(-8)}
          </Link>
        )}
      </p>
      <div className="flex justify-end gap-2">
        <button type="button" className="button" onClick={again}>
          Run another
        </button>
        {close && (
          <button type="button" className="button button-primary" onClick={close}>
            Done
          </button>
        )}
      </div>
    </div>
  );
}
