import { lazy, Suspense, useEffect, useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import { useRead } from "@/api/read";
import { useSession } from "@/api/session";
import { type Job, useJobActions } from "@/jobs/actions/job_actions";
import { QueryView, Skeleton } from "@/parts/panels/panel";
import { StateBadge } from "@/parts/values/state";
import { UserText, visibleText } from "@/parts/values/text";
import { Progress } from "@/parts/values/values";
import { ScreenHeader } from "@/shell/shell";
import { useShortcuts } from "@/shell/shortcuts";
import { ErrorText } from "./error/error_text";
import { TracebackView } from "./error/traceback_view";
import { Facts } from "./facts";
import { Attempts, Timeline } from "./history";
import { JobButtons } from "./job_buttons";
import { neighboursOf } from "./neighbours";
import { Values } from "./payload/values";
import { Related } from "./related";
import { WhyNotRunning } from "./why_not_running";

const LogTail = lazy(() => import("./log/log_tail"));
const Dependencies = lazy(() => import("./graph/dependencies"));

/** One job: what it does, why it waits or failed, and what can be done about it. */
export default function JobPage() {
  const { id = "" } = useParams();
  const [address, navigate] = useLocation();
  // The end of an id is an address too; live topics need the whole of it.
  const whole = id.length === 36;
  const job = useRead(
    "/api/v1/jobs/{job_id}",
    { params: { path: { job_id: id } } },
    { topics: whole ? [`job:${id}`] : [] },
  );
  const known = job.data?.id;
  useEffect(() => {
    if (known !== undefined && !whole && known.endsWith(id))
      navigate(`/jobs/${known}${location.search}${location.hash}`, { replace: true });
  }, [known, whole, id, navigate]);
  const stale = job.isPlaceholderData && known !== id;
  return (
    <QueryView query={job} skeleton={<Skeleton lines={10} />}>
      {(data) => (stale && whole ? <Skeleton lines={10} /> : <JobView key={address} job={data} />)}
    </QueryView>
  );
}

function JobView({ job }: { job: Job }) {
  const session = useSession();
  const [, navigate] = useLocation();
  const [{ previous, next, place }] = useState(() => neighboursOf(job.id));
  const actions = useJobActions({ removed: () => navigate("/jobs") });
  const open = (id: string | null) => (): void => {
    if (id !== null) navigate(`/jobs/${id}`);
  };
  const offered = actions.offered(job);
  const press = (action: "retry" | "cancel") => (): void => {
    const offer = offered.find((each) => each.action === action);
    if (offer && offer.refused === undefined) actions.run(action, job);
  };
  useShortcuts({ "[": open(previous), "]": open(next), r: press("retry"), c: press("cancel") });
  const running = job.state === "running";
  const failed = job.last_error !== null && job.state !== "completed";
  useEffect(() => {
    const before = document.title;
    document.title = `${visibleText(job.definition)} · ${before.replace(/^.* · (?=[^·]*$)/, "")}`;
    return () => {
      document.title = before;
    };
  }, [job.definition]);
  return (
    <>
      <ScreenHeader
        title={
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <UserText>{job.definition}</UserText>
            <span className="text-base font-normal">
              <StateBadge
                state={job.view}
                canceling={running && job.cancel_requested_at !== null}
              />
            </span>
          </span>
        }
      >
        {place && (
          <nav aria-label="Jobs of the list" className="flex items-center gap-1 text-muted">
            <Neighbour id={previous} label="Previous job ( [ )" sign="‹" />
            <span className="text-[13px]">{place}</span>
            <Neighbour id={next} label="Next job ( ] )" sign="›" />
          </nav>
        )}
        <JobButtons job={job} actions={actions} />
      </ScreenHeader>
      <div className="space-y-3">
        {(running || (job.progress > 0 && job.progress < 1)) && (
          <Progress
            value={job.progress}
            note={job.progress_note && visibleText(job.progress_note)}
          />
        )}
        {!running && job.state !== "completed" && <WhyNotRunning job={job} actions={actions} />}
        {failed && (
          <section
            aria-label="Last error"
            className="space-y-2 rounded-md border border-danger bg-danger-soft p-3"
          >
            <p className="max-h-40 overflow-auto whitespace-pre-wrap">
              <ErrorText type={job.error_type} error={job.last_error ?? ""} />
            </p>
            {job.fingerprint && !session.ownOnly && job.state === "dead_letter" && (
              <p>
                <Link
                  className="link"
                  href={`/dead/${encodeURIComponent(job.definition)}/${encodeURIComponent(job.fingerprint)}`}
                >
                  All jobs that failed for this cause
                </Link>
              </p>
            )}
            {job.error_trace && <TracebackView trace={job.error_trace} />}
          </section>
        )}
        <Facts job={job} />
        <div className="grid items-start gap-3 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
          <div className="min-w-0 space-y-3">
            {session.may("logs.read") && (
              <Suspense fallback={<div className="h-[34rem]" />}>
                <LogTail job={job.id} running={running} ended={job.finished_at !== null} />
              </Suspense>
            )}
            <Attempts job={job.id} retryAt={job.view === "retrying" ? job.due_at : null} />
            <Suspense fallback={null}>
              <Dependencies job={job} />
            </Suspense>
          </div>
          <div className="min-w-0 space-y-3">
            <Values job={job} />
            {session.may("history.read") && <Timeline job={job.id} />}
            <Related job={job} />
          </div>
        </div>
      </div>
      {actions.dialog}
    </>
  );
}

function Neighbour({ id, label, sign }: { id: string | null; label: string; sign: string }) {
  const look = "inline-flex size-8 items-center justify-center rounded text-xl";
  if (id === null)
    return (
      <span aria-hidden="true" className={`${look} opacity-40`}>
        {sign}
      </span>
    );
  return (
    <Link
      href={`/jobs/${id}`}
      aria-label={label}
      title={label}
      className={`${look} hover:bg-sunken`}
    >
      {sign}
    </Link>
  );
}
