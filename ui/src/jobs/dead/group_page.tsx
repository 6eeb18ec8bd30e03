import { useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import { useRead, useReadPages } from "@/api/read";
import { useSession } from "@/api/session";
import { type Job, useJobActions } from "@/jobs/actions/job_actions";
import { ErrorText } from "@/jobs/detail/error/error_text";
import { TracebackView } from "@/jobs/detail/error/traceback_view";
import { rememberList } from "@/jobs/detail/neighbours";
import { EditRetryDialog } from "@/jobs/detail/payload/edit_retry";
import { Menu } from "@/parts/dialogs/menu";
import { ErrorState, Panel, QueryView, Skeleton } from "@/parts/panels/panel";
import { type Column, Table } from "@/parts/tables/table";
import { Json } from "@/parts/values/json";
import { UserText } from "@/parts/values/text";
import { Time } from "@/parts/values/time";
import { numberWords, Sparkline } from "@/parts/values/values";
import { useLens } from "@/shell/lens";
import { ScreenHeader } from "@/shell/shell";
import { useGroupActions } from "./group_actions";
import { GroupNotes, RunbookLink } from "./group_card";
import { type Group, type GroupName, groupOf } from "./groups";

/** One cause: the newest job with its error, and all jobs that failed for it. */
export default function GroupPage() {
  const params = useParams();
  const name = groupOf(params.definition ?? "", params.fingerprint ?? "");
  const groups = useRead(
    "/api/v1/dead/groups",
    { params: { query: { definition: name.definition, muted: true, limit: 500 } } },
    { topics: ["dead"] },
  );
  return (
    <QueryView query={groups} skeleton={<Skeleton lines={10} />}>
      {({ items }) => {
        const group = items.find((each) => each.fingerprint === name.fingerprint);
        return group ? <GroupView group={group} /> : <Gone definition={name.definition} />;
      }}
    </QueryView>
  );
}

function Gone({ definition }: GroupName | { definition: string }) {
  return (
    <>
      <ScreenHeader title={<UserText>{definition}</UserText>} />
      <p className="py-16 text-center">
        No job rests here for this cause: all were retried or discarded.{" "}
        <Link className="link" href="/dead">
          Dead letter
        </Link>
      </p>
    </>
  );
}

function GroupView({ group }: { group: Group }) {
  const session = useSession();
  const [, navigate] = useLocation();
  const actions = useGroupActions({ gone: () => navigate("/dead") });
  const sample = useRead("/api/v1/jobs/{job_id}", {
    params: { path: { job_id: group.sample_id } },
  });
  const [edited, setEdited] = useState<Job | null>(null);
  const menu = actions.menu(group);
  return (
    <>
      <ScreenHeader
        title={
          <>
            <UserText>{group.definition}</UserText>{" "}
            <span className="text-base font-normal text-muted">
              {numberWords(group.count)} {group.count === 1 ? "job" : "jobs"}
            </span>
          </>
        }
      >
        <RunbookLink address={group.runbook_url} />
        {session.may("jobs.retry") && (
          <button
            type="button"
            className="button button-primary"
            onClick={() => actions.ask("retry", group)}
          >
            Retry all
          </button>
        )}
        {menu.length > 0 && (
          <Menu label="Actions" items={menu}>
            Actions ▾
          </Menu>
        )}
      </ScreenHeader>
      <div className="space-y-3">
        <div>
          <p className="text-base font-medium">
            <UserText>{group.sentence || "No cause is known."}</UserText>
          </p>
          <p className="flex flex-wrap items-center gap-x-3 text-muted">
            <span>
              First <Time at={group.first_at} />
            </span>
            <span>
              Last <Time at={group.last_at} />
            </span>
            {group.code && (
              <span>
                Code <span className="mono">{group.code}</span>
              </span>
            )}
            <Sparkline values={group.trend_7d} label="Failures in the last 7 days" />
          </p>
          <GroupNotes group={group} />
        </div>
        <Panel
          title="Newest job"
          actions={
            session.may("jobs.retry") &&
            sample.data?.state === "dead_letter" && (
              <button
                type="button"
                className="button"
                onClick={() => setEdited(sample.data as Job)}
              >
                Edit payload and retry
              </button>
            )
          }
        >
          <QueryView query={sample}>
            {(job) => (
              <div className="grid gap-3 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
                <div className="min-w-0 space-y-2">
                  <p className="max-h-40 overflow-auto whitespace-pre-wrap">
                    <ErrorText type={job.error_type} error={job.last_error ?? job.reason ?? "–"} />
                  </p>
                  {job.error_trace && <TracebackView trace={job.error_trace} />}
                </div>
                <div className="min-w-0">
                  <p className="mb-2">
                    <Link className="link" href={`/jobs/${job.id}`}>
                      Open <span className="mono">{job.id.slice(-8)}</span>
                    </Link>
                  </p>
                  <Json value={job.payload} label="Payload as JSON" />
                </div>
              </div>
            )}
          </QueryView>
        </Panel>
        <GroupJobs group={group} />
      </div>
      {actions.dialog}
      {edited && <EditRetryDialog job={edited} close={() => setEdited(null)} />}
    </>
  );
}

function GroupJobs({ group }: { group: Group }) {
  const { single } = useLens();
  const actions = useJobActions();
  const jobs = useReadPages(
    "/api/v1/dead",
    {
      params: {
        query: { definition: group.definition, fingerprint: group.fingerprint, limit: 50 },
      },
    },
    { topics: ["dead"] },
  );
  const rows = jobs.data?.pages.flatMap((page) => page.items) ?? [];
  type Row = (typeof rows)[number];
  const columns: Column<Row>[] = [
    {
      id: "id",
      title: "Job",
      cell: (job) => (
        <Link
          className="link mono whitespace-nowrap"
          href={`/jobs/${job.id}`}
          onClick={() => rememberList(rows.map((each) => each.id))}
        >
          {job.id.slice(-8)}
        </Link>
      ),
    },
    ...(single
      ? []
      : [
          {
            id: "tenant",
            title: "Tenant",
            cell: (job: Row) => <UserText>{job.tenant_id}</UserText>,
          },
        ]),
    { id: "failed", title: "Failed", cell: (job) => <Time at={job.finished_at} /> },
    {
      id: "attempts",
      title: "Attempts",
      numeric: true,
      cell: (job) => `${job.attempts} of ${job.max_attempts}`,
    },
    {
      id: "error",
      title: "Error",
      wide: true,
      cell: (job) => (
        <span className="line-clamp-1">
          <UserText>{job.last_error ?? job.reason ?? ""}</UserText>
        </span>
      ),
    },
    {
      id: "actions",
      title: "Actions",
      cell: (job) => (
        <Menu
          label={`Actions on ${job.id.slice(-8)}`}
          items={actions.menu(job)}
          className="button button-quiet"
        >
          <span aria-hidden="true">⋯</span>
        </Menu>
      ),
    },
  ];
  return (
    <Panel title="Jobs">
      {jobs.isError && <ErrorState problem={jobs.error} retry={() => void jobs.refetch()} />}
      {jobs.isPending && <Skeleton lines={4} />}
      {rows.length > 0 && (
        <Table
          label="Jobs that failed for this cause"
          columns={columns}
          rows={rows}
          rowKey={(job) => job.id}
        />
      )}
      {jobs.hasNextPage && (
        <button
          type="button"
          className="button mt-2"
          disabled={jobs.isFetchingNextPage}
          onClick={() => void jobs.fetchNextPage()}
        >
          Show more
        </button>
      )}
      {actions.dialog}
    </Panel>
  );
}
