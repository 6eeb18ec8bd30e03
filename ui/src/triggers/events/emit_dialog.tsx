import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { type Answer, refresh, write } from "@/api/read";
import { useSession } from "@/api/session";
import { given } from "@/parts/code/snippets";
import { Dialog } from "@/parts/dialogs/dialog";
import { SelectField, TextField } from "@/parts/forms/fields";
import { FormContext } from "@/parts/forms/schema_form/form_context";
import { JsonField } from "@/parts/forms/schema_form/json_field";
import { useSubmit } from "@/parts/forms/submit";
import { ErrorState } from "@/parts/panels/panel";
import { useLens } from "@/shell/lens";
import { Matches } from "./matches";

type Event = Answer<"/api/v1/events", "post">;

/** Emits an event by hand, and shows what the triggers did with it. */
export function EmitDialog({ name: first = "", close }: { name?: string; close: () => void }) {
  const client = useQueryClient();
  const session = useSession();
  const lens = useLens();
  const [name, setName] = useState(first);
  const [data, setData] = useState<unknown>({});
  const [tenant, setTenant] = useState(lens.tenant ?? "");
  const [emitted, setEmitted] = useState<Event | null>(null);
  const form = useSubmit(async () => {
    const body = { name, data: data ?? {}, ...given({ tenant }) };
    setEmitted(await write("post", "/api/v1/events", { body }));
    refresh(client, ["events", "jobs"]);
  });
  const { problem } = form;
  return (
    <Dialog title="Emit an event" close={close}>
      {emitted ? (
        <div role="status" className="space-y-3">
          <p>
            {emitted.name} is emitted.{" "}
            <Link className="link font-medium" href={`/events/${emitted.id}`}>
              Open event {emitted.id.slice(-8)}
            </Link>
          </p>
          <Matches event={emitted} />
          <div className="flex justify-end gap-2">
            <button type="button" className="button" onClick={() => setEmitted(null)}>
              Emit another
            </button>
            <button type="button" className="button button-primary" onClick={close}>
              Done
            </button>
          </div>
        </div>
      ) : (
        <form onSubmit={form.submit} className="space-y-3">
          <p className="text-muted">
            Its triggers make real jobs. To see what one would do, test it on its page.
          </p>
          <TextField
            label="Name"
            required
            autoComplete="off"
            placeholder="order.paid"
            value={name}
            change={setName}
            error={problem?.field("/name")}
          />
          <FormContext
            value={{ root: {}, templates: false, touch: () => {}, problems: problem?.errors ?? [] }}
          >
            <JsonField label="Data" value={data} change={setData} pointer="/data" rows={6} />
          </FormContext>
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
          {problem && <ErrorState problem={problem} />}
          <div className="flex justify-end gap-2">
            <button type="button" className="button" onClick={close}>
              Cancel
            </button>
            <button type="submit" className="button button-primary" disabled={form.busy}>
              Emit
            </button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
