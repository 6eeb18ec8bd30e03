import type { ReactNode } from "react";
import { Link } from "wouter";
import { useSession } from "@/api/session";
import type { Job } from "@/jobs/actions/job_actions";
import { UserText } from "@/parts/values/text";
import { Duration, Time } from "@/parts/values/time";
import { priorityWords, ShortId } from "@/parts/values/values";
import { useLens } from "@/shell/lens";

/** What a job is and when it did what, in a few lines. */
export function Facts({ job }: { job: Job }) {
  const session = useSession();
  const { single } = useLens();
  const to = (right: string, address: string, text: string): ReactNode =>
    session.may(right) ? (
      <Link className="link" href={address}>
        <UserText>{text}</UserText>
      </Link>
    ) : (
      <UserText>{text}</UserText>
    );
  const running = job.state === "running";
  return (
    <dl className="grid grid-cols-2 gap-x-4 gap-y-2 sm:grid-cols-3 lg:grid-cols-5 xl:grid-cols-6">
      <Fact name="Id">
        <ShortId id={job.id} />
      </Fact>
      {!single && (
        <Fact name="Tenant">
          {to("tenants.read", `/tenants/${encodeURIComponent(job.tenant_id)}`, job.tenant_id)}
        </Fact>
      )}
      <Fact name="Queue">
        {to("queues.read", `/queues/${encodeURIComponent(job.queue)}`, job.queue)}
      </Fact>
      <Fact name="Priority">{priorityWords(job.priority)}</Fact>
      <Fact name="Attempts">
        {job.attempts} of {job.max_attempts}
      </Fact>
      <Fact name="Created">
        <Time at={job.created_at} />
      </Fact>
      {job.view === "scheduled" || job.view === "retrying" ? (
        <Fact name={job.view === "retrying" ? "Next attempt" : "Due"}>
          <Time at={job.due_at} />
        </Fact>
      ) : null}
      {job.started_at && (
        <Fact name="Started">
          <Time at={job.started_at} />
        </Fact>
      )}
      {job.finished_at && (
        <Fact name="Finished">
          <Time at={job.finished_at} />
        </Fact>
      )}
      {(running || job.duration_ms !== null) && (
        <Fact name={running ? "Running for" : "Duration"}>
          {running ? (
            <Duration since={job.last_started_at ?? job.started_at} />
          ) : (
            <Duration seconds={(job.duration_ms ?? 0) / 1000} />
          )}
        </Fact>
      )}
      {job.timeout_seconds !== null && (
        <Fact name="Time limit">
          <Duration seconds={job.timeout_seconds} />
        </Fact>
      )}
      {job.worker_id && (
        <Fact name="Worker">
          {to("workers.read", `/workers/${encodeURIComponent(job.worker_id)}`, job.worker_id)}
        </Fact>
      )}
      <Fact name="Source">
        {SOURCES[job.source]}
        {job.trigger_id !== null &&
          session.may("triggers.read") &&
          (job.source === "schedule" || job.source === "event") && (
            <>
              {" "}
              <Link className="link" href={`/schedules/${job.trigger_id}`}>
                trigger
              </Link>
            </>
          )}
      </Fact>
      {job.created_by && (
        <Fact name="Created by">
          <UserText>{job.created_by}</UserText>
        </Fact>
      )}
      {job.dedupe_key && (
        <Fact name="Dedupe key">
          <UserText>{job.dedupe_key}</UserText>
        </Fact>
      )}
      {job.payload_version > 1 && <Fact name="Payload version">{job.payload_version}</Fact>}
      {job.expires_at && !job.started_at && (
        <Fact name="Expires">
          <Time at={job.expires_at} />
        </Fact>
      )}
    </dl>
  );
}

const SOURCES: Record<Job["source"], string> = {
  manual: "Enqueued",
  event: "Event",
  schedule: "Schedule",
  system: "Windlass",
};

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-[13px] text-muted">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
