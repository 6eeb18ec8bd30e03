import { durationWords } from "@/parts/values/time";

/** What the verdict looks at in a queue. */
export interface QueueFacts {
  name: string;
  queued: number;
  paused: boolean;
  oldest_queued_seconds: number | null;
  /** Live workers that serve it; null where the caller may not know. */
  workers: number | null;
}

export interface Verdict {
  level: "good" | "warn" | "bad";
  text: string;
  /** Screen that shows more about it. */
  href: string;
}

/** A queue is behind when its oldest due job has waited longer. */
const LATE_SECONDS = 60;

/** The state of the installation in one sentence: the worst that is known, with its cause. */
export function verdictOf(queues: readonly QueueFacts[], freshDeadLetters: number): Verdict {
  const late = queues
    .filter((queue) => !queue.paused && (queue.oldest_queued_seconds ?? 0) > LATE_SECONDS)
    .sort((one, other) => (other.oldest_queued_seconds ?? 0) - (one.oldest_queued_seconds ?? 0));
  const unserved = queues.find((queue) => queue.queued > 0 && !queue.paused && queue.workers === 0);
  const [worst] = late;
  if (worst !== undefined) {
    const cause = worst.workers === null ? "" : `: ${liveWorkers(worst.workers)}`;
    const more = late.length > 1 ? `, and ${late.length - 1} more` : "";
    return {
      level: "bad",
      text: `${worst.name} is ${durationWords(worst.oldest_queued_seconds ?? 0)} behind${cause}${more}`,
      href: `/queues/${encodeURIComponent(worst.name)}`,
    };
  }
  if (unserved !== undefined)
    return {
      level: "bad",
      text: `${unserved.name} has ${unserved.queued} queued and no live worker`,
      href: "/workers",
    };
  const paused = queues.filter((queue) => queue.paused && queue.queued > 0);
  const [first] = paused;
  if (first !== undefined)
    return {
      level: "warn",
      text: `${first.name} is paused with ${first.queued} queued`,
      href: "/queues",
    };
  if (freshDeadLetters > 0)
    return {
      level: "warn",
      text: `Nothing waits long; ${freshDeadLetters} jobs failed for good in the last hour`,
      href: "/dead",
    };
  return { level: "good", text: "Healthy", href: "/queues" };
}

function liveWorkers(count: number): string {
  return count === 1 ? "1 live worker" : `${count} live workers`;
}
