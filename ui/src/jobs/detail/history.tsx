import { useRead } from "@/api/read";
import { Panel, QueryView } from "@/parts/panels/panel";
import { OutcomeBadge, StateBadge } from "@/parts/values/state";
import { UserText } from "@/parts/values/text";
import { Duration, durationWords, Time } from "@/parts/values/time";
import { ErrorText } from "./error/error_text";
import { TracebackView } from "./error/traceback_view";

const OUTCOMES = new Set(["succeeded", "failed", "timed_out", "lost", "released"]);

/** Every transition of a job: who, what, when, and how long after the one before. */
export function Timeline({ job }: { job: string }) {
  const history = useRead(
    "/api/v1/jobs/{job_id}/history",
    { params: { path: { job_id: job } } },
    { topics: [`job:${job}`] },
  );
  return (
    <Panel title="Timeline">
      <QueryView query={history}>
        {({ items }) => (
          <ol className="space-y-2">
            {items.map((step, place) => {
              const before = items[place - 1];
              const gap = before ? (Date.parse(step.at) - Date.parse(before.at)) / 1000 : null;
              return (
                <li key={place} className="grid grid-cols-[7.5rem_1fr] gap-x-3">
                  <span className="text-right text-muted">
                    <Time at={step.at} />
                    {gap !== null && (
                      <span className="block text-[12px]" title="Time since the step before">
                        +{durationWords(gap)}
                      </span>
                    )}
                  </span>
                  <span className="min-w-0 border-l-2 border-line-strong pl-3">
                    {OUTCOMES.has(step.to_state) ? (
                      <OutcomeBadge outcome={step.to_state} />
                    ) : (
                      <StateBadge state={step.to_state} />
                    )}
                    {step.attempt !== null && step.attempt > 0 && (
                      <span className="text-muted"> · attempt {step.attempt}</span>
                    )}
                    {step.actor && (
                      <span className="text-muted">
                        {" "}
                        · by <UserText>{step.actor}</UserText>
                      </span>
                    )}
                    {step.message && (
                      <span className="line-clamp-3 text-[13px]">
                        <UserText>{step.message}</UserText>
                      </span>
                    )}
                  </span>
                </li>
              );
            })}
          </ol>
        )}
      </QueryView>
    </Panel>
  );
}

/** The attempts of a job, the latest first, each with its outcome and error. */
export function Attempts({ job, retryAt }: { job: string; retryAt: string | null }) {
  const attempts = useRead(
    "/api/v1/jobs/{job_id}/attempts",
    { params: { path: { job_id: job } } },
    { topics: [`job:${job}`] },
  );
  return (
    <Panel title="Attempts">
      <QueryView query={attempts}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="py-4 text-center text-muted">It has not been tried yet.</p>
          ) : (
            <ol className="space-y-2">
              {retryAt && (
                <li className="text-muted">
                  Next attempt <Time at={retryAt} />
                </li>
              )}
              {[...items].reverse().map((attempt) => (
                <li key={attempt.number} className="rounded-md border border-line p-2">
                  <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
                    <span className="font-medium">Attempt {attempt.number}</span>
                    <OutcomeBadge outcome={attempt.outcome} />
                    <span>
                      {attempt.finished_at === null ? (
                        <Duration since={attempt.started_at} />
                      ) : (
                        <Duration seconds={(attempt.duration_ms ?? 0) / 1000} />
                      )}
                    </span>
                    <span className="text-muted">
                      <Time at={attempt.started_at} />
                    </span>
                    {attempt.worker_id && (
                      <span className="text-muted">
                        on <UserText>{attempt.worker_id}</UserText>
                      </span>
                    )}
                    {attempt.exit_code !== null && (
                      <span className="text-muted">exit code {attempt.exit_code}</span>
                    )}
                  </p>
                  {attempt.error && (
                    <p className="mt-1 line-clamp-4">
                      <ErrorText type={attempt.error_type} error={attempt.error} />
                    </p>
                  )}
                  {attempt.error_trace && (
                    <details className="mt-1">
                      <summary className="min-h-6 text-accent">Traceback</summary>
                      <TracebackView trace={attempt.error_trace} />
                    </details>
                  )}
                  <Output title="Standard output" text={attempt.stdout_tail} />
                  <Output title="Standard error" text={attempt.stderr_tail} />
                </li>
              ))}
            </ol>
          )
        }
      </QueryView>
    </Panel>
  );
}

function Output({ title, text }: { title: string; text: string | null }) {
  if (!text) return null;
  return (
    <details className="mt-1">
      <summary className="min-h-6 text-accent">{title}, its end</summary>
      <pre className="max-h-64 overflow-auto rounded-md bg-raised p-2 whitespace-pre-wrap">
        <UserText>{text}</UserText>
      </pre>
    </details>
  );
}
