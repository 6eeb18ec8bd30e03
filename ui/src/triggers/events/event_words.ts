import type { Item } from "@/api/read";

export type EventEntry = Item<"/api/v1/events">;
export type Match = EventEntry["matches"][number];

/** Glyph, words and look of what a trigger did with an event. */
export const OUTCOMES: Readonly<Record<Match["outcome"], readonly [string, string, string]>> = {
  created: ["✓", "Made a job", "text-good"],
  existing: ["≡", "Equal job exists", "text-muted"],
  unmatched: ["–", "Did not match", "text-muted"],
  failed: ["✕", "Failed", "text-danger"],
};

/** How many triggers did what: `{created: 2, failed: 1}`. */
export function tally(matches: readonly Match[]): Partial<Record<Match["outcome"], number>> {
  const counts: Partial<Record<Match["outcome"], number>> = {};
  for (const { outcome } of matches) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}
