import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { refresh, write } from "@/api/read";
import { FormDialog } from "@/parts/dialogs/form_dialog";
import { showToast } from "@/parts/dialogs/toasts";
import { DurationField } from "@/parts/forms/duration_field";
import { SelectField, TextField } from "@/parts/forms/fields";
import type { Definition } from "./definition_words";

type Delays = { kind?: string; base_seconds?: number; cap_seconds?: number };

const text = (value: number | string | null): string => (value === null ? "" : String(value));
/** What was typed for a number: null if empty, text that the server refuses if it is none. */
const number = (typed: string): number | string | null => {
  if (typed.trim() === "") return null;
  return Number.isFinite(Number(typed)) ? Number(typed) : typed;
};

/** Attempts, timeout and limits of a definition. Only what was changed is sent, and so marked. */
export function EditDialog({ definition, close }: { definition: Definition; close: () => void }) {
  const client = useQueryClient();
  const delays = (definition.backoff ?? {}) as Delays;
  const [before] = useState({
    max_attempts: text(definition.max_attempts),
    max_concurrency: text(definition.max_concurrency),
    rate_limit: definition.rate_limit ?? "",
    limit_key: definition.limit_key ?? "",
    max_per_key: text(definition.max_per_key),
    rate_per_key: definition.rate_per_key ?? "",
    queue: definition.queue,
    priority: text(definition.priority),
    timeout_seconds: definition.timeout_seconds,
    backoff_kind: delays.kind ?? "exponential",
    base_seconds: (delays.base_seconds ?? 5) as number | null,
    cap_seconds: (delays.cap_seconds ?? 300) as number | null,
  });
  const [form, setForm] = useState(before);
  const put = (change: Partial<typeof before>): void => setForm({ ...form, ...change });
  const body = changes(before, form, definition);
  const save = async (): Promise<void> => {
    await write("patch", "/api/v1/definitions/{key}", {
      params: { path: { key: definition.key } },
      body,
    });
    refresh(client);
    showToast({ text: `${definition.key} is changed.` });
  };
  return (
    <FormDialog
      title={`Edit ${definition.key}`}
      submit="Save"
      ready={Object.keys(body).length > 0}
      action={save}
      close={close}
    >
      {(problem) => (
        <>
          <p className="text-muted">
            What you change wins over the code until it is reset. Limits hold from the next claim
            on.
          </p>
          <div className="grid gap-3 sm:grid-cols-2">
            <TextField
              label="Attempts"
              hint="The first included."
              inputMode="numeric"
              value={form.max_attempts}
              change={(max_attempts) => put({ max_attempts })}
              error={problem?.field("/max_attempts")}
            />
            <DurationField
              label="Timeout"
              hint="Empty: none."
              seconds={form.timeout_seconds}
              change={(timeout_seconds) => put({ timeout_seconds })}
              error={problem?.field("/timeout_seconds")}
            />
            <SelectField
              label="Delay between attempts"
              value={form.backoff_kind}
              change={(backoff_kind) => put({ backoff_kind })}
              options={[
                ["exponential", "Grows each time"],
                ["fixed", "The same each time"],
                ["none", "None"],
                ...(form.backoff_kind === "list" ? [["list", "A list"] as const] : []),
              ]}
              error={problem?.field("/backoff")}
            />
            {(form.backoff_kind === "exponential" || form.backoff_kind === "fixed") && (
              <DurationField
                label={form.backoff_kind === "fixed" ? "Delay" : "First delay"}
                seconds={form.base_seconds}
                change={(base_seconds) => put({ base_seconds })}
                error={problem?.field("/backoff/base_seconds")}
              />
            )}
            {form.backoff_kind === "exponential" && (
              <DurationField
                label="Longest delay"
                seconds={form.cap_seconds}
                change={(cap_seconds) => put({ cap_seconds })}
                error={problem?.field("/backoff/cap_seconds")}
              />
            )}
            <TextField
              label="At once"
              hint="Jobs of it that may run at the same time. Empty: no limit."
              inputMode="numeric"
              value={form.max_concurrency}
              change={(max_concurrency) => put({ max_concurrency })}
              error={problem?.field("/max_concurrency")}
            />
            <TextField
              label="Rate"
              hint="Starts per period, for example 100/min. Empty: no limit."
              value={form.rate_limit}
              change={(rate_limit) => put({ rate_limit })}
              error={problem?.field("/rate_limit")}
            />
            <TextField
              label="Limit key"
              hint="The payload field by which limits per key count, for example args.account."
              value={form.limit_key}
              change={(limit_key) => put({ limit_key })}
              error={problem?.field("/limit_key")}
            />
            <TextField
              label="At once per key"
              inputMode="numeric"
              value={form.max_per_key}
              change={(max_per_key) => put({ max_per_key })}
              error={problem?.field("/max_per_key")}
            />
            <TextField
              label="Rate per key"
              value={form.rate_per_key}
              change={(rate_per_key) => put({ rate_per_key })}
              error={problem?.field("/rate_per_key")}
            />
            <TextField
              label="Queue"
              value={form.queue}
              change={(queue) => put({ queue })}
              error={problem?.field("/queue")}
            />
            <TextField
              label="Priority"
              hint="critical, high, normal, low, or a number: smaller runs first."
              value={form.priority}
              change={(priority) => put({ priority })}
              error={problem?.field("/priority")}
            />
          </div>
        </>
      )}
    </FormDialog>
  );
}

type Form = Record<string, string | number | null>;

function changes(before: Form, after: Form, definition: Definition): Record<string, unknown> {
  const numbers = ["max_attempts", "max_concurrency", "max_per_key", "priority"];
  const body: Record<string, unknown> = {};
  const delays = ["backoff_kind", "base_seconds", "cap_seconds"];
  for (const [name, value] of Object.entries(after)) {
    if (value === before[name] || delays.includes(name)) continue;
    if (numbers.includes(name)) body[name] = number(String(value));
    else body[name] = value === "" ? null : value;
  }
  if (delays.some((name) => before[name] !== after[name]))
    body.backoff = {
      ...(definition.backoff ?? {}),
      kind: after.backoff_kind,
      ...(after.base_seconds !== null && { base_seconds: after.base_seconds }),
      ...(after.cap_seconds !== null && { cap_seconds: after.cap_seconds }),
    };
  return body;
}
