import { type EventEntry, type Match, OUTCOMES, tally } from "./event_words";

/** What a trigger did with an event: glyph and words. */
export function MatchOutcome({ outcome }: { outcome: Match["outcome"] }) {
  const [glyph, words, look] = OUTCOMES[outcome];
  return (
    <span className={`whitespace-nowrap ${look}`}>
      <span aria-hidden="true" className="inline-block w-4 font-bold">
        {glyph}
      </span>
      {words}
    </span>
  );
}

/** What all triggers did with an event, in one line. */
export function Outcome({ event }: { event: EventEntry }) {
  if (event.matched_at === null) return <span className="text-muted">Being matched…</span>;
  const counts = tally(event.matches);
  const words: [number | undefined, string, string][] = [
    [counts.failed, "failed", "text-danger font-medium"],
    [counts.existing, "deduped", "text-muted"],
    [counts.unmatched, "unmatched", "text-muted"],
  ];
  const others = words.filter(([count]) => count);
  if (others.length === 0 && event.jobs === 0)
    return <span className="whitespace-nowrap text-warn">No trigger listens</span>;
  return (
    <span className="whitespace-nowrap">
      {event.jobs > 0 && <span className="text-good">{jobWords(event.jobs)}</span>}
      {others.map(([count, word, look], place) => (
        <span key={word}>
          {place > 0 || event.jobs > 0 ? " · " : ""}
          <span className={look}>
            {word === "failed" ? "✕ " : ""}
            {count} {word}
          </span>
        </span>
      ))}
    </span>
  );
}

export function jobWords(count: number): string {
  return count === 1 ? "1 job" : `${count} jobs`;
}
