import { useState } from "react";
import { Link } from "wouter";
import { type Item, useRead, useReadPages } from "@/api/read";
import { useSession } from "@/api/session";
import { SelectField, Switch, TextField } from "@/parts/forms/fields";
import { NothingMatches, NothingYet, Panel, QueryView, Skeleton } from "@/parts/panels/panel";
import { type Column, Table } from "@/parts/tables/table";
import { Duration, durationWords, Time } from "@/parts/values/time";
import { Mark } from "@/parts/values/values";
import { ScreenHeader } from "@/shell/shell";
import { useView } from "@/shell/view";
import {
  backoffWords,
  type DefinitionEntry,
  limitWords,
  shareWords,
  strategyWords,
} from "./definition_words";
import { EnabledSwitch } from "./enabled_switch";
import { RunDialog } from "./run_dialog";

const DEFAULTS = {
  search: "",
  tag: "",
  kind: "",
  enabled: "",
  changed: "",
  system: "",
};
const QUICK = /sitemap|cache|backup|analytics/;

/** All definitions: what may run, how, and how it does. */
export default function DefinitionList() {
  const [view, setView] = useView(DEFAULTS);
  const [running, setRunning] = useState<DefinitionEntry | null>(null);
  const query = {
    limit: 200,
    ...(view.search && { search: view.search }),
    ...(view.tag && { tag: view.tag }),
    ...(view.kind && { kind: view.kind }),
    ...(view.enabled && { enabled: view.enabled === "yes" }),
    ...(view.changed === "edited" && { edited: true }),
    ...(view.changed === "missing" && { missing: true }),
    ...(view.system && { system: true }),
  };
  const pages = useReadPages(
    "/api/v1/definitions",
    { params: { query } },
    { refetchInterval: 15_000 },
  );
  const session = useSession();
  const stats = useRead(
    "/api/v1/stats/definitions",
    { params: { query: { window: "24h", limit: 500 } } },
    { enabled: session.may("stats.read"), refetchInterval: 60_000 },
  );
  const did = new Map(stats.data?.items.map((each) => [each.definition, each]));
  const definitions = pages.data?.pages.flatMap((page) => page.items) ?? [];
  const filtered = Object.values(view).some((value) => value !== "");
  return (
    <>
      <ScreenHeader title="Definitions" />
      <search className="mb-3 flex flex-wrap items-end gap-2">
        <div className="min-w-48 flex-1 sm:max-w-80">
          <TextField
            label="Search"
            type="search"
            placeholder="key, title, description, tag"
            value={view.search}
            change={(search) => setView({ search }, { push: false })}
          />
        </div>
        <div className="w-28">
          <TextField
            label="Tag"
            value={view.tag}
            change={(tag) => setView({ tag }, { push: false })}
          />
        </div>
        <SelectField
          label="Kind"
          value={view.kind}
          change={(kind) => setView({ kind })}
          options={[
            ["", "All"],
            ["code", "Code"],
            ["path", "Path"],
            ["command", "Command"],
            ["remote", "Remote"],
          ]}
        />
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
          label="Compared to code"
          value={view.changed}
          change={(changed) => setView({ changed })}
          options={[
            ["", "All"],
            ["edited", "Edited here"],
            ["missing", "Missing from code"],
          ]}
        />
        <div className="flex min-h-8 items-center">
          <Switch
            label="System definitions"
            checked={view.system !== ""}
            change={(on) => setView({ system: on ? "yes" : "" })}
          />
        </div>
      </search>
      <QuickActions definitions={definitions} run={setRunning} />
      <Panel title={filtered ? "Definitions that match" : "All definitions"}>
        <QueryView query={pages as never} skeleton={<Skeleton lines={8} />}>
          {() =>
            definitions.length > 0 ? (
              <Table
                label="Definitions"
                columns={columns(setRunning, did)}
                rows={definitions}
                rowKey={(each) => each.key}
              />
            ) : filtered ? (
              <NothingMatches clear={() => setView(DEFAULTS)} />
            ) : (
              <NothingYet snippet="windlass dev jobs.py">
                No definition is known. Put <code>@wl.job</code> on a function and start a worker
                that imports it.
              </NothingYet>
            )
          }
        </QueryView>
        {pages.hasNextPage && (
          <button type="button" className="button mt-3" onClick={() => void pages.fetchNextPage()}>
            Show more
          </button>
        )}
      </Panel>
      {running && <RunDialog definition={running} close={() => setRunning(null)} />}
    </>
  );
}

