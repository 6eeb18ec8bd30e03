import { useRead } from "@/api/read";
import { QueryView } from "@/parts/panels/panel";
import { StateBadge } from "@/parts/values/state";
import { Count } from "@/parts/values/values";
import { ScreenHeader } from "@/shell/shell";

const CARDS = ["queued", "running", "retrying", "dead_letter"] as const;

export default function Overview() {
  const summary = useRead("/api/v1/jobs/summary", {}, { topics: ["jobs"] });
  return (
    <>
      <ScreenHeader title="Overview" />
      <QueryView query={summary}>
        {(data) => (
          <ul className="grid grid-cols-2 gap-3 lg:grid-cols-4">
            {CARDS.map((card) => (
              <li key={card} className="rounded-md border border-line p-3">
                <StateBadge state={card} />
                <p className="mt-1 text-2xl font-semibold">
                  <Count
                    value={data.views[card]?.count ?? 0}
                    exact={data.views[card]?.exact ?? true}
                  />
                </p>
              </li>
            ))}
          </ul>
        )}
      </QueryView>
    </>
  );
}
