import type { Item } from "@/api/read";
import type { Session } from "@/api/session";
import rules from "@/generated/job_actions.json";
import { stateLook } from "@/parts/values/state";

/** An action on a job; the same words as in operations. */
export type JobAction = keyof typeof rules;
export type JobEntry = Item<"/api/v1/jobs">;
/** What an action has to know of a job; entries of lists and whole jobs have it. */
export type JobSubject = Pick<
  JobEntry,
  | "id"
  | "tenant_id"
  | "definition"
  | "queue"
  | "priority"
  | "state"
  | "view"
  | "held"
  | "due_at"
  | "cancel_requested_at"
>;

export interface OfferedAction {
  action: JobAction;
  label: string;
  danger: boolean;
  /** Reason why the job's state forbids it. */
  refused: string | undefined;
}

/** The actions in the order of menus. */
export const ACTIONS: readonly JobAction[] = ["retry", "run_now", "cancel", "update", "discard"];

const WORDS: Record<JobAction, readonly [label: string, past: string]> = {
  retry: ["Retry", "retried"],
  run_now: ["Run now", "run now"],
  cancel: ["Cancel", "canceled"],
  update: ["Change priority or queue", "changed"],
  discard: ["Delete", "deleted"],
};

export function actionLabel(action: JobAction): string {
  return WORDS[action][0];
}

/** `12 jobs canceled`: what an action did. */
export function actionPast(action: JobAction): string {
  return WORDS[action][1];
}

/** True if the caller has the right to this action. */
export function mayAct(session: Session, action: JobAction): boolean {
  return session.may(rules[action].right);
}

/** Actions that the caller's rights allow; those that the job's state forbids say why. */
export function offeredActions(job: JobSubject, session: Session): OfferedAction[] {
  return ACTIONS.filter((action) => mayAct(session, action)).map((action) => ({
    action,
    label: actionLabel(action),
    danger: action === "cancel" || action === "discard",
    refused: refusal(action, job),
  }));
}

/** Why an action does nothing to a job as it is; undefined if it does something. */
export function refusal(action: JobAction, job: JobSubject): string | undefined {
  const states: readonly string[] = rules[action].states;
  if (!states.includes(job.state)) {
    const allowed = states.map((state) => stateLook(state).label.toLowerCase());
    const now = stateLook(job.view).label.toLowerCase();
    return `It is ${now}; only ${listWords(allowed)} jobs can be ${actionPast(action)}.`;
  }
  if (action === "cancel" && job.cancel_requested_at) return "It was asked to stop already.";
  if (action === "run_now") {
    if (job.state === "pending" && !job.held) return "It waits for other jobs to end.";
    if (job.view === "queued") return "It is due already.";
  }
  return undefined;
}

export function listWords(words: readonly string[]): string {
  return words.length < 2
    ? words.join("")
    : `${words.slice(0, -1).join(", ")} or ${words[words.length - 1]}`;
}
