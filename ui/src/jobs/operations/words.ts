import type { Answer } from "@/api/read";
import { actionPast, type JobAction } from "@/jobs/actions/rules";
import { numberWords, priorityWords } from "@/parts/values/values";

export type Operation = Answer<"/api/v1/operations/{id}", "get">;

const VERBS: Record<JobAction, string> = {
  retry: "Retry",
  run_now: "Run now",
  cancel: "Cancel",
  update: "Change",
  discard: "Delete",
};

export function jobsWords(count: number, more = false): string {
  return `${numberWords(count)}${more ? "+" : ""} ${count === 1 && !more ? "job" : "jobs"}`;
}

/** `Retry 1,204 jobs`. */
export function operationWords(action: JobAction, count: number, more = false): string {
  return action === "run_now"
    ? `Run ${jobsWords(count, more)} now`
    : `${VERBS[action]} ${jobsWords(count, more)}`;
}

/** What an action will have done to each job. */
export const CONSEQUENCES: Record<JobAction, string> = {
  retry: "They are queued again, with fresh attempts.",
  run_now: "They become due at once; a hold is lifted.",
  cancel:
    "Waiting jobs end at once and can be queued again by Undo; running ones are asked to stop, which cannot be undone.",
  update: "They are changed where they wait.",
  discard: "They are removed with their attempts, history and logs. This cannot be undone.",
};

/** `priority High, queue bulk`: what an update changes. */
export function changesWords(changes: Record<string, unknown> | null | undefined): string {
  return Object.entries(changes ?? {})
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) =>
      name === "priority" && typeof value === "number"
        ? `priority ${priorityWords(value)}`
        : `${name.replaceAll("_", " ")} ${typeof value === "string" ? value : JSON.stringify(value)}`,
    )
    .join(", ");
}

/** `1,200 canceled, 3 failed, 1 skipped`: how an operation stands. */
export function progressWords(operation: Operation): string {
  return [
    `${numberWords(operation.done)} ${actionPast(operation.action)}`,
    operation.failed > 0 ? `${numberWords(operation.failed)} failed` : "",
    operation.skipped > 0 ? `${numberWords(operation.skipped)} skipped` : "",
    operation.left > 0
      ? `${numberWords(operation.left)} ${operation.state === "running" ? "to go" : "left alone"}`
      : "",
  ]
    .filter(Boolean)
    .join(", ");
}
