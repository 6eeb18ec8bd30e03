import { useLayoutEffect, useRef, useState } from "react";
import { Field } from "@/parts/forms/fields";
import { useError, useForm } from "./form_context";
import type { Value } from "./schema";

/**
 * A JSON value as text. Text that is no JSON stays here, marked, and keeps the form from being sent.
 */
export function JsonField({
  label,
  hint,
  aside,
  value,
  change,
  pointer,
  rows = 4,
}: {
  label: string;
  hint?: React.ReactNode;
  aside?: React.ReactNode;
  value: Value;
  change: (value: Value) => void;
  pointer: string;
  rows?: number;
}) {
  const { touch } = useForm();
  const error = useError(pointer, true);
  const control = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState(() => jsonText(value));
  const [mistake, setMistake] = useState("");
  const sent = useRef(value);
  const mark = (found: string): void => {
    setMistake(found);
    control.current?.setCustomValidity(found);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: `mark` only sets state
  useLayoutEffect(() => {
    if (JSON.stringify(value) === JSON.stringify(sent.current)) return;
    sent.current = value;
    setText(jsonText(value));
    mark("");
  }, [value]);
  const typed = (next: string): void => {
    setText(next);
    touch(pointer);
    try {
      const read: Value = next.trim() === "" ? undefined : JSON.parse(next);
      mark("");
      sent.current = read;
      change(read);
    } catch (problem) {
      mark(`This is not JSON: ${(problem as Error).message}`);
    }
  };
  return (
    <Field label={label} hint={hint} aside={aside} error={mistake || error}>
      {(attributes) => (
        <textarea
          {...attributes}
          ref={control}
          className="input mono"
          spellCheck={false}
          rows={Math.min(20, Math.max(rows, text.split("\n").length))}
          value={text}
          onChange={(event) => typed(event.target.value)}
        />
      )}
    </Field>
  );
}

function jsonText(value: Value): string {
  return value === undefined ? "" : JSON.stringify(value, null, 2);
}
