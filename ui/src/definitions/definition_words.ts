import type { Answer, Item } from "@/api/read";
import { durationWords } from "@/parts/values/time";
import { priorityWords } from "@/parts/values/values";

export type Definition = Answer<"/api/v1/definitions/{key}", "get">;
export type DefinitionEntry = Item<"/api/v1/definitions">;

interface Delays {
  kind?: string;
  base_seconds?: number;
  factor?: number;
  cap_seconds?: number;
  delays_seconds?: number[];
}

/** Delay between attempts: `exponential from 5 s to 5 min`, in short `5 s … 5 min`; `fixed 3 s`. */
export function backoffWords(
  backoff: Delays | null | undefined,
  length: "long" | "short" = "long",
): string {
  const { kind = "exponential", base_seconds = 5, cap_seconds = 300 } = backoff ?? {};
  if (kind === "none") return "no delay";
  if (kind === "fixed") return `fixed ${durationWords(base_seconds)}`;
  if (kind === "list") return (backoff?.delays_seconds ?? []).map(durationWords).join(", ");
  if (length === "short") return `${durationWords(base_seconds)} … ${durationWords(cap_seconds)}`;
  return `${kind} from ${durationWords(base_seconds)} to ${durationWords(cap_seconds)}`;
}

/** Limits of a definition in few words, for a list. */
export function limitWords(definition: DefinitionEntry): string[] {
  return [
    definition.max_concurrency !== null && `${definition.max_concurrency} at once`,
    definition.rate_limit && definition.rate_limit,
    definition.max_per_key !== null && `${definition.max_per_key} per ${definition.limit_key}`,
    definition.rate_per_key && `${definition.rate_per_key} per ${definition.limit_key}`,
  ].filter((each): each is string => typeof each === "string");
}

/** How a definition's jobs are made: on demand, or the type of its trigger. */
export function strategyWords(strategy: string): string {
  return strategy.replaceAll("_", " ");
}

/** Share as a percentage that is 100 % only if nothing failed. */
export function shareWords(share: number): string {
  const percent = share * 100;
  return `${percent === 100 || percent === 0 ? percent : (Math.floor(percent * 10) / 10).toFixed(1)} %`;
}

/** Names that belong together in a code value and in the API. */
const STORED: Readonly<Record<string, string>> = {
  rate_count: "rate_limit",
  rate_seconds: "rate_limit",
  key_rate_count: "rate_per_key",
  key_rate_seconds: "rate_per_key",
  runs_after: "after",
};

/** Options that differ from the code, by the names that the API edits. */
export function editedNames(edited: readonly string[]): string[] {
  return [...new Set(edited.map((name) => STORED[name] ?? name))];
}

/** What the code says of an option, in words. */
export function codeWords(code: Record<string, unknown> | null, name: string): string {
  if (code === null) return "–";
  const rate = (count: unknown, seconds: unknown): string =>
    typeof count === "number" && typeof seconds === "number"
      ? `${count} per ${durationWords(seconds)}`
      : "none";
  if (name === "rate_limit") return rate(code.rate_count, code.rate_seconds);
  if (name === "rate_per_key") return rate(code.key_rate_count, code.key_rate_seconds);
  return valueWords(name, code[name === "after" ? "runs_after" : name]);
}

/** A value of an option in words. */
export function valueWords(name: string, value: unknown): string {
  if (name === "priority" && typeof value === "number") return priorityWords(value);
  if (name === "backoff") return backoffWords(value as Delays | null);
  if (value === null || value === undefined || value === "") return "none";
  if (name.endsWith("_seconds") && typeof value === "number") return durationWords(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.length > 0 ? value.join(", ") : "none";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
