import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Link } from "wouter";
import type { Problem } from "@/api/problem";
import { type Answer, refresh, write } from "@/api/read";
import { actionLabel, type JobAction } from "@/jobs/actions/rules";
import { ChangeDialog, type JobChanges } from "@/jobs/actions/update_dialog";
import { Dialog } from "@/parts/dialogs/dialog";
import { TextField } from "@/parts/forms/fields";
import { ErrorState, Skeleton } from "@/parts/panels/panel";
import { StateBadge } from "@/parts/values/state";
import { Count, numberWords } from "@/parts/values/values";
import { OperationProgress } from "./operation_progress";
import { CONSEQUENCES, changesWords, jobsWords, type Operation, operationWords } from "./words";

type Preview = Answer<"/api/v1/operations/preview", "post">;

/** Above so many jobs, and for each delete, the count has to be typed. */
const TYPED_ABOVE = 100;

/**
 * One action on all jobs that a filter finds: what it would do, then how far it is. It goes on when
 * the dialog is closed.
 */
export function BulkDialog({
  action,
  q,
  close,
  started,
}: {
  action: JobAction;
  q: string;
  close: () => void;
  started: (operation: Operation) => void;
}) {
  const [changes, setChanges] = useState<JobChanges | undefined>();
  const [operation, setOperation] = useState<Operation | null>(null);
  const client = useQueryClient();
  if (action === "update" && changes === undefined)
    return (
      <ChangeDialog
        title="Change jobs"
        before={{}}
        confirm="Preview"
        close={() => {}}
        cancel={close}
        save={async (chosen) => setChanges(chosen)}
      />
    );
  if (operation !== null)
    return (
      <Dialog title={operationWords(operation.action, operation.total)} close={close}>
        <OperationProgress id={operation.id} undone={setOperation} />
        <div className="mt-4 flex items-center justify-between gap-2">
          <Link className="link" href={`/operations/${operation.id}`}>
            Open the operation
          </Link>
          <button type="button" className="button" onClick={close}>
            Close
          </button>
        </div>
      </Dialog>
    );
  return (
    <PreviewDialog
      action={action}
      q={q}
      changes={changes}
      close={close}
      begin={async (reason, partly) => {
        const begun = (await write("post", "/api/v1/operations", {
          body: { action, q, partly, reason: reason || null, ...(changes ? { changes } : {}) },
        })) as Operation;
        setOperation(begun);
        started(begun);
        refresh(client, ["jobs"]);
      }}
    />
  );
}

function PreviewDialog({
  action,
  q,
  changes,
  close,
  begin,
}: {
  action: JobAction;
  q: string;
  changes: JobChanges | undefined;
  close: () => void;
  begin: (reason: string, partly: boolean) => Promise<void>;
}) {
  const [preview, setPreview] = useState<Preview | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [typed, setTyped] = useState("");
  const [reason, setReason] = useState("");
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    let current = true;
    write("post", "/api/v1/operations/preview", {
      body: { action, q, ...(changes ? { changes } : {}) },
    })
      .then((found) => current && setPreview(found))
      .catch((error: Problem) => current && setProblem(error));
    return () => {
      current = false;
    };
  }, [action, q, changes]);
  const skipped = preview?.skipped.reduce((sum, each) => sum + each.count, 0) ?? 0;
  const count = Math.max(0, (preview?.total ?? 0) - skipped);
  const needsCount = preview !== null && (action === "discard" || count > TYPED_ABOVE);
  const ready =
    preview !== null && count > 0 && (!needsCount || typed.replace(/\D/g, "") === String(count));
  return (
    <Dialog
      title={preview ? operationWords(action, count) : `${actionLabel(action)}: counting…`}
      close={close}
    >
      <form
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (!ready || busy) return;
          setBusy(true);
          setProblem(null);
          begin(reason, preview.more)
            .catch((error: Problem) => setProblem(error))
            .finally(() => setBusy(false));
        }}
      >
        {preview === null && problem === null && (
          <div role="status" aria-label="Counting">
            <Skeleton lines={4} />
          </div>
        )}
        {preview && (
          <>
            <p>
              {count === 0 ? "None of these jobs can be changed so." : CONSEQUENCES[action]}
              {changes && count > 0 && ` New: ${changesWords({ ...changes })}.`}
            </p>
            <ByState preview={preview} />
            {preview.skipped.map((each) => (
              <p key={each.reason} className="text-muted">
                {jobsWords(each.count)} skipped: {each.reason}.
              </p>
            ))}
            {preview.more && (
              <p className="rounded-md bg-warn-soft px-3 py-1.5 text-warn">
                More than {numberWords(preview.total)} match; the newest{" "}
                {numberWords(preview.total)} are taken. Repeat it for the others.
              </p>
            )}
            <Sample preview={preview} />
            {count > 0 && (
              <TextField
                label="Reason"
                hint="Kept in the audit log; may be left empty."
                value={reason}
                maxLength={500}
                change={setReason}
              />
            )}
            {needsCount && count > 0 && (
              <TextField
                label={`Type ${count} to go on`}
                inputMode="numeric"
                autoComplete="off"
                value={typed}
                change={setTyped}
              />
            )}
          </>
        )}
        {problem && <ErrorState problem={problem} />}
        <div className="flex justify-end gap-2">
          <button type="button" className="button" onClick={close}>
            Keep them as they are
          </button>
          <button
            type="submit"
            className={`button ${action === "discard" || action === "cancel" ? "button-danger" : "button-primary"}`}
            disabled={!ready || busy}
          >
            {preview && count > 0 ? operationWords(action, count) : actionLabel(action)}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function ByState({ preview }: { preview: Preview }) {
  return (
    <ul
      className="flex flex-wrap gap-x-6 gap-y-1 rounded-md bg-sunken px-3 py-2"
      aria-label="By state"
    >
      {Object.entries(preview.by_state).map(([state, count]) => (
        <li key={state} className="flex items-center gap-2">
          <StateBadge state={state} />
          <b className="font-semibold">
            <Count value={count} />
          </b>
        </li>
      ))}
      {preview.total === 0 && <li>No job matches any more.</li>}
    </ul>
  );
}

function Sample({ preview }: { preview: Preview }) {
  if (preview.sample.length === 0) return null;
  return (
    <div>
      <p className="text-muted">Among them:</p>
      <ul>
        {preview.sample.map((job) => (
          <li key={job.id} className="flex gap-3">
            <StateBadge state={job.view} />
            <span className="min-w-0 truncate">{job.definition}</span>
            <span className="mono text-muted">{job.id.slice(-8)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
