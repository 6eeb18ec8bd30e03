import { useState } from "react";
import { type Answer, useRead, write } from "@/api/read";
import { Dialog } from "@/parts/dialogs/dialog";
import { SelectField } from "@/parts/forms/fields";
import { FormContext } from "@/parts/forms/schema_form/form_context";
import { JsonField } from "@/parts/forms/schema_form/json_field";
import { useSubmit } from "@/parts/forms/submit";
import { ErrorState } from "@/parts/panels/panel";
import { Json } from "@/parts/values/json";
import { relativeWords, useNow } from "@/parts/values/time";
import type { Trigger } from "./trigger_words";

type Result = Answer<"/api/v1/triggers/{id}/test", "post">;
const NO_PROBLEMS = { root: {}, templates: false, problems: [], touch: () => {} };

/** Shows what a trigger would do with a past event, or with data that is made up. No job is made. */
export function TestDialog({
  trigger,
  event,
  close,
}: {
  trigger: Trigger;
  /** Id of the event to begin with. */
  event?: string;
  close: () => void;
}) {
  const now = useNow();
  const [chosen, setChosen] = useState(event ?? "");
  const [data, setData] = useState<unknown>({});
  const [result, setResult] = useState<Result | null>(null);
  const name = trigger.event_name ?? "";
  const past = useRead("/api/v1/events", { params: { query: { name, limit: 20 } } });
  const form = useSubmit(async () => {
    setResult(null);
    const body = chosen ? { event_id: chosen } : { data };
    const path = { id: trigger.id };
    setResult(await write("post", "/api/v1/triggers/{id}/test", { params: { path }, body }));
  });
  const events = past.data?.items ?? [];
  return (
    <Dialog title={`Test ${trigger.name}`} close={close}>
      <form onSubmit={form.submit} className="space-y-3">
        <p className="text-muted">
          It listens to <code>{name}</code> and makes jobs of {trigger.definition}. A test makes
          none.
        </p>
        <SelectField
          label="Event"
          value={chosen}
          change={setChosen}
          options={[
            ["", "Data that I write"],
            ...(event && !events.some((each) => each.id === event)
              ? [[event, `${event.slice(-8)}`] as const]
              : []),
            ...events.map(
              (each) =>
                [
                  each.id,
                  `${each.id.slice(-8)}, ${relativeWords(Date.parse(each.created_at ?? ""), now)}`,
                ] as const,
            ),
          ]}
        />
        {!chosen && (
          <FormContext value={NO_PROBLEMS}>
            <JsonField label="Data" value={data} change={setData} pointer="/data" rows={5} />
          </FormContext>
        )}
        <div className="flex justify-end gap-2">
          <button type="button" className="button" onClick={close}>
            Close
          </button>
          <button type="submit" className="button button-primary" disabled={form.busy}>
            Test
          </button>
        </div>
      </form>
      {form.problem && <ErrorState problem={form.problem} />}
      {result && <TestResult result={result} />}
    </Dialog>
  );
}

function TestResult({ result }: { result: Result }) {
  const good = result.matches && !result.error;
  return (
    <div role="status" className="mt-3 space-y-2 border-t border-line pt-3">
      <p className={`font-medium ${good ? "text-good" : "text-warn"}`}>
        {good
          ? "✓ It matches, and would make a job."
          : result.matches
            ? "▲ It matches, but no job could be made."
            : "– It does not match."}
      </p>
      {result.because && <p>{result.because}</p>}
      {result.error && <p className="text-danger">{result.error}</p>}
      {good && <Json value={result.payload} label="Payload of the job" />}
    </div>
  );
}
