import type { ReactNode } from "react";
import { Link, useParams } from "wouter";
import { useRead } from "@/api/read";
import { RecentJobs } from "@/definitions/definition_page";
import { Panel, QueryView, Skeleton } from "@/parts/panels/panel";
import { Json } from "@/parts/values/json";
import { durationWords, Time } from "@/parts/values/time";
import { useLens } from "@/shell/lens";
import { ScreenHeader } from "@/shell/shell";
import { PreviewPanel, usePreview } from "./preview";
import { formOf, previewQuery } from "./schedule_form";
import { TriggerMenu, TriggerSwitch } from "./trigger_actions";
import { policyWords, type TriggerAnswer, triggerWords } from "./trigger_words";

/** One schedule or trigger: when it fires, what it makes, and what became of that. */
export default function SchedulePage() {
  const { id = "" } = useParams();
  const query = useRead(
    "/api/v1/triggers/{id}",
    { params: { path: { id: decodeURIComponent(id) } } },
    { topics: ["schedules", "triggers"] },
  );
  return (
    <QueryView query={query} skeleton={<Skeleton lines={10} />}>
      {(trigger) => <Details trigger={trigger} />}
    </QueryView>
  );
}

function Details({ trigger }: { trigger: TriggerAnswer }) {
  const { single } = useLens();
  const preview = usePreview(previewQuery(formOf(trigger)));
  const byEvent = trigger.type === "event";
  const facts: [string, ReactNode][] = [
    [
      "Definition",
      <Link
        key="definition"
        className="link"
        href={`/definitions/${encodeURIComponent(trigger.definition)}`}
      >
        {trigger.definition}
      </Link>,
    ],
    ...(single ? [] : [["Tenant", trigger.tenant_id] as [string, ReactNode]]),
    ...(byEvent
      ? []
      : ([
          ["Next run", trigger.enabled ? <Time key="next" at={trigger.next_run_at} /> : "disabled"],
          ["Time zone", trigger.timezone],
          ["Missed · overlap", policyWords(trigger)],
        ] as [string, ReactNode][])),
    ["Last run", <Time key="last" at={trigger.last_run_at} />],
    ["Dedupe key", trigger.dedupe_key ?? "–"],
    [
      "Dedupe window",
      trigger.dedupe_window_seconds ? durationWords(trigger.dedupe_window_seconds) : "–",
    ],
    ["Made by", trigger.origin === "code" ? "code" : (trigger.created_by ?? "an operator")],
    ["Changed", <Time key="changed" at={trigger.updated_at} />],
  ];
  return (
    <>
      <ScreenHeader title={trigger.name}>
        <TriggerSwitch trigger={trigger} />
        <TriggerMenu trigger={trigger} afterDelete="/schedules" />
      </ScreenHeader>
      {trigger.last_error && (
        <p role="alert" className="mb-3 rounded-md bg-danger-soft px-3 py-1.5 text-danger">
          ▲ The last firing failed, <Time at={trigger.last_error_at} />: {trigger.last_error}
        </p>
      )}
      {trigger.warnings.length > 0 && (
        <ul role="status" className="mb-3 rounded-md bg-warn-soft px-3 py-1.5 text-warn">
          {trigger.warnings.map((warning) => (
            <li key={warning}>▲ {warning}</li>
          ))}
        </ul>
      )}
      <div className="grid items-start gap-3 lg:grid-cols-2">
        <div className="grid min-w-0 gap-3">
          <Panel title={triggerWords(trigger)}>
            <dl className="mb-3 grid grid-cols-2 gap-3 sm:grid-cols-3">
              {facts.map(([name, value]) => (
                <div key={name}>
                  <dt className="text-[13px] text-muted">{name}</dt>
                  <dd>{value}</dd>
                </div>
              ))}
            </dl>
            <PreviewPanel state={preview} words={triggerWords(trigger)} />
          </Panel>
          <Edited trigger={trigger} />
        </div>
        <div className="grid min-w-0 gap-3">
          <RecentJobs q={`trigger:${trigger.id}`} />
          <Panel title="Payload of its jobs">
            <Json value={trigger.payload} label="Payload" />
          </Panel>
          {trigger.condition && (
            <Panel title="Condition">
              <Json value={trigger.condition} label="Condition" />
            </Panel>
          )}
        </div>
      </div>
    </>
  );
}

/** What was edited, beside the value of the code. */
function Edited({ trigger }: { trigger: TriggerAnswer }) {
  if (trigger.edited.length === 0) return null;
  const now = trigger as Record<string, unknown>;
  return (
    <Panel title="Edited here">
      <table className="w-full text-left">
        <thead className="text-muted">
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Now</th>
            <th scope="col">Code</th>
          </tr>
        </thead>
        <tbody>
          {trigger.edited.map((name) => (
            <tr key={name} className="border-t border-line">
              <td className="py-1 pr-3">{name}</td>
              <td className="pr-3 font-medium">{words(now[name])}</td>
              <td className="text-muted">{words(trigger.code?.[name])}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

function words(value: unknown): string {
  if (value === null || value === undefined) return "–";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
