import { Suspense, useState } from "react";
import { Link } from "wouter";
import { useRead, useReadPages } from "@/api/read";
import { useSession } from "@/api/session";
import { SelectField, TextField } from "@/parts/forms/fields";
import { NothingMatches, NothingYet, Panel, QueryView, Skeleton } from "@/parts/panels/panel";
import { Tabs } from "@/parts/panels/tabs";
import { type Column, Table } from "@/parts/tables/table";
import { stateLook } from "@/parts/values/state";
import { Time } from "@/parts/values/time";
import { Mark } from "@/parts/values/values";
import { useLens } from "@/shell/lens";
import { ScreenHeader } from "@/shell/shell";
import { useView } from "@/shell/view";
import { ScheduleDialog, TriggerMenu, TriggerSwitch } from "./trigger_actions";
import {
  expressionOf,
  policyWords,
  type Schedule,
  type Trigger,
  triggerWords,
} from "./trigger_words";
import { WeekStrip } from "./week_strip";

const DEFAULTS = { show: "time", definition: "", enabled: "", failing: "", new: "" };

/** Schedules, and in a second tab triggers by event. */
export default function ScheduleList() {
  const [view, setView] = useView(DEFAULTS);
  const session = useSession();
  const { single } = useLens();
  const [creating, setCreating] = useState(view.new !== "");
  const byEvent = view.show === "event";
  const query = {
    limit: 200,
    ...(byEvent && { type: "event" as const }),
    ...(view.definition && { definition: view.definition }),
    ...(view.enabled && { enabled: view.enabled === "yes" }),
    ...(view.failing && { failing: true }),
  };
  const pages = useReadPages(
    byEvent ? "/api/v1/triggers" : "/api/v1/schedules",
    { params: { query } },
    { topics: ["schedules", "triggers"] },
  );
  const triggers = (pages.data?.pages.flatMap((page) => page.items) ?? []) as Trigger[];
  const filtered = view.definition + view.enabled + view.failing !== "";
  return (
    <>
      <ScreenHeader title="Schedules">
        {session.may("triggers.write") && (
          <button type="button" className="button button-primary" onClick={() => setCreating(true)}>
            New…
          </button>
        )}
      </ScreenHeader>
      <Tabs
        label="Triggers"
        tabs={[
          ["time", "By time"],
          ["event", "By event"],
        ]}
        chosen={view.show}
        choose={(show) => setView({ show })}
      >
        <search className="mb-3 flex flex-wrap items-end gap-2">
          <div className="min-w-40 sm:w-64">
            <TextField
              label="Definition"
              type="search"
              placeholder="key"
              value={view.definition}
              change={(definition) => setView({ definition }, { push: false })}
            />
          </div>
          <SelectField
            label="Enabled"
            value={view.enabled}
            change={(enabled) => setView({ enabled })}
            options={[
              ["", "All"],
              ["yes", "Enabled"],
              ["no", "Disabled"],
            ]}
          />
          <SelectField
            label="Last firing"
            value={view.failing}
            change={(failing) => setView({ failing })}
            options={[
              ["", "All"],
              ["yes", "Failed"],
            ]}
          />
        </search>
        {!byEvent && triggers.length > 0 && <WeekStrip schedules={triggers} />}
        <Panel title={byEvent ? "Triggers by event" : "Schedules"}>
          <QueryView query={pages as never} skeleton={<Skeleton lines={6} />}>
            {() =>
              triggers.length > 0 ? (
                <Table
                  label={byEvent ? "Triggers" : "Schedules"}
                  columns={columns(byEvent, single)}
                  rows={triggers}
                  rowKey={(each) => each.id}
                />
              ) : filtered ? (
                <NothingMatches
                  clear={() => setView({ definition: "", enabled: "", failing: "" })}
                />
              ) : byEvent ? (
                <NothingYet snippet={'@wl.on("order.paid", payload={"order": "{{event.order}}"})'}>
                  No trigger listens to an event.
                </NothingYet>
              ) : (
                <NothingYet snippet={'@wl.job(schedule=cron("0 2 * * *", tz="Europe/Berlin"))'}>
                  Nothing runs by the clock yet.
                </NothingYet>
              )
            }
          </QueryView>
          {pages.hasNextPage && (
            <button
              type="button"
              className="button mt-3"
              onClick={() => void pages.fetchNextPage()}
            >
              Show more
            </button>
          )}
        </Panel>
      </Tabs>
      <Suspense>
        {creating && (
          <ScheduleDialog
            definition={view.new}
            close={() => {
              setCreating(false);
              setView({ new: "" }, { push: false });
            }}
          />
        )}
      </Suspense>
    </>
  );
}

