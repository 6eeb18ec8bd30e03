import { useState } from "react";
import type { Problem } from "@/api/problem";
import { useRead, write } from "@/api/read";
import { useSession } from "@/api/session";
import { Dialog } from "@/parts/dialogs/dialog";
import { showToast } from "@/parts/dialogs/toasts";
import { Field, SelectField } from "@/parts/forms/fields";
import { ErrorState } from "@/parts/panels/panel";
import { priorityWords } from "@/parts/values/values";
import { type Job, nameOf } from "./job_actions";
import type { JobSubject } from "./rules";

const PRIORITIES = [25, 50, 100, 200] as const;

export interface JobChanges {
  priority?: number;
  queue?: string;
}

/** Priority and queue of a waiting job. */
export function UpdateDialog({
  job,
  close,
  changed,
}: {
  job: JobSubject;
  close: () => void;
  changed: (job: Job) => void;
}) {
  return (
    <ChangeDialog
      title={`Change ${nameOf(job)}`}
      before={{ priority: job.priority, queue: job.queue }}
      close={close}
      save={async (changes) => {
        const after = await write("patch", "/api/v1/jobs/{job_id}", {
          params: { path: { job_id: job.id } },
          body: changes,
        });
        changed(after as Job);
        showToast({ text: `Changed ${nameOf(job)}.` });
      }}
    />
  );
}

/** Asks for a priority and a queue. `before` is what there is now; many jobs have no one value. */
export function ChangeDialog({
  title,
  before,
  close,
  cancel = close,
  save,
  confirm = "Save",
}: {
  title: string;
  before: JobChanges;
  /** Called once it is saved, and when it is left. */
  close: () => void;
  /** Called in place of `close` when it is left without saving. */
  cancel?: () => void;
  save: (changes: JobChanges) => Promise<unknown>;
  confirm?: string;
}) {
  const session = useSession();
  const queues = useRead(
    "/api/v1/queues",
    { params: { query: { limit: 100 } } },
    { enabled: session.may("queues.read"), staleTime: 60_000 },
  );
  const [priority, setPriority] = useState(before.priority?.toString() ?? "");
  const [queue, setQueue] = useState(before.queue ?? "");
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(false);
  const changes: JobChanges = {};
  if (priority !== "" && Number(priority) !== before.priority) changes.priority = Number(priority);
  if (queue.trim() !== "" && queue.trim() !== before.queue) changes.queue = queue.trim();
  const same = Object.keys(changes).length === 0;
  const choices = [...new Set([...PRIORITIES, ...(before.priority ? [before.priority] : [])])].sort(
    (one, other) => one - other,
  );
  return (
    <Dialog title={title} close={cancel}>
      <form
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (same || busy) return;
          setBusy(true);
          setProblem(null);
          save(changes)
            .then(close, (error: Problem) => setProblem(error))
            .finally(() => setBusy(false));
        }}
      >
        <SelectField
          label="Priority"
          value={priority}
          change={setPriority}
          options={[
            ...(before.priority === undefined ? [["", "As it is"] as const] : []),
            ...choices.map((each) => [String(each), priorityWords(each)] as const),
          ]}
        />
        <Field label="Queue" hint="A queue that no worker serves keeps its jobs waiting.">
          {(control) => (
            <>
              <input
                {...control}
                className="input"
                list={`${control.id}-queues`}
                placeholder={before.queue === undefined ? "As it is" : undefined}
                value={queue}
                onChange={(event) => setQueue(event.target.value)}
              />
              <datalist id={`${control.id}-queues`}>
                {queues.data?.items.map((each) => (
                  <option key={each.name} value={each.name} />
                ))}
              </datalist>
            </>
          )}
        </Field>
        {problem && <ErrorState problem={problem} />}
        <div className="flex justify-end gap-2">
          <button type="button" className="button" onClick={cancel}>
            Keep it as it is
          </button>
          <button type="submit" className="button button-primary" disabled={same || busy}>
            {confirm}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
