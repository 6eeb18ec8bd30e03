import { useRef } from "react";
import { Link } from "wouter";
import { useRead } from "@/api/read";
import { useSession } from "@/api/session";
import { exampleValue } from "@/parts/forms/schema_form/schema";
import { Panel } from "@/parts/panels/panel";
import { CopyButton } from "@/parts/values/values";
import { RunForm } from "./run_form";

const NEXT_STEPS = [
  ["Put it on a schedule", "/schedules"],
  ["See it fail and retry", "/dead"],
] as const;

/**
 * What a person sees who opens the dashboard before there was any job: the first definition with
 * its form filled. Nothing where there is a job, or nothing to run.
 */
export default function FirstJob() {
  const session = useSession();
  const enabled = session.may("jobs.enqueue") && session.may("definitions.read");
  const jobs = useRead(
    "/api/v1/jobs",
    { params: { query: { limit: 1 } } },
    { enabled, topics: ["jobs"] },
  );
  const definitions = useRead(
    "/api/v1/definitions",
    { params: { query: { limit: 50, enabled: true } } },
    { enabled },
  );
  const known = definitions.data?.items.filter((each) => !each.missing_from_code) ?? [];
  const first = known.find((each) => each.key === "hello") ?? known[0];
  // It stays while one looks at the job that was just made.
  const shown = useRef(false);
  if (jobs.data?.items.length === 0) shown.current = true;
  if (first === undefined || !shown.current) return null;
  const schema = first.payload_schema;
  return (
    <div className="mb-4 grid gap-3 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
      <Panel title={`Run your first job: ${first.title || first.key}`}>
        <RunForm
          definition={first}
          example={{ ...(exampleValue(schema, schema) as object), ...first.default_payload }}
        />
      </Panel>
      <Panel title="Next">
        <ol className="list-decimal space-y-2 pl-5">
          {NEXT_STEPS.map(([words, path]) => (
            <li key={path}>
              <Link className="link" href={path}>
                {words}
              </Link>
            </li>
          ))}
          <li>
            Move to PostgreSQL or MariaDB: the same code, one variable.
            <span className="mt-1 flex items-center gap-2 rounded-md border border-line bg-raised px-2 py-1">
              <code className="min-w-0 flex-1">WINDLASS_DATABASE_URL=postgresql://…</code>
              <CopyButton text="WINDLASS_DATABASE_URL=postgresql://" />
            </span>
          </li>
          <li>Mount it in FastAPI, Django or Flask, then deploy.</li>
        </ol>
      </Panel>
    </div>
  );
}
