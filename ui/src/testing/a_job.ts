import type { Answer, Item } from "@/api/read";

type JobEntry = Item<"/api/v1/jobs">;

/** A job as lists have it: queued and due, unless told otherwise. */
export function aJob(change: Partial<JobEntry> = {}): JobEntry {
  return {
    id: "01890a5d-ac96-774b-bcce-b3028c1f42d7",
    tenant_id: "default",
    definition: "mail.send",
    queue: "mail",
    state: "queued",
    view: "queued",
    priority: 100,
    due_at: "2026-07-01T10:00:00Z",
    attempts: 0,
    max_attempts: 5,
    created_at: "2026-07-01T10:00:00Z",
    updated_at: "2026-07-01T10:00:00Z",
    queued_at: "2026-07-01T10:00:00Z",
    started_at: null,
    last_started_at: null,
    finished_at: null,
    expires_at: null,
    source: "manual",
    source_ref: null,
    correlation_id: null,
    created_by: null,
    trigger_id: null,
    trigger_due_at: null,
    dedupe_key: null,
    idempotency_key: null,
    on_parent_failure: "cancel",
    waits: 0,
    held: false,
    timeout_seconds: null,
    worker_id: null,
    worker_deaths: 0,
    lease_token: 0,
    lease_expires_at: null,
    cancel_requested_at: null,
    cancel_requested_by: null,
    progress: 0,
    progress_note: null,
    outcome: null,
    last_error: null,
    error_type: null,
    error_class: null,
    reason: null,
    fingerprint: null,
    duration_ms: null,
    payload_version: 1,
    ...change,
  };
}

type Job = Answer<"/api/v1/jobs/{job_id}", "get">;

/** A job as its own page has it, with payload and result. */
export function aWholeJob(change: Partial<Job> = {}): Job {
  return {
    ...aJob(),
    payload: {},
    metadata: {},
    result: null,
    warnings: [],
    error_trace: null,
    ...change,
  };
}

/** Ids that differ in their last characters, the newest first. */
export function jobId(place: number): string {
  return `01890a5d-ac96-774b-bcce-${String(1_000_000 - place).padStart(12, "0")}`;
}
