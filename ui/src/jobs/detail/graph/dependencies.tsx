import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { Link } from "wouter";
import type { Problem } from "@/api/problem";
import { useTopics } from "@/api/read";
import type { Job } from "@/jobs/actions/job_actions";
import { Panel, QueryView, Skeleton } from "@/parts/panels/panel";
import { StateBadge } from "@/parts/values/state";
import { UserText } from "@/parts/values/text";
import { numberWords } from "@/parts/values/values";
import { type Branch, branchesOf, type Family, readFamily } from "./family";

const GraphView = lazy(() => import("./graph_view"));
/** A picture of more jobs says nothing; the list still does. */
const MOST_DRAWN = 400;

/** The jobs that a job waits for, and those that wait for it: as a picture and as a list. */
export default function Dependencies({ job }: { job: Job }) {
  const [steps, setSteps] = useState(1);
  const [shape, setShape] = useState<"graph" | "list">("graph");
  const key = ["family", job.id, steps];
  useTopics([`job:${job.id}`], key, true);
  const family = useQuery<Family, Problem>({
    queryKey: key,
    queryFn: () => readFamily(job.id, steps),
    placeholderData: keepPreviousData as never,
    staleTime: 10_000,
  });
  if (family.data === undefined ? !family.isError : family.data.edges.length === 0) return null;
  return (
    <div id="dependencies">
      <Panel
        title="Dependencies"
        actions={
          <div className="flex gap-2">
            {(["graph", "list"] as const).map((each) => (
              <button
                key={each}
                type="button"
                aria-pressed={shape === each}
                className="button aria-pressed:bg-accent-soft"
                onClick={() => setShape(each)}
              >
                {each === "graph" ? "Graph" : "List"}
              </button>
            ))}
          </div>
        }
      >
        <QueryView query={family}>
          {(data) => (
            <>
              {shape === "graph" && data.nodes.size <= MOST_DRAWN ? (
                <Suspense fallback={<Skeleton lines={5} />}>
                  <GraphView family={data} job={job.id} />
                </Suspense>
              ) : (
                <Branches branches={branchesOf(data)} job={job.id} label="Dependencies as a list" />
              )}
              {data.unread.length > 0 && (
                <p className="mt-2">
                  {numberWords(data.nodes.size)} jobs are shown, and there are more.{" "}
                  <button
                    type="button"
                    className="link min-h-6"
                    disabled={family.isFetching}
                    onClick={() => setSteps(steps + 2)}
                  >
                    Show more
                  </button>
                </p>
              )}
            </>
          )}
        </QueryView>
      </Panel>
    </div>
  );
}

function Branches({
  branches,
  job,
  label,
}: {
  branches: readonly Branch[];
  job: string;
  label?: string;
}) {
  return (
    <ul
      aria-label={label}
      className={label ? "max-h-96 overflow-auto" : "ml-3 border-l border-line pl-3"}
    >
      {branches.map((branch) => (
        <li key={branch.node.id}>
          <span className="inline-flex min-h-7 flex-wrap items-center gap-x-2">
            {branch.node.state === null ? (
              <span className="text-muted">gone</span>
            ) : (
              <StateBadge state={branch.node.state} />
            )}
            {branch.node.id === job ? (
              <strong aria-current="page">
                <UserText>{branch.node.definition ?? "this job"}</UserText>
              </strong>
            ) : (
              <Link className="link" href={`/jobs/${branch.node.id}`}>
                <UserText>{branch.node.definition ?? "job"}</UserText>{" "}
                <span className="mono">{branch.node.id.slice(-8)}</span>
              </Link>
            )}
            {branch.again && <span className="text-muted">(see above)</span>}
          </span>
          {branch.children.length > 0 && <Branches branches={branch.children} job={job} />}
        </li>
      ))}
    </ul>
  );
}
