import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import type { Problem } from "@/api/problem";
import { useLens } from "@/shell/lens";
import { useShortcuts } from "@/shell/shortcuts";
import { fieldsTyped, suggestionsFor, type ValuesOf } from "./suggestions";
import { joinTerms, splitTerms, type Term } from "./terms";

/**
 * A search box for the filter grammar. Terms in force are chips that can be edited and removed; what
 * is typed behind them is added by Enter or by leaving the box. It suggests fields, then values.
 */
export function FilterBox({
  value,
  change,
  valuesOf,
  ask,
  problem,
  label = "Filter",
}: {
  value: string;
  change: (value: string) => void;
  valuesOf: ValuesOf;
  /** Told of the fields whose values are wanted, so that they can be read. */
  ask?: (fields: readonly string[]) => void;
  /** Error of the filter in force, shown at its term. */
  problem?: Problem | null;
  label?: string;
}) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [open, setOpen] = useState(false);
  const [chosen, setChosen] = useState(-1);
  const terms = splitTerms(value);
  const wrong = problem ? termOfProblem(terms, problem) : undefined;
  const { single } = useLens();
  const suggestions = open ? suggestionsFor(text, valuesOf, single ? ["tenant"] : []) : [];
  const typed = open ? fieldsTyped(text).join() : "";

  useEffect(() => {
    if (typed !== "") ask?.(typed.split(","));
  }, [typed, ask]);
  useShortcuts({ "/": () => input.current?.focus() });

  const apply = (added: string): void => {
    setText("");
    setChosen(-1);
    setOpen(false);
    if (added.trim() !== "") change(joinTerms([...terms.map((each) => each.text), added.trim()]));
  };
  const without = (term: Term): string =>
    joinTerms(terms.filter((each) => each !== term).map((each) => each.text));
  const edit = (term: Term): void => {
    change(without(term));
    setText(term.text);
    setOpen(true);
    input.current?.focus();
  };
  const choose = (place: number): void => {
    const suggestion = suggestions[place];
    if (suggestion === undefined) return;
    setChosen(-1);
    if (suggestion.open) {
      setText(suggestion.text);
      input.current?.focus();
    } else apply(suggestion.text);
  };
  const keys = (event: KeyboardEvent<HTMLInputElement>): void => {
    const count = suggestions.length;
    if ((event.key === "ArrowDown" || event.key === "ArrowUp") && count > 0) {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      setChosen((chosen + step + count + (chosen < 0 && step < 0 ? 1 : 0)) % count);
    } else if (event.key === "ArrowDown") setOpen(true);
    else if (event.key === "Enter") {
      event.preventDefault();
      if (chosen >= 0) choose(chosen);
      else apply(text);
    } else if (event.key === "Tab" && chosen >= 0) {
      event.preventDefault();
      choose(chosen);
    } else if (event.key === "Escape") {
      event.stopPropagation();
      if (open && count > 0) setOpen(false);
      else {
        setText("");
        input.current?.blur();
      }
    } else if (event.key === "Backspace" && text === "" && terms.length > 0) {
      event.preventDefault();
      edit(terms[terms.length - 1] as Term);
    }
  };
  const error = problem ? `${id}-error` : undefined;
  return (
    <div className="min-w-0">
      <div
        className={`relative flex min-h-9 flex-wrap items-center gap-1 rounded-md border bg-surface px-1.5 py-1 focus-within:outline-2 focus-within:outline-offset-1 focus-within:outline-accent ${problem ? "border-danger" : "border-line-strong"}`}
      >
        <span aria-hidden="true" className="px-1 text-muted">
          ⌕
        </span>
        {terms.map((term) => (
          <Chip
            key={`${term.start} ${term.text}`}
            term={term}
            wrong={term === wrong}
            edit={() => edit(term)}
            remove={() => {
              change(without(term));
              input.current?.focus();
            }}
          />
        ))}
        <input
          ref={input}
          role="combobox"
          aria-label={label}
          aria-expanded={suggestions.length > 0}
          aria-controls={`${id}-list`}
          aria-activedescendant={chosen >= 0 ? `${id}-${chosen}` : undefined}
          aria-autocomplete="list"
          aria-invalid={problem ? true : undefined}
          aria-describedby={error}
          autoComplete="off"
          spellCheck={false}
          className="min-h-6 min-w-40 flex-1 bg-transparent px-1 outline-none placeholder:text-muted"
          placeholder={
            terms.length > 0 ? "and…" : "Filter: state:running definition:mail.* error:timeout"
          }
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setChosen(-1);
            setOpen(true);
          }}
          onFocus={() => setOpen(true)}
          onBlur={(event) => {
            const next = event.relatedTarget as Node | null;
            setOpen(false);
            if (!event.currentTarget.parentElement?.contains(next)) apply(text);
          }}
          onKeyDown={keys}
        />
        {value !== "" && (
          <button
            type="button"
            className="min-h-6 rounded px-1.5 text-[13px] text-muted hover:bg-sunken hover:text-text"
            onClick={() => {
              setText("");
              change("");
            }}
          >
            Clear
          </button>
        )}
        {suggestions.length > 0 && (
          <div
            id={`${id}-list`}
            role="listbox"
            aria-label="Suggestions"
            className="absolute top-full left-0 z-30 mt-1 max-h-80 w-full max-w-xl overflow-y-auto rounded-md border border-line-strong bg-surface py-1 shadow-lg"
          >
            {suggestions.map((each, place) => (
              <div
                key={each.label}
                id={`${id}-${place}`}
                role="option"
                tabIndex={-1}
                aria-selected={place === chosen}
                ref={(element) => {
                  if (place === chosen) element?.scrollIntoView?.({ block: "nearest" });
                }}
                className="flex min-h-8 cursor-pointer items-center justify-between gap-4 px-3 py-1 hover:bg-sunken aria-selected:bg-accent-soft"
                onPointerDown={(event) => event.preventDefault()}
                onClick={() => choose(place)}
                onKeyDown={() => {}}
              >
                <code className="shrink-0">{each.label}</code>
                <span className="truncate text-right text-[13px] text-muted">{each.detail}</span>
              </div>
            ))}
          </div>
        )}
      </div>
      {problem && (
        <p id={error} role="alert" className="mt-1 text-[13px] text-danger">
          {problem.title} {problem.detail}{" "}
          <span className="text-muted">{shortHint(problem.hint)}</span>
        </p>
      )}
    </div>
  );
}

