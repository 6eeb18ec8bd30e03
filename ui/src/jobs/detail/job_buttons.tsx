import { useState } from "react";
import { useLocation } from "wouter";
import { write } from "@/api/read";
import { useSession } from "@/api/session";
import { type Job, type JobActions, nameOf, problemText } from "@/jobs/actions/job_actions";
import { Menu, type MenuItem } from "@/parts/dialogs/menu";
import { showToast } from "@/parts/dialogs/toasts";
import { copyText } from "@/parts/values/values";
import { EditRetryDialog } from "./payload/edit_retry";
import { asCommand, asCurl, asPython, incidentSummary } from "./snippets";

/** The actions of one job; those its state forbids are disabled and say why. */
export function JobButtons({ job, actions }: { job: Job; actions: JobActions }) {
  const session = useSession();
  const [, navigate] = useLocation();
  const [editing, setEditing] = useState(false);
  const offered = actions.offered(job);
  const first = offered.find((each) => each.action === MAIN[job.state] && !each.refused);
  const items: MenuItem[] = offered
    .filter((each) => each !== first)
    .map(({ action, label, danger, refused }) => ({
      label,
      danger,
      refused,
      action: () => actions.run(action, job),
    }));
  if (session.may("jobs.retry"))
    items.unshift({
      label: "Edit payload and retry",
      refused: job.state === "dead_letter" ? undefined : "Only of dead-lettered jobs.",
      action: () => setEditing(true),
    });
  if (session.may("jobs.enqueue"))
    items.push({
      label: "Clone",
      action: () => {
        write("post", "/api/v1/jobs/{job_id}/clone", { params: { path: { job_id: job.id } } }).then(
          ({ receipt }) => {
            if (receipt.status === "created" && receipt.job_id) {
              showToast({ text: `Enqueued a clone of ${nameOf(job)}.` });
              navigate(`/jobs/${receipt.job_id}`);
            } else showToast({ text: receipt.because ?? "An equal job exists.", problem: true });
          },
          (error: unknown) => showToast({ text: problemText(error), problem: true }),
        );
      },
    });
  const copy = (label: string, text: () => string): MenuItem => ({
    label,
    action: () => {
      void copyText(text()).then(() => showToast({ text: "Copied." }));
    },
  });
  return (
    <>
      {first && (
        <button
          type="button"
          className={`button ${first.danger ? "button-danger" : "button-primary"}`}
          onClick={() => actions.run(first.action, job)}
        >
          {first.label}
        </button>
      )}
      <Menu
        label="Copy"
        items={[
          copy("As Python", () => asPython(job)),
          copy("As curl", () => asCurl(job)),
          copy("As command", () => asCommand(job)),
          copy("Incident summary", () => incidentSummary(job)),
        ]}
      >
        Copy ▾
      </Menu>
      {items.length > 0 && (
        <Menu label="Actions" items={items}>
          Actions ▾
        </Menu>
      )}
      {editing && <EditRetryDialog job={job} close={() => setEditing(false)} />}
    </>
  );
}

/** The action that is most often wanted in a state. */
const MAIN: Record<Job["state"], string> = {
  pending: "run_now",
  queued: "run_now",
  running: "cancel",
  completed: "",
  canceled: "retry",
  dead_letter: "retry",
};