function columns(byEvent: boolean, single: boolean): Column<Trigger>[] {
  const all: (Column<Trigger> | false)[] = [
    { id: "name", title: "Name", cell: (each) => <Name trigger={each} /> },
    {
      id: "enabled",
      title: "Enabled",
      cell: (each) => <TriggerSwitch trigger={each} hideLabel />,
    },
    {
      id: "when",
      title: byEvent ? "Event" : "Fires",
      cell: (each) => (
        <>
          {each.type === "cron" && <CronWords trigger={each} />}
          <span className={each.cron ? "mono block whitespace-nowrap text-muted" : ""}>
            {byEvent ? expressionOf(each) : triggerWords(each)}
          </span>
        </>
      ),
    },
    !single && { id: "tenant", title: "Tenant", wide: true, cell: (each) => each.tenant_id },
    !byEvent && {
      id: "next",
      title: "Next run",
      cell: (each) =>
        each.enabled ? (
          <Time at={each.next_run_at} />
        ) : (
          <span className="text-muted">disabled</span>
        ),
    },
    {
      id: "last",
      title: "Last run",
      cell: (each) =>
        each.last_job_id ? (
          <Link className="link" href={`/jobs/${each.last_job_id}`}>
            <Time at={each.last_run_at} />
          </Link>
        ) : (
          <Time at={each.last_run_at} />
        ),
    },
    !byEvent && {
      id: "outcomes",
      title: "Last outcomes",
      wide: true,
      cell: (each) => <Outcomes trigger={each} />,
    },
    !byEvent && {
      id: "policy",
      title: "Missed · overlap",
      wide: true,
      cell: (each) => <span className="text-muted">{policyWords(each)}</span>,
    },
    byEvent && {
      id: "condition",
      title: "Condition",
      wide: true,
      cell: (each) =>
        each.condition ? (
          <code className="line-clamp-2">{JSON.stringify(each.condition)}</code>
        ) : (
          "–"
        ),
    },
    { id: "menu", title: "Actions", cell: (each) => <TriggerMenu trigger={each} /> },
  ];
  return all.filter((column): column is Column<Trigger> => column !== false);
}

/** A cron expression in words, as the server says them. */
function CronWords({ trigger }: { trigger: Trigger }) {
  const query = { cron: trigger.cron, timezone: trigger.timezone, limit: 1 };
  const preview = useRead(
    "/api/v1/schedules/preview",
    { params: { query } },
    { staleTime: Number.POSITIVE_INFINITY },
  );
  return <span className="block min-w-40">{preview.data?.words ?? "\u00a0"}</span>;
}

function Name({ trigger }: { trigger: Trigger }) {
  const { id, name, definition, edited, last_error: error, missing_from_code: missing } = trigger;
  return (
    <div className="min-w-36">
      <Link className="link font-medium" href={`/schedules/${id}`}>
        {name}
      </Link>
      {definition !== name && <span className="block text-[13px] text-muted">{definition}</span>}
      <span className="flex flex-wrap gap-1">
        {missing && <Mark look="bg-danger-soft text-danger">Missing from code</Mark>}
        {edited.length > 0 && (
          <Mark look="bg-warn-soft text-warn">Edited here: {edited.join(", ")}</Mark>
        )}
        {error && (
          <Mark look="bg-danger-soft text-danger">
            <span title={error}>▲ Last firing failed</span>
          </Mark>
        )}
      </span>
    </div>
  );
}

/** The last jobs of a schedule, oldest first: a glyph each, which leads to the job. */
export function Outcomes({ trigger }: { trigger: Trigger | Schedule }) {
  const outcomes = "last_outcomes" in trigger ? trigger.last_outcomes : [];
  if (outcomes.length === 0) return <span className="text-muted">–</span>;
  const oldestFirst = outcomes.toSorted((a, b) => a.due_at.localeCompare(b.due_at));
  return (
    <span className="inline-flex flex-wrap">
      {oldestFirst.map(({ job_id: id, state, due_at: at }) => {
        const look = stateLook(state);
        return (
          <Link
            key={id}
            href={`/jobs/${id}`}
            aria-label={`${look.label}, due ${at.slice(0, 16).replace("T", " ")} UTC`}
            title={`${look.label}, due ${at.slice(0, 16).replace("T", " ")} UTC`}
            className="min-h-6 min-w-4 text-center font-bold hover:bg-sunken"
            style={{ color: look.color }}
          >
            {look.glyph}
          </Link>
        );
      })}
    </span>
  );
}
