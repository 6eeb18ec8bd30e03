import { type ReactNode, useState } from "react";
import { Link, useParams } from "wouter";
import type { Item } from "@/api/read";
import { useRead } from "@/api/read";
import { useSession } from "@/api/session";
import { NothingYet, Panel, QueryView, Skeleton } from "@/parts/panels/panel";
import { type Column, Table } from "@/parts/tables/table";
import { Json } from "@/parts/values/json";
import { StateBadge } from "@/parts/values/state";
import { Duration, Time } from "@/parts/values/time";
import { Count } from "@/parts/values/values";
import { useLens } from "@/shell/lens";
import { ScreenHeader } from "@/shell/shell";
import { type Definition, shareWords, strategyWords } from "./definition_words";
import { EnabledSwitch } from "./enabled_switch";
import { RunDialog } from "./run_dialog";
import { SettingsPanel } from "./settings_panel";

type Job = Item<"/api/v1/jobs">;
type Schedule = Item<"/api/v1/triggers">;

/** One definition: what it does, how it is set, who can run it, and its jobs. */
export default function DefinitionPage() {
  const { key = "" } = useParams();
  const session = useSession();
  const [running, setRunning] = useState(false);
  const query = useRead(
    "/api/v1/definitions/{key}",
    { params: { path: { key: decodeURIComponent(key) } } },
    { refetchInterval: 15_000 },
  );
  return (
    <QueryView query={query} skeleton={<Skeleton lines={12} />}>
      {(definition) => (
        <>
          <ScreenHeader title={definition.key}>
            <EnabledSwitch definition={definition} />
            {session.may("jobs.enqueue") && (
              <button
                type="button"
                className="button button-primary"
                disabled={!definition.enabled}
                title={definition.enabled ? undefined : "It is disabled: new jobs are refused."}
                onClick={() => setRunning(true)}
              >
                Run…
              </button>
            )}
          </ScreenHeader>
          <Standing definition={definition} />
          <div className="grid items-start gap-3 lg:grid-cols-2">
            <div className="grid min-w-0 gap-3">
              <Activity definition={definition} />
              <RecentJobs definition={definition.key} />
              <Workers definition={definition} />
            </div>
            <div className="grid min-w-0 gap-3">
              <SettingsPanel definition={definition} />
              {session.may("triggers.read") && <Schedules definition={definition.key} />}
              <Panel title="Payload schema">
                <Json value={definition.payload_schema} label="Payload schema" />
              </Panel>
            </div>
          </div>
          {running && <RunDialog definition={definition} close={() => setRunning(false)} />}
        </>
      )}
    </QueryView>
  );
}

/** What stands in the way of running it, and what it is for. */
function Standing({ definition }: { definition: Definition }) {
  const { title, description, key, workers } = definition;
  const warning = definition.missing_from_code
    ? "It is missing from the code: nothing schedules it any more. Its jobs and triggers are kept."
    : !definition.enabled
      ? "It is disabled: new jobs are refused and queued ones wait."
      : workers !== null && workers.length === 0
        ? "No live worker knows it: its jobs wait."
        : null;
  return (
    <div className="mb-3 space-y-2">
      {(description || title !== key) && (
        <p className="text-muted">
          {title !== key && <strong className="font-medium text-text">{title}</strong>}{" "}
          {description}
        </p>
      )}
      {warning && (
        <p role="status" className="rounded-md bg-warn-soft px-3 py-1.5 text-warn">
          ▲ {warning}
        </p>
      )}
    </div>
  );
}

