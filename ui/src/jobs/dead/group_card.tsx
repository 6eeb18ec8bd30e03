import { Link } from "wouter";
import { useSession } from "@/api/session";
import { Menu } from "@/parts/dialogs/menu";
import { webAddress } from "@/parts/values/json";
import { UserText } from "@/parts/values/text";
import { Time } from "@/parts/values/time";
import { numberWords, Sparkline } from "@/parts/values/values";
import { useLens } from "@/shell/lens";
import type { GroupActions } from "./group_actions";
import { type Group, groupAddress } from "./groups";

/** A cause: how often, what, where and since when, and what can be done. */
export function GroupCard({
  group,
  week,
  actions,
}: {
  group: Group;
  week: boolean;
  actions: GroupActions;
}) {
  const session = useSession();
  const trend = week ? group.trend_7d : group.trend_24h;
  const recent = trend.reduce((sum, each) => sum + each, 0);
  const menu = actions.menu(group);
  return (
    <li className="grid grid-cols-[4.5rem_minmax(0,1fr)] items-start gap-x-3 gap-y-2 border-b border-line p-3 last:border-b-0 md:grid-cols-[4.5rem_minmax(0,1fr)_auto_auto] md:items-center">
      <p className="text-right">
        <span className="block text-xl font-semibold">{numberWords(group.count)}</span>
        <span className="text-[13px] text-muted">{group.count === 1 ? "job" : "jobs"}</span>
      </p>
      <div className="min-w-0">
        <h2 className="line-clamp-2 text-base">
          <Link className="hover:underline" href={groupAddress(group)}>
            <UserText>{group.sentence || "No cause is known."}</UserText>
          </Link>
        </h2>
        <p className="text-muted">
          <span className="font-medium text-text">
            <UserText>{group.definition}</UserText>
          </span>{" "}
          · last <Time at={group.last_at} /> · first <Time at={group.first_at} />
          <Tenants group={group} />
          {group.code && (
            <>
              {" "}
              · code <span className="mono">{group.code}</span>
            </>
          )}
        </p>
        <GroupNotes group={group} />
      </div>
      <div className="col-start-2 md:col-start-auto">
        <Sparkline
          values={trend}
          label={`${numberWords(recent)} in the last ${week ? "7 days" : "24 hours"}`}
        />
      </div>
      <div className="col-start-2 flex flex-wrap items-center gap-2 md:col-start-auto md:justify-end">
        <RunbookLink address={group.runbook_url} />
        {session.may("jobs.retry") && (
          <button type="button" className="button" onClick={() => actions.ask("retry", group)}>
            Retry all
          </button>
        )}
        {menu.length > 0 && (
          <Menu label="More actions" items={menu} className="button button-quiet">
            <span aria-hidden="true">⋯</span>
          </Menu>
        )}
      </div>
    </li>
  );
}

/** That a group has recovered or is muted, since when and why. */
export function GroupNotes({ group }: { group: Group }) {
  return (
    <>
      {group.recovered && (
        <p className="text-good">
          ✓ Recovered <Time at={group.recovered_at} />: a job has completed since
          {group.recovered_job_id && (
            <>
              {" "}
              (
              <Link className="link" href={`/jobs/${group.recovered_job_id}`}>
                {group.recovered_job_id.slice(-8)}
              </Link>
              )
            </>
          )}
          .
        </p>
      )}
      {group.muted_at !== null && (
        <p className="text-warn">
          Muted
          {group.muted_by && (
            <>
              {" "}
              by <UserText>{group.muted_by}</UserText>
            </>
          )}{" "}
          {group.muted_until === null ? "until it is unmuted" : <Time at={group.muted_until} />}
          {group.reason && (
            <>
              : <UserText>{group.reason}</UserText>
            </>
          )}
        </p>
      )}
    </>
  );
}

export function RunbookLink({ address }: { address: string | null }) {
  const safe = webAddress(address);
  if (safe === null) return null;
  return (
    <a className="button" href={safe} target="_blank" rel="noreferrer noopener">
      Runbook ↗
    </a>
  );
}

function Tenants({ group }: { group: Group }) {
  const { single } = useLens();
  if (single || group.tenants === 0) return null;
  const named = group.tenant_ids.slice(0, 3);
  const more = group.tenants - named.length;
  return (
    <>
      {" "}
      · {group.tenants === 1 ? "tenant" : "tenants"} <UserText>{named.join(", ")}</UserText>
      {more > 0 && ` and ${numberWords(more)} more`}
    </>
  );
}
