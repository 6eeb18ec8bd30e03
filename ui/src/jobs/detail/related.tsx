import { Link } from "wouter";
import { useRead } from "@/api/read";
import type { Job } from "@/jobs/actions/job_actions";
import { Panel, QueryView } from "@/parts/panels/panel";
import { StateBadge } from "@/parts/values/state";
import { UserText } from "@/parts/values/text";
import { Time } from "@/parts/values/time";

/** Jobs that belong to the same piece of work, and the earlier ones of the same trigger. */
export function Related({ job }: { job: Job }) {
  return (
    <>
      {job.correlation_id && (
        <Siblings
          title="Same correlation"
          job={job}
          query={{ correlation_id: job.correlation_id, limit: 20 }}
        />
      )}
      {job.trigger_id && (
        <Siblings
          title="Same trigger"
          job={job}
          query={{ q: `trigger:${job.trigger_id}`, limit: 10 }}
        />
      )}
    </>
  );
}

function Siblings({
  title,
  job,
  query,
}: {
  title: string;
  job: Job;
  query: { correlation_id?: string; q?: string; limit: number };
}) {
  const siblings = useRead("/api/v1/jobs", { params: { query } });
  const others = siblings.data?.items.filter((each) => each.id !== job.id);
  if (siblings.isPending || (others !== undefined && others.length === 0)) return null;
  return (
    <Panel title={title}>
      <QueryView query={siblings}>
        {() => (
          <ul className="divide-y divide-line">
            {others?.map((each) => (
              <li key={each.id} className="flex min-h-8 flex-wrap items-center gap-x-3">
                <StateBadge state={each.view} />
                <Link className="link min-w-0 truncate" href={`/jobs/${each.id}`}>
                  <UserText>{each.definition}</UserText>{" "}
                  <span className="mono">{each.id.slice(-8)}</span>
                </Link>
                <span className="ml-auto text-muted">
                  <Time at={each.created_at} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </QueryView>
    </Panel>
  );
}
