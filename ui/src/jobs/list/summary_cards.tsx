import { useRead } from "@/api/read";
import { StateBadge } from "@/parts/values/state";
import { Count } from "@/parts/values/values";

/** Card -> the filter that shows what it counts. The stored state has more than the view "queued". */
const CARDS = {
  queued: "state:queued -state:scheduled,retrying",
  running: "state:running",
  retrying: "state:retrying",
  dead_letter: "state:dead_letter",
} as const;

/** Counts of jobs by view; each filters the list by what it counts. */
export function SummaryCards({ q, change }: { q: string; change: (q: string) => void }) {
  const summary = useRead("/api/v1/jobs/summary", {}, { topics: ["jobs"] });
  return (
    <ul className="mb-2 grid grid-cols-2 gap-2 sm:grid-cols-4" aria-label="Jobs by state">
      {Object.entries(CARDS).map(([view, filter]) => {
        const count = summary.data?.views[view];
        const pressed = q === filter;
        return (
          <li key={view}>
            <button
              type="button"
              aria-pressed={pressed}
              className="flex min-h-10 w-full items-center justify-between gap-2 rounded-md border border-line bg-raised px-3 py-1 hover:border-line-strong aria-pressed:border-accent aria-pressed:bg-accent-soft"
              onClick={() => change(pressed ? "" : filter)}
            >
              <StateBadge state={view} />
              <span className="text-base font-semibold">
                {count ? <Count value={count.count} exact={count.exact} /> : "–"}
              </span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}
