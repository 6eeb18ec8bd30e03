/** A term of a filter as it was typed, and where it stands. */
export interface Term {
  text: string;
  start: number;
  end: number;
  negated: boolean;
  /** Field's name, with its path; null for a word without a field. */
  field: string | null;
  /** What stands behind the colon, or the word. */
  value: string;
}

const TERM = /(?:"(?:[^"\\]|\\.)*"?|[^\s"])+/g;
const NAMED = /^(-?)(?:([A-Za-z_][\w.$@-]*):)?([\s\S]*)$/;

/**
 * The terms of a filter, for showing and editing them. The server alone decides what a filter means;
 * what it would refuse is split as well as it can be.
 */
export function splitTerms(text: string): Term[] {
  return [...text.matchAll(TERM)].map((found) => {
    const [, minus, field, value] = NAMED.exec(found[0]) ?? [];
    return {
      text: found[0],
      start: found.index,
      end: found.index + found[0].length,
      negated: minus === "-",
      field: field ?? null,
      value: value ?? "",
    };
  });
}

export function joinTerms(terms: readonly string[]): string {
  return terms.filter(Boolean).join(" ");
}

/** A value as it has to be written in a filter: quoted where it has spaces, commas, quotes or stars. */
export function quoteValue(value: string): string {
  return value !== "" && !/[\s",*]/.test(value)
    ? value
    : `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

/** The filter with its terms of a field replaced by these; none of them for null. */
export function withField(text: string, field: string, value: string | null): string {
  const others = splitTerms(text)
    .filter((term) => term.field !== field)
    .map((term) => term.text);
  return joinTerms(value === null ? others : [...others, `${field}:${value}`]);
}

/** The value of the only term of a field; null without one, or with several. */
export function fieldValue(text: string, field: string): string | null {
  const terms = splitTerms(text).filter((term) => term.field === field);
  return terms.length === 1 && !terms[0]?.negated ? (terms[0]?.value ?? null) : null;
}
