import { apiAddress } from "@/api/client";
import type { Job } from "@/jobs/actions/job_actions";
import { stateLook } from "@/parts/values/state";
import { durationWords } from "@/parts/values/time";

/** Text for a POSIX shell, quoted where it has to be. */
export function shellQuoted(text: string): string {
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** A JSON value as a Python literal. */
export function pythonLiteral(value: unknown): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  // A JSON string is a Python string too: both know \n, \", \\ and \uXXXX.
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(", ")}]`;
  if (typeof value === "object")
    return `{${Object.entries(value)
      .map(([name, each]) => `${JSON.stringify(name)}: ${pythonLiteral(each)}`)
      .join(", ")}}`;
  return String(value);
}

/** The command that enqueues a job like this one. */
export function asCommand(job: Job): string {
  const payload = shellQuoted(JSON.stringify(job.payload));
  return `windlass --tenant ${shellQuoted(job.tenant_id)} enqueue ${shellQuoted(job.definition)} --queue ${shellQuoted(job.queue)} --payload ${payload}`;
}

/** The Python that enqueues a job like this one. */
export function asPython(job: Job): string {
  return `receipt = await wl.enqueue(
    ${pythonLiteral(job.definition)},
    ${pythonLiteral(job.payload)},
    tenant=${pythonLiteral(job.tenant_id)},
    queue=${pythonLiteral(job.queue)},
)`;
}

/** The request that enqueues a job like this one; the token is read from the environment. */
export function asCurl(job: Job): string {
  const body = {
    definition: job.definition,
    payload: job.payload,
    tenant: job.tenant_id,
    queue: job.queue,
  };
  const address = `${location.origin}${apiAddress("/jobs").split("?")[0]}`;
  return `curl -X POST ${shellQuoted(address)} \\
  -H "Authorization: Bearer $WINDLASS_TOKEN" \\
  -H 'Content-Type: application/json' \\
  -d ${shellQuoted(JSON.stringify(body))}`;
}

/** What happened to a job, as Markdown for a ticket; without payload and result. */
export function incidentSummary(job: Job): string {
  const facts: [string, string | number | null][] = [
    ["Job", `\`${job.id}\``],
    ["State", stateLook(job.view).label],
    ["Tenant", job.tenant_id],
    ["Queue", job.queue],
    ["Attempts", `${job.attempts} of ${job.max_attempts}`],
    ["Created", job.created_at],
    ["Started", job.started_at],
    ["Finished", job.finished_at],
    ["Duration", job.duration_ms === null ? null : durationWords(job.duration_ms / 1000)],
    ["Worker", job.worker_id],
    ["Correlation", job.correlation_id],
    ["Cause", job.fingerprint && `\`${job.fingerprint}\``],
  ];
  const rows = facts.flatMap(([name, value]) => (value === null ? [] : [`- ${name}: ${value}`]));
  const error = job.last_error
    ? `\n\n### Error\n\n${fenced([job.error_type, job.last_error].filter(Boolean).join(": "))}`
    : "";
  const trace = job.error_trace ? `\n\n### Traceback\n\n${fenced(job.error_trace.trim())}` : "";
  const address = new URL(`jobs/${job.id}`, document.baseURI).href;
  return `## ${job.definition}: ${stateLook(job.view).label}\n\n${rows.join("\n")}\n- Link: ${address}${error}${trace}\n`;
}

/** A code block whose fence is longer than any in the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((found) => found[0].length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
