import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Link } from "wouter";
import { Problem } from "@/api/problem";
import { refresh, useRead, write } from "@/api/read";
import { useSession } from "@/api/session";
import type { Job, JobActions } from "@/jobs/actions/job_actions";
import type { JobAction } from "@/jobs/actions/rules";
import { showToast } from "@/parts/dialogs/toasts";
import { QueryView, Skeleton } from "@/parts/panels/panel";
import { UserText } from "@/parts/values/text";

/** Why a job is not running: the first true reason, and what helps against it. */
export function WhyNotRunning({ job, actions }: { job: Job; actions: JobActions }) {
  const reason = useRead(
    "/api/v1/jobs/{job_id}/explain",
    { params: { path: { job_id: job.id } } },
    { topics: [`job:${job.id}`], refetchInterval: 5_000 },
  );
  return (
    <section
      aria-labelledby="why-not-running"
      className="rounded-md border border-line-strong bg-accent-soft p-3"
    >
      <h2 id="why-not-running">Why isn't it running?</h2>
      <QueryView query={reason} skeleton={<Skeleton lines={1} />}>
        {({ code, sentence, hint }) => {
          const remedy = <Remedy code={code} job={job} actions={actions} />;
          return (
            <div className="mt-1 flex flex-wrap items-center justify-between gap-2">
              <p className="min-w-0" data-reason={code}>
                <UserText>{sentence}</UserText>{" "}
                {HINTED.has(code) && hint && (
                  <span className="text-muted">
                    <UserText>{hint}</UserText>
                  </span>
                )}
              </p>
              {remedy}
            </div>
          );
        }}
      </QueryView>
    </section>
  );
}

/** Reasons whose hint is for people, and not replaced by a button. */
const HINTED = new Set(["key_missing", "unknown_to_workers"]);

function Remedy({
  code,
  job,
  actions,
}: {
  code: string;
  job: Job;
  actions: JobActions;
}): ReactNode {
  const session = useSession();
  const act = (action: JobAction): ReactNode => {
    const offer = actions.offered(job).find((each) => each.action === action);
    if (offer === undefined || offer.refused !== undefined) return null;
    return (
      <button
        type="button"
        className="button button-primary"
        onClick={() => actions.run(action, job)}
      >
        {offer.label}
      </button>
    );
  };
  const look = (right: string, to: string, words: string): ReactNode =>
    session.may(right) ? (
      <Link className="button" href={to}>
        {words}
      </Link>
    ) : null;
  const jobs = (words: string, title: string): ReactNode =>
    look("jobs.read", `/jobs?q=${encodeURIComponent(words)}`, title);
  switch (code) {
    case "definition_disabled":
      return session.may("definitions.write") ? (
        <WriteButton
          label={`Enable ${job.definition}`}
          job={job.id}
          send={() =>
            write("post", "/api/v1/definitions/{key}/enable", {
              params: { path: { key: job.definition } },
            })
          }
        />
      ) : (
        look("definitions.read", `/definitions/${encodeURIComponent(job.definition)}`, "Definition")
      );
    case "queue_paused":
      return session.may("queues.pause") ? (
        <WriteButton
          label={`Resume ${job.queue}`}
          job={job.id}
          send={() =>
            write("post", "/api/v1/queues/{name}/resume", { params: { path: { name: job.queue } } })
          }
        />
      ) : (
        look("queues.read", `/queues/${encodeURIComponent(job.queue)}`, "Queue")
      );
    case "tenant_suspended":
      return look("tenants.read", `/tenants/${encodeURIComponent(job.tenant_id)}`, "Tenant");
    case "held":
    case "due_later":
      return act("run_now");
    case "waiting_for_jobs":
      return (
        <button
          type="button"
          className="button"
          onClick={() => document.getElementById("dependencies")?.scrollIntoView()}
        >
          Show these jobs
        </button>
      );
    case "limit_full":
    case "rate_full":
      return jobs(`state:running definition:${job.definition}`, "Show what runs");
    case "workers_busy":
      return jobs(`state:running queue:${job.queue}`, "Show what runs");
    case "no_worker":
    case "unknown_to_workers":
    case "workers_draining":
      return look("workers.read", "/workers", "Workers");
    case "ended":
      return act("retry");
    default:
      return null;
  }
}

/** Sends one request and reads again what it may have changed. */
function WriteButton({
  label,
  job,
  send,
}: {
  label: string;
  job: string;
  send: () => Promise<unknown>;
}) {
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  return (
    <button
      type="button"
      className="button button-primary"
      disabled={busy}
      onClick={() => {
        setBusy(true);
        send()
          .catch((error: unknown) => {
            const text = error instanceof Problem ? `${error.title} ${error.hint}` : String(error);
            showToast({ text, problem: true });
          })
          .finally(() => {
            setBusy(false);
            refresh(client, [`job:${job}`, "queues"]);
          });
      }}
    >
      {label}
    </button>
  );
}
