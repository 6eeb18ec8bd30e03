import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Problem } from "@/api/problem";
import { type Answer, refresh, write } from "@/api/read";
import { useSession } from "@/api/session";
import { ConfirmDialog } from "@/parts/dialogs/confirm";
import type { MenuItem } from "@/parts/dialogs/menu";
import { showToast } from "@/parts/dialogs/toasts";
import {
  type JobAction,
  type JobSubject,
  mayAct,
  type OfferedAction,
  offeredActions,
} from "./rules";
import { UpdateDialog } from "./update_dialog";

export type Job = Answer<"/api/v1/jobs/{job_id}", "get">;

export interface JobActions {
  /** Actions that the caller's rights allow; those the state forbids say why. */
  offered: (job: JobSubject) => OfferedAction[];
  /** Do an action, or open the dialog that asks first. */
  run: (action: JobAction, job: JobSubject) => void;
  /** Entries of a menu; with `all` those that the state forbids are shown disabled. */
  menu: (job: JobSubject, options?: { all?: boolean }) => MenuItem[];
  /** The dialog in front, to be placed once in the screen. */
  dialog: ReactNode;
}

/**
 * Retry, run now, cancel (undone within ten seconds), delete and change one job. `done` gets the
 * job as it is afterwards, `removed` the id of one that was deleted.
 */
export function useJobActions({
  done,
  removed,
}: {
  done?: (job: Job) => void;
  removed?: (id: string) => void;
} = {}): JobActions {
  const session = useSession();
  const client = useQueryClient();
  const [asked, setAsked] = useState<{ action: "discard" | "update"; job: JobSubject } | null>(
    null,
  );
  const settle = (job: Job): void => {
    done?.(job);
    refresh(client, ["jobs", "dead", `job:${job.id}`]);
  };
  const act = async (action: "retry" | "run_now" | "cancel", job: JobSubject): Promise<void> => {
    try {
      const after = await post(action, job.id);
      settle(after);
      if (action !== "cancel") showToast({ text: `${STARTED[action]} ${nameOf(job)}.` });
      else if (after.state !== "canceled") showToast({ text: `Asked ${nameOf(job)} to stop.` });
      else if (!mayAct(session, "retry")) showToast({ text: `Canceled ${nameOf(job)}.` });
      else showToast({ text: canceledText(job), undo: () => void act("retry", after) });
    } catch (error) {
      showToast({ text: problemText(error), problem: true });
    }
  };
  const run = (action: JobAction, job: JobSubject): void => {
    if (action === "discard" || action === "update") setAsked({ action, job });
    else void act(action, job);
  };
  const offered = (job: JobSubject) => offeredActions(job, session);
  return {
    offered,
    run,
    menu: (job, { all = false } = {}) =>
      offered(job)
        .filter((each) => all || each.refused === undefined)
        .map(({ action, label, danger, refused }) => ({
          label,
          danger,
          refused,
          action: () => run(action, job),
        })),
    dialog: asked && (
      <JobDialog
        {...asked}
        close={() => setAsked(null)}
        changed={settle}
        removed={(id) => {
          removed?.(id);
          refresh(client, ["jobs", "dead"]);
        }}
      />
    ),
  };
}

const STARTED = { retry: "Queued again:", run_now: "Due now:" } as const;
const PATHS = {
  retry: "/api/v1/jobs/{job_id}/retry",
  run_now: "/api/v1/jobs/{job_id}/run-now",
  cancel: "/api/v1/jobs/{job_id}/cancel",
} as const;

function post(action: keyof typeof PATHS, id: string): Promise<Job> {
  return write("post", PATHS[action], { params: { path: { job_id: id } } }) as Promise<Job>;
}

/** `mail.send 8c1f42d7`: a job in a sentence. */
export function nameOf(job: Pick<JobSubject, "definition" | "id">): string {
  return `${job.definition} ${job.id.slice(-8)}`;
}

/** An undone cancel queues the job at once, whatever it waited for before. */
function canceledText(job: JobSubject): string {
  const waited = job.view === "queued" ? "" : " Undo makes it due at once.";
  return `Canceled ${nameOf(job)}.${waited}`;
}

/** A failed action in one line: what happened and what to do. */
export function problemText(error: unknown): string {
  if (!(error instanceof Problem)) return String(error);
  return [error.title, error.detail, error.hint].filter(Boolean).join(" ");
}

function JobDialog({
  action,
  job,
  close,
  changed,
  removed,
}: {
  action: "discard" | "update";
  job: JobSubject;
  close: () => void;
  changed: (job: Job) => void;
  removed: (id: string) => void;
}) {
  if (action === "update") return <UpdateDialog job={job} close={close} changed={changed} />;
  return (
    <ConfirmDialog
      title={`Delete ${nameOf(job)}?`}
      confirm="Delete it"
      typed={job.id.slice(-8)}
      danger
      close={close}
      action={async () => {
        await write("delete", "/api/v1/jobs/{job_id}", { params: { path: { job_id: job.id } } });
        removed(job.id);
        showToast({ text: `Deleted ${nameOf(job)}.` });
      }}
    >
      <p>
        The job, its attempts, its history and its log are removed for good. This cannot be undone.
      </p>
    </ConfirmDialog>
  );
}
