import { useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { Problem } from "@/api/problem";
import { refresh, useRead, write } from "@/api/read";
import { useSession } from "@/api/session";
import { type Job, nameOf } from "@/jobs/actions/job_actions";
import { Dialog } from "@/parts/dialogs/dialog";
import { showToast } from "@/parts/dialogs/toasts";
import { SchemaForm } from "@/parts/forms/schema_form/schema_form";
import { ErrorState, Skeleton } from "@/parts/panels/panel";
import { visibleText } from "@/parts/values/text";
import { diffLines } from "./diff";
import { isMasked, RevealDialog } from "./values";

/** Edit the payload of a dead-lettered job, see what differs, and retry it. */
export function EditRetryDialog({
  job,
  close,
  done,
}: {
  job: Job;
  close: () => void;
  done?: (job: Job) => void;
}) {
  const session = useSession();
  const client = useQueryClient();
  const [before, setBefore] = useState(job.payload);
  const [value, setValue] = useState<unknown>(job.payload);
  const [revealing, setRevealing] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const definition = useRead(
    "/api/v1/definitions/{key}",
    { params: { path: { key: job.definition } } },
    { enabled: session.may("definitions.read"), staleTime: 60_000 },
  );
  const masked = isMasked(value);
  const shown = useMemo(() => JSON.stringify(before, null, 2), [before]);
  const after = useMemo(() => JSON.stringify(value, null, 2) ?? "", [value]);
  const same = after === shown;
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  const wrong = !isObject
    ? "A payload is a JSON object: {…}."
    : masked
      ? "Type the values that ••• hides, or reveal them."
      : undefined;
  return (
    <Dialog title={`Edit payload and retry ${nameOf(job)}`} close={close} wide>
      <form
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (wrong !== undefined || busy) return;
          setBusy(true);
          setProblem(null);
          write("post", "/api/v1/dead/{job_id}/edit-retry", {
            params: { path: { job_id: job.id } },
            body: { payload: value as Record<string, unknown> },
          })
            .then(
              (after) => {
                refresh(client, ["jobs", "dead", `job:${job.id}`]);
                showToast({ text: `Queued again with the new payload: ${nameOf(job)}.` });
                done?.(after);
                close();
              },
              (error: unknown) => {
                if (error instanceof Problem) setProblem(error);
                else throw error;
              },
            )
            .finally(() => setBusy(false));
        }}
      >
        <p className="text-muted">
          It replaces the old payload; the job's history notes which fields changed.
        </p>
        {definition.isLoading ? (
          <Skeleton lines={3} />
        ) : (
          <SchemaForm
            schema={definition.data?.payload_schema ?? {}}
            value={value}
            change={setValue}
            problems={problem?.errors}
            submitted={problem !== null}
          />
        )}
        <p role="status" className="text-danger">
          {wrong}
        </p>
        {masked && session.may("jobs.reveal") && (
          <button type="button" className="button" onClick={() => setRevealing(true)}>
            Reveal •••
          </button>
        )}
        <section aria-label="Changes">
          <h3>Changes</h3>
          {same ? (
            <p className="text-muted">The payload is as it was.</p>
          ) : (
            <pre dir="ltr" className="max-h-64 overflow-auto rounded-md border border-line p-2">
              {diffLines(shown, after).map(({ kind, line }, place) => (
                <span key={place} className={`block ${DIFF_LOOK[kind]}`}>
                  {kind} {visibleText(line)}
                </span>
              ))}
            </pre>
          )}
        </section>
        {problem && <ErrorState problem={problem} />}
        <div className="flex justify-end gap-2">
          <button type="button" className="button" onClick={close}>
            Keep it as it is
          </button>
          <button
            type="submit"
            className="button button-primary"
            disabled={wrong !== undefined || busy}
          >
            {same ? "Retry unchanged" : "Save and retry"}
          </button>
        </div>
      </form>
      {revealing && (
        <RevealDialog
          job={job.id}
          close={() => setRevealing(false)}
          done={(revealed) => {
            setBefore(revealed.payload);
            setValue(revealed.payload);
          }}
        />
      )}
    </Dialog>
  );
}

const DIFF_LOOK = {
  "+": "bg-good-soft text-good",
  "-": "bg-danger-soft text-danger",
  " ": "text-muted",
} as const;
