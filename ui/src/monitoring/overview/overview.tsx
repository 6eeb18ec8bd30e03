import { lazy, Suspense, useState } from "react";
import { Link } from "wouter";
import { useRead } from "@/api/read";
import { useSession } from "@/api/session";
import { QueryView, Skeleton } from "@/parts/panels/panel";
import { StateBadge } from "@/parts/values/state";
import { Count } from "@/parts/values/values";
import { ScreenHeader } from "@/shell/shell";
import { useView } from "@/shell/view";
import { Charts, WINDOWS } from "./charts";
import { Failing } from "./failing";
import { NextRuns } from "./next_runs";
import { Verdict } from "./verdict_line";

const FirstJob = lazy(() => import("@/definitions/first_job"));
const CARDS = ["queued", "running", "retrying", "dead_letter"] as const;
const STATES = ["pending", "queued", "running", "completed", "canceled", "dead_letter"] as const;

/** Answer first: the verdict; then counts, charts, what fails, and what comes next. */
export default function Overview() {
  const session = useSession();
  const [view, setView] = useView({ window: "1h" });
  const shown = WINDOWS.find(([window]) => window === view.window)?.[0] ?? "1h";
  const stats = session.may("stats.read");
  return (
    <>
      <ScreenHeader title="Overview">
        {stats && (
          <fieldset className="flex gap-1">
            <legend className="sr-only">Window</legend>
            {WINDOWS.map(([window, label]) => (
              <button
                key={window}
                type="button"
                className="button aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent"
                aria-pressed={window === shown}
                onClick={() => setView({ window })}
              >
                {label}
              </button>
            ))}
          </fieldset>
        )}
      </ScreenHeader>
      <div className="space-y-4">
        <Welcome />
        {stats && <Verdict />}
        <Cards />
        {stats && <Charts window={shown} />}
        <div className="grid gap-4 lg:grid-cols-2">
          {stats && <Failing window={shown} />}
          {session.may("triggers.read") && <NextRuns />}
        </div>
      </div>
    </>
  );
}

function useSummary() {
  return useRead("/api/v1/jobs/summary", {}, { topics: ["jobs"], refetchInterval: 30_000 });
}

/** A first job to run, where there never was one. It stays while that job is looked at. */
function Welcome() {
  const { data } = useSummary();
  const [shown, setShown] = useState(false);
  const none = data && STATES.every((state) => data[state] === 0);
  if (none && !shown) setShown(true);
  return shown ? (
    <Suspense fallback={null}>
      <FirstJob />
    </Suspense>
  ) : null;
}

function Cards() {
  const summary = useSummary();
  return (
    <QueryView query={summary} skeleton={<Skeleton lines={2} />}>
      {(data) => (
        <ul className="grid grid-cols-2 gap-3 lg:grid-cols-4">
          {CARDS.map((card) => {
            const count =
              card === "dead_letter" || card === "running"
                ? { count: data[card], exact: true }
                : (data.views[card] ?? { count: 0, exact: true });
            return (
              <li key={card}>
                <Link
                  href={card === "dead_letter" ? "/dead" : `/jobs?q=state:${card}`}
                  className="block rounded-md border border-line p-3 hover:bg-raised"
                >
                  <StateBadge state={card} />
                  <span className="mt-1 block text-2xl font-semibold">
                    <Count value={count.count} exact={count.exact} />
                  </span>
                </Link>
              </li>
            );
          })}
        </ul>
      )}
    </QueryView>
  );
}
