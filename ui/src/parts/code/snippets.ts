/** A call that creates a job, as the API takes it. */
export interface JobCall {
  definition: string;
  payload?: unknown;
  tenant?: string | null;
  queue?: string | null;
  priority?: string | number | null;
  due_at?: string | null;
  delay_seconds?: number | null;
  dedupe_key?: string | null;
}

/** The call from a program, with the same options. */
export function pythonSnippet(call: JobCall): string {
  const options = [
    call.tenant && `tenant=${literal(call.tenant)}`,
    call.queue && `queue=${literal(call.queue)}`,
    call.priority != null && `priority=${literal(call.priority)}`,
    call.delay_seconds != null && `delay="${call.delay_seconds}s"`,
    call.due_at && `at=datetime.fromisoformat(${literal(call.due_at)})`,
    call.dedupe_key && `dedupe_key=${literal(call.dedupe_key)}`,
  ].filter(Boolean);
  const parts = [literal(call.definition), literal(call.payload ?? {}), ...options];
  const line = `await wl.enqueue(${parts.join(", ")})`;
  const text = line.length <= 88 ? line : `await wl.enqueue(\n    ${parts.join(",\n    ")},\n)`;
  return call.due_at ? `from datetime import datetime\n\n${text}` : text;
}

/** The call over HTTP. `address` is where the API is served, without a slash at its end. */
export function curlSnippet(call: JobCall, address: string): string {
  return [
    `curl -X POST ${quoted(`${address}/api/v1/jobs`)}`,
    `  -H "Authorization: Bearer $WINDLASS_TOKEN"`,
    `  -H 'Content-Type: application/json'`,
    `  -d ${quoted(JSON.stringify(given(call)))}`,
  ].join(" \\\n");
}

/** The call from a shell. */
export function commandSnippet(call: JobCall): string {
  const fields = Object.entries((call.payload ?? {}) as Record<string, unknown>);
  const plain = fields.every(
    ([key, value]) => typeof value !== "object" && /^[\w.-]+$/.test(key) && value !== undefined,
  );
  const payload = plain
    ? fields.map(([key, value]) => quoted(`${key}=${String(value)}`))
    : ["--payload", quoted(JSON.stringify(call.payload))];
  const options: [string, string | number | null | undefined][] = [
    ["--tenant", call.tenant],
    ["--queue", call.queue],
    ["--priority", call.priority],
    ["--in", call.delay_seconds == null ? null : `${call.delay_seconds}s`],
    ["--at", call.due_at],
    ["--dedupe-key", call.dedupe_key],
  ];
  const flags = options
    .filter(([, value]) => value != null && value !== "")
    .flatMap(([flag, value]) => [flag, quoted(String(value))]);
  return ["windlass enqueue", quoted(call.definition), ...payload, ...flags].join(" ");
}

/** A body without what is null, undefined or empty. */
export function given<T extends object>(body: T): Partial<T> {
  const entries = Object.entries(body).filter(
    ([, value]) => value !== null && value !== undefined && value !== "",
  );
  return Object.fromEntries(entries) as Partial<T>;
}

/** A value as Python writes it. */
function literal(value: unknown): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  const items = Object.entries(value).map(([key, item]) => `${literal(key)}: ${literal(item)}`);
  return `{${items.join(", ")}}`;
}

/** A word as a POSIX shell takes it. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