/** Buttons for the definitions that every site has: sitemap, cache, backup, analytics. */
function QuickActions({
  definitions,
  run,
}: {
  definitions: DefinitionEntry[];
  run: (definition: DefinitionEntry) => void;
}) {
  const session = useSession();
  const quick = definitions.filter(
    (each) =>
      each.enabled &&
      !each.missing_from_code &&
      (QUICK.test(each.key) || each.tags.some((tag) => QUICK.test(tag))),
  );
  if (quick.length === 0 || !session.may("jobs.enqueue")) return null;
  return (
    <section aria-label="Quick actions" className="mb-3 flex flex-wrap items-center gap-2">
      <h2 className="text-[13px] font-medium text-muted">Quick actions</h2>
      {quick.slice(0, 8).map((each) => (
        <button
          key={each.key}
          type="button"
          className="button"
          title={each.description || each.key}
          onClick={() => run(each)}
        >
          ▸ {each.title || each.key}
        </button>
      ))}
    </section>
  );
}

type Stats = Item<"/api/v1/stats/definitions">;

function columns(
  run: (definition: DefinitionEntry) => void,
  did: ReadonlyMap<string, Stats>,
): Column<DefinitionEntry>[] {
  return [
    { id: "key", title: "Definition", cell: (each) => <Name definition={each} /> },
    {
      id: "enabled",
      title: "Enabled",
      cell: (each) => <EnabledSwitch definition={each} hideLabel />,
    },
    {
      id: "strategy",
      title: "Strategy",
      cell: (each) => <span className="whitespace-nowrap">{strategyWords(each.strategy)}</span>,
    },
    { id: "queue", title: "Queue", wide: true, cell: (each) => each.queue },
    {
      id: "attempts",
      title: "Attempts",
      cell: (each) => (
        <>
          {each.max_attempts}
          <span className="hidden text-[13px] whitespace-nowrap text-muted md:block">
            {backoffWords(each.backoff, "short")}
          </span>
        </>
      ),
    },
    {
      id: "timeout",
      title: "Timeout",
      numeric: true,
      wide: true,
      cell: (each) => (each.timeout_seconds ? durationWords(each.timeout_seconds) : "none"),
    },
    {
      id: "limits",
      title: "Limits",
      wide: true,
      cell: (each) => limitWords(each).join(" · ") || <span className="text-muted">–</span>,
    },
    {
      id: "success",
      title: "Success 24 h",
      numeric: true,
      cell: (each) => {
        const rate = did.get(each.key)?.success_rate ?? null;
        return rate === null ? <span className="text-muted">–</span> : shareWords(rate);
      },
    },
    {
      id: "p95",
      title: "p95",
      numeric: true,
      wide: true,
      cell: (each) => <Duration seconds={did.get(each.key)?.p95_run_seconds ?? null} />,
    },
    { id: "running", title: "Running", numeric: true, cell: (each) => each.running },
    { id: "next", title: "Next run", wide: true, cell: (each) => <Time at={each.next_run_at} /> },
    {
      id: "code",
      title: "Code",
      wide: true,
      cell: (each) => <code>{each.code_hash.slice(0, 7) || "–"}</code>,
    },
    { id: "run", title: "Run", cell: (each) => <RunButton definition={each} run={run} /> },
  ];
}

function RunButton({
  definition,
  run,
}: {
  definition: DefinitionEntry;
  run: (definition: DefinitionEntry) => void;
}) {
  const session = useSession();
  if (!session.may("jobs.enqueue")) return null;
  return (
    <button
      type="button"
      className="button min-h-7"
      aria-label={`Run ${definition.key}`}
      disabled={!definition.enabled}
      title={definition.enabled ? undefined : "It is disabled: new jobs are refused."}
      onClick={() => run(definition)}
    >
      Run…
    </button>
  );
}

function Name({ definition }: { definition: DefinitionEntry }) {
  const { key, title, tags, edited, missing_from_code: missing, system } = definition;
  return (
    <div className="min-w-40">
      <Link className="link font-medium" href={`/definitions/${encodeURIComponent(key)}`}>
        {key}
      </Link>
      {title && title !== key && <span className="block text-[13px] text-muted">{title}</span>}
      {(edited.length > 0 || missing || system || tags.length > 0) && (
        <span className="flex flex-wrap gap-1 pt-0.5">
          {missing && <Mark look="bg-danger-soft text-danger">Missing from code</Mark>}
          {edited.length > 0 && <Mark look="bg-warn-soft text-warn">Edited here</Mark>}
          {system && <Mark look="bg-sunken text-muted">System</Mark>}
          {tags.map((tag) => (
            <Mark key={tag} look="bg-sunken text-muted">
              {tag}
            </Mark>
          ))}
        </span>
      )}
    </div>
  );
}