function Chip({
  term,
  wrong,
  edit,
  remove,
}: {
  term: Term;
  wrong: boolean;
  edit: () => void;
  remove: () => void;
}) {
  return (
    <span
      className={`inline-flex max-w-full items-stretch overflow-hidden rounded border ${wrong ? "border-danger bg-danger-soft text-danger" : "border-line bg-sunken"}`}
    >
      <button
        type="button"
        className="mono min-h-6 truncate px-1.5 hover:bg-accent-soft"
        aria-label={`Edit ${term.text}`}
        onClick={edit}
      >
        {term.text}
      </button>
      <button
        type="button"
        className="min-h-6 min-w-6 border-l border-line text-muted hover:bg-accent-soft hover:text-text"
        aria-label={`Remove ${term.text}`}
        onClick={remove}
      >
        ✕
      </button>
    </span>
  );
}

/** The term that an error is about; the error tells its character. */
function termOfProblem(terms: readonly Term[], problem: Problem): Term | undefined {
  const place = /at character (\d+)/.exec(problem.title)?.[1];
  if (place === undefined) return undefined;
  const at = Number(place) - 1;
  return terms.find((term) => term.start <= at && at <= term.end);
}

/** Suggestions list the fields already, so the sentence that lists them is left out. */
function shortHint(hint: string): string {
  return hint.replace(/There are state, [^.]*\. /, "").replaceAll("`", "");
}