function Activity({ definition }: { definition: Definition }) {
  const facts: [string, ReactNode][] = [
    ["Running now", <Count key="running" value={definition.running} />],
    ["Last run", <Time key="last" at={definition.last_run_at} />],
    ["Next run", <Time key="next" at={definition.next_run_at} />],
    [
      "Succeeded, 24 h",
      definition.success_rate === null ? "–" : shareWords(definition.success_rate),
    ],
    ["95 % within, 24 h", <Duration key="p95" seconds={definition.p95_seconds} />],
    ["Strategy", strategyWords(definition.strategy)],
    ["Handler", <code key="handler">{definition.handler || definition.kind}</code>],
    [
      "Code",
      <code key="code" title={definition.code_hash}>
        {definition.code_hash.slice(0, 12) || "–"}
      </code>,
    ],
    ["Payload version", definition.version],
  ];
  return (
    <Panel title="Activity">
      <dl className="grid grid-cols-2 gap-3 sm:grid-cols-3">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt className="text-[13px] text-muted">{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

const JOB_COLUMNS: Column<Job>[] = [
  {
    id: "job",
    title: "Job",
    cell: (job) => (
      <Link className="link mono" href={`/jobs/${job.id}`}>
        {job.id.slice(-8)}
      </Link>
    ),
  },
  { id: "state", title: "State", cell: (job) => <StateBadge state={job.view} /> },
  { id: "created", title: "Created", cell: (job) => <Time at={job.created_at} /> },
  {
    id: "duration",
    title: "Duration",
    numeric: true,
    cell: (job) => <Duration seconds={job.duration_ms === null ? null : job.duration_ms / 1000} />,
  },
  {
    id: "error",
    title: "Last error",
    wide: true,
    cell: (job) => <span className="line-clamp-1">{job.last_error?.split("\n").at(-1)}</span>,
  },
];

/** The newest jobs of a definition, or of a trigger. */
export function RecentJobs({ definition, q }: { definition?: string; q?: string }) {
  const query = { limit: 10, ...(definition && { definition }), ...(q && { q }) };
  const jobs = useRead("/api/v1/jobs", { params: { query } }, { topics: ["jobs"] });
  const search = new URLSearchParams({ q: q ?? `definition:${definition}` });
  return (
    <Panel
      title="Recent jobs"
      actions={
        <Link className="link" href={`/jobs?${search}`}>
          All its jobs
        </Link>
      }
    >
      <QueryView query={jobs} skeleton={<Skeleton lines={5} />}>
        {({ items }) =>
          items.length === 0 ? (
            <NothingYet {...(definition && { snippet: `windlass enqueue ${definition}` })}>
              It has no jobs yet.
            </NothingYet>
          ) : (
            <Table
              label="Recent jobs"
              columns={JOB_COLUMNS}
              rows={items}
              rowKey={(job) => job.id}
            />
          )
        }
      </QueryView>
    </Panel>
  );
}

function Schedules({ definition }: { definition: string }) {
  const { single } = useLens();
  const triggers = useRead(
    "/api/v1/triggers",
    { params: { query: { definition, limit: 50 } } },
    { topics: ["schedules", "triggers"] },
  );
  const columns: Column<Schedule>[] = [
    {
      id: "name",
      title: "Name",
      cell: (each) => (
        <Link className="link" href={`/schedules/${each.id}`}>
          {each.name}
        </Link>
      ),
    },
    { id: "type", title: "Type", cell: (each) => each.type },
    ...(single
      ? []
      : [{ id: "tenant", title: "Tenant", cell: (each: Schedule) => each.tenant_id }]),
    {
      id: "next",
      title: "Next run",
      cell: (each) => (each.enabled ? <Time at={each.next_run_at} /> : "disabled"),
    },
  ];
  return (
    <Panel title="Schedules and triggers">
      <QueryView query={triggers}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="py-2 text-muted">
              None.{" "}
              <Link className="link" href={`/schedules?new=${encodeURIComponent(definition)}`}>
                Put it on a schedule
              </Link>
            </p>
          ) : (
            <Table label="Schedules" columns={columns} rows={items} rowKey={(each) => each.id} />
          )
        }
      </QueryView>
    </Panel>
  );
}

/** Live workers that know the definition, and why others cannot import it. */
function Workers({ definition: { workers, import_errors: errors } }: { definition: Definition }) {
  const failed = Object.entries(errors ?? {});
  return (
    <Panel title="Workers that know it">
      {workers === null ? (
        <p className="text-muted">Your role does not include workers.</p>
      ) : workers.length === 0 ? (
        <p className="text-muted">None is alive. Start one that imports its module.</p>
      ) : (
        <ul className="flex flex-wrap gap-x-4 gap-y-1">
          {workers.map((worker) => (
            <li key={worker}>
              <Link className="link mono" href={`/workers/${encodeURIComponent(worker)}`}>
                {worker}
              </Link>
            </li>
          ))}
        </ul>
      )}
      {failed.length > 0 && (
        <>
          <h3 className="mt-3">These cannot import it</h3>
          <ul className="mt-1 space-y-1">
            {failed.map(([worker, reason]) => (
              <li key={worker}>
                <span className="mono">{worker}</span>
                <pre className="overflow-x-auto whitespace-pre-wrap text-danger">{reason}</pre>
              </li>
            ))}
          </ul>
        </>
      )}
    </Panel>
  );
}
