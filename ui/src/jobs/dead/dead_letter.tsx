import { useRead } from "@/api/read";
import { Switch } from "@/parts/forms/fields";
import { NothingMatches, QueryView, Skeleton } from "@/parts/panels/panel";
import { numberWords } from "@/parts/values/values";
import { useLens } from "@/shell/lens";
import { ScreenHeader } from "@/shell/shell";
import { useView } from "@/shell/view";
import { useGroupActions } from "./group_actions";
import { GroupCard } from "./group_card";
import { matches } from "./groups";

const DEFAULTS = { find: "", recovered: "", muted: "", trend: "24h" };

/** The dead letter as an inbox of causes. */
export default function DeadLetter() {
  const { single } = useLens();
  const [view, setView] = useView(DEFAULTS);
  const actions = useGroupActions();
  const groups = useRead(
    "/api/v1/dead/groups",
    {
      params: {
        query: {
          limit: 500,
          ...(view.muted ? { muted: true } : {}),
          ...(view.recovered ? {} : { recovered: false }),
        },
      },
    },
    { topics: ["dead"], refetchInterval: 60_000 },
  );
  const filtered = view.find !== "" || view.recovered !== "" || view.muted !== "";
  return (
    <>
      <ScreenHeader title="Dead letter">
        <input
          type="search"
          aria-label="Find a cause"
          placeholder={single ? "Definition or error" : "Definition, error or tenant"}
          className="input w-60"
          value={view.find}
          onChange={(event) => setView({ find: event.target.value }, { push: false })}
        />
        <select
          aria-label="Trend"
          className="input w-auto"
          value={view.trend}
          onChange={(event) => setView({ trend: event.target.value })}
        >
          <option value="24h">24 hours</option>
          <option value="7d">7 days</option>
        </select>
        <Switch
          label="Recovered"
          checked={view.recovered !== ""}
          change={(on) => setView({ recovered: on ? "shown" : "" })}
        />
        <Switch
          label="Muted"
          checked={view.muted !== ""}
          change={(on) => setView({ muted: on ? "shown" : "" })}
        />
      </ScreenHeader>
      <QueryView query={groups} skeleton={<Skeleton lines={8} />}>
        {({ items }) => {
          const shown = items.filter((group) => matches(group, view.find));
          const jobs = shown.reduce((sum, group) => sum + group.count, 0);
          if (shown.length === 0)
            return filtered ? (
              <NothingMatches clear={() => setView(DEFAULTS)}>
                No cause matches these filters.
              </NothingMatches>
            ) : (
              <p className="py-16 text-center">
                <span className="text-good">✓</span> Nothing needs you: no job has failed for good,
                but for causes that recovered or are muted.
              </p>
            );
          return (
            <>
              <p role="status" className="mb-2">
                {numberWords(jobs)} {jobs === 1 ? "job" : "jobs"} failed for{" "}
                {shown.length === 500 ? "500 or more causes" : causes(shown.length)}.
              </p>
              <ul className="rounded-md border border-line">
                {shown.map((group) => (
                  <GroupCard
                    key={`${group.definition} ${group.fingerprint}`}
                    group={group}
                    week={view.trend === "7d"}
                    actions={actions}
                  />
                ))}
              </ul>
            </>
          );
        }}
      </QueryView>
      {actions.dialog}
    </>
  );
}

function causes(count: number): string {
  return count === 1 ? "one cause" : `${numberWords(count)} causes`;
}
