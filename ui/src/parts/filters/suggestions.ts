import fields from "@/generated/filter_fields.json";
import { quoteValue, splitTerms } from "./terms";

/** A value that a field has, and how many jobs have it. */
export interface KnownValue {
  value: string;
  count?: number | undefined;
  exact?: boolean;
}

/** Values of a field that begin with what is typed; empty where nothing is known. */
export type ValuesOf = (field: string) => readonly KnownValue[];

export interface Suggestion {
  label: string;
  detail: string;
  /** The whole text once it is chosen. */
  text: string;
  /** True if a value has to follow. */
  open: boolean;
}

const MOST = 12;

/** Values that are typical of a kind, for fields whose values nobody lists. */
const TYPICAL: Record<string, readonly string[]> = {
  instant: [">-15m", ">-1h", ">-24h", ">-7d", "<-1h", "<-24h"],
  duration: [">1s", ">10s", ">1m", ">10m"],
  number: [">0", ">1", ">3", "0"],
  priority: ["critical", "high", "normal", "low", "<=high"],
};

/** Fields whose values are suggested for a word without a field. */
const WORD_FIELDS = ["state", "definition", "queue"] as const;

/** Fields whose values may be suggested at the end of a text. */
export function fieldsTyped(text: string): readonly string[] {
  const last = /\s$/.test(text) ? undefined : splitTerms(text).at(-1);
  if (last === undefined) return [];
  if (last.field === null) return WORD_FIELDS;
  return fields.some((each) => each.name === last.field && ["choice", "name"].includes(each.kind))
    ? [last.field]
    : [];
}

/** What may stand at the end of a text: fields first, then the values of the field. */
export function suggestionsFor(
  text: string,
  valuesOf: ValuesOf,
  hidden: readonly string[] = [],
): Suggestion[] {
  const last = /\s$/.test(text) ? undefined : splitTerms(text).at(-1);
  const before = last ? text.slice(0, last.start) : text;
  if (last?.field) {
    const field = fields.find((each) => each.name === last.field);
    return field ? suggestValues(field, before, last.text, last.value, valuesOf) : [];
  }
  const typed = last?.text.replace(/^-/, "").toLowerCase() ?? "";
  const minus = last?.negated ? "-" : "";
  const shown = fields.filter((each) => !hidden.includes(each.name));
  const found = shown.filter((each) => each.name.startsWith(typed));
  const meant = shown.filter((each) => !found.includes(each) && each.means.includes(typed));
  const named = typed === "" ? [] : WORD_FIELDS;
  return [
    ...found.map((each) => suggestField(each, before, minus)),
    ...named.flatMap((field) =>
      valuesOf(field)
        .filter((each) => each.value.toLowerCase().includes(typed))
        .map((each) => suggestValue(`${before}${minus}`, `${field}:`, each)),
    ),
    ...(typed.length < 3 ? [] : meant.map((each) => suggestField(each, before, minus))),
  ].slice(0, typed === "" ? fields.length : MOST);
}

function suggestField(field: (typeof fields)[number], before: string, minus: string): Suggestion {
  const name = `${field.name}${field.kind === "json" ? "." : ":"}`;
  return {
    label: `${minus}${name}`,
    detail: field.means,
    text: `${before}${minus}${name}`,
    open: true,
  };
}

function suggestValues(
  field: (typeof fields)[number],
  before: string,
  text: string,
  value: string,
  valuesOf: ValuesOf,
): Suggestion[] {
  const comma = value.lastIndexOf(",") + 1;
  const typed = value.slice(comma).replaceAll('"', "").toLowerCase();
  const given = new Set(value.slice(0, comma).split(","));
  const kept = text.slice(0, text.length - value.length + comma);
  const known = valuesOf(field.name);
  const plain = field.choices.length > 0 ? field.choices : (TYPICAL[field.kind] ?? []);
  const listed = known.length > 0 ? known : plain.map((each) => ({ value: each }));
  return listed
    .filter((each) => each.value.toLowerCase().includes(typed) && !given.has(each.value))
    .sort(
      (one, other) =>
        Number(other.value.toLowerCase().startsWith(typed)) -
        Number(one.value.toLowerCase().startsWith(typed)),
    )
    .slice(0, MOST)
    .map((each) => suggestValue(before, kept, each, TYPICAL[field.kind] !== undefined));
}

function suggestValue(
  before: string,
  kept: string,
  { value, count, exact = true }: KnownValue,
  compares = false,
): Suggestion {
  return {
    label: `${kept}${value}`,
    detail: count === undefined ? "" : `${count.toLocaleString("en-US")}${exact ? "" : "+"}`,
    text: `${before}${kept}${compares ? value : quoteValue(value)} `,
    open: false,
  };
}
