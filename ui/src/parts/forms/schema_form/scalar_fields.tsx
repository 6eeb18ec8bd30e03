import { useState } from "react";
import { Field } from "@/parts/forms/fields";
import { useError, useForm } from "./form_context";
import type { Kind, Shape, Value } from "./schema";

export interface ControlProps {
  shape: Shape;
  label: string;
  hint: React.ReactNode;
  aside: React.ReactNode;
  required: boolean;
  value: Value;
  change: (value: Value) => void;
  pointer: string;
}

const LONG_TEXT = 200;

/** A field of one line or more for text, a number, a date or a secret. */
export function TextControl(props: ControlProps) {
  const { shape, label, hint, aside, required, value, change, pointer } = props;
  const { schema } = shape;
  const { touch, templates } = useForm();
  const error = useError(pointer, true);
  const [shown, setShown] = useState(false);
  const kind = templates && shape.kind !== "password" ? "text" : shape.kind;
  const text = textOf(kind, value);
  const typed = (next: string): void => {
    touch(pointer);
    change(
      next === ""
        ? required && shape.nullable
          ? null
          : undefined
        : valueOfText(shape, kind, next, templates),
    );
  };
  const long =
    kind === "text" &&
    !templates &&
    (text.includes("\n") ||
      Number(schema.maxLength ?? 0) > LONG_TEXT ||
      schema.format === "textarea");
  return (
    <Field label={label} hint={hint ?? formatHint(shape)} aside={aside} error={error}>
      {(attributes) => {
        const common = {
          ...attributes,
          className: "input",
          "aria-required": required || undefined,
          value: text,
          placeholder: placeholderOf(schema),
          onBlur: () => touch(pointer),
        };
        if (long)
          return <textarea {...common} rows={4} onChange={(event) => typed(event.target.value)} />;
        const input = (
          <input
            {...common}
            type={shown ? "text" : inputType(kind, text, value)}
            inputMode={inputMode(kind, String(schema.format ?? ""))}
            step={kind === "date-time" || kind === "time" ? 1 : undefined}
            autoComplete={kind === "password" ? "new-password" : "off"}
            onChange={(event) => typed(event.target.value)}
          />
        );
        if (kind !== "password") return input;
        return (
          <div className="flex gap-1">
            {input}
            <button
              type="button"
              className="button"
              aria-pressed={shown}
              aria-label={`Show ${label}`}
              onClick={() => setShown(!shown)}
            >
              Show
            </button>
          </div>
        );
      }}
    </Field>
  );
}

/** One of a few values; the first choice leaves the field out, so that its default applies. */
export function ChoiceControl(props: ControlProps) {
  const { shape, label, hint, aside, required, value, change, pointer } = props;
  const { touch } = useForm();
  const error = useError(pointer);
  const choices = shape.schema.enum as Value[];
  const usual = shape.schema.default;
  const none = usual === undefined || usual === null ? "–" : `${String(usual)} (default)`;
  return (
    <Field label={label} hint={hint} aside={aside} error={error}>
      {(attributes) => (
        <select
          {...attributes}
          className="input"
          aria-required={required || undefined}
          value={choices.indexOf(value)}
          onBlur={() => touch(pointer)}
          onChange={(event) => {
            touch(pointer);
            const place = Number(event.target.value);
            change(place < 0 ? (required && shape.nullable ? null : undefined) : choices[place]);
          }}
        >
          <option value={-1}>{none}</option>
          {choices.map((choice, place) => (
            <option key={String(choice)} value={place}>
              {choice === null ? "none" : String(choice)}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** Yes or no. */
export function BooleanControl(props: ControlProps) {
  const { shape, label, hint, aside, value, change, pointer } = props;
  const { touch } = useForm();
  const error = useError(pointer);
  return (
    <Field label={label} hint={hint} aside={aside} error={error}>
      {(attributes) => (
        <input
          {...attributes}
          type="checkbox"
          className="block h-5 w-5 accent-(--accent)"
          checked={(value ?? shape.schema.default) === true}
          onChange={(event) => {
            touch(pointer);
            change(event.target.checked);
          }}
        />
      )}
    </Field>
  );
}

/** A value that is given: it is shown, and sent as it is. */
export function ConstantControl({ shape, label, hint, aside }: ControlProps) {
  return (
    <Field label={label} hint={hint} aside={aside}>
      {(attributes) => (
        <input {...attributes} className="input" readOnly value={String(shape.schema.const)} />
      )}
    </Field>
  );
}

function textOf(kind: Kind, value: Value): string {
  if (value === undefined || value === null) return "";
  if (kind === "date-time") return localInstant(value) ?? String(value);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function valueOfText(shape: Shape, kind: Kind, text: string, templates: boolean): Value {
  if (shape.kind === "integer" || shape.kind === "number") {
    const number = text.trim() === "" ? Number.NaN : Number(text);
    // What is no number, or would lose digits, is sent as typed: the server says what is wrong.
    return Number.isFinite(number) && !lossy(text, number) ? number : text;
  }
  if (templates && (text === "true" || text === "false") && shape.kind === "boolean")
    return text === "true";
  if (kind === "date-time" && localInstant(text) !== null) return new Date(text).toISOString();
  return text;
}

function lossy(text: string, number: number): boolean {
  return /^-?\d+$/.test(text.trim()) && !Number.isSafeInteger(number);
}

/** An instant as `datetime-local` takes it, in this browser's zone; null if it is none. */
function localInstant(value: Value): string | null {
  if (typeof value !== "string") return null;
  const at = new Date(value);
  if (Number.isNaN(at.getTime())) return null;
  const pad = (number: number): string => String(number).padStart(2, "0");
  const day = `${String(at.getFullYear()).padStart(4, "0")}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
  return `${day}T${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`;
}

function inputType(kind: Kind, text: string, value: Value): string {
  if (kind === "password") return "password";
  if (kind === "date-time")
    return text === "" || localInstant(value) !== null ? "datetime-local" : "text";
  if (kind === "date") return text === "" || /^\d{4}-\d\d-\d\d$/.test(text) ? "date" : "text";
  if (kind === "time") return text === "" || /^\d\d:\d\d(:\d\d)?$/.test(text) ? "time" : "text";
  return "text";
}

function inputMode(
  kind: Kind,
  format: string,
): "decimal" | "numeric" | "email" | "url" | undefined {
  if (kind === "integer") return "numeric";
  if (kind === "number") return "decimal";
  if (format === "email") return "email";
  return format === "uri" ? "url" : undefined;
}

function placeholderOf(schema: Shape["schema"]): string | undefined {
  const usual = schema.default;
  if (usual !== undefined && usual !== null && usual !== "" && !schema.writeOnly)
    return typeof usual === "object" ? JSON.stringify(usual) : String(usual);
  const [example] = Array.isArray(schema.examples) ? (schema.examples as Value[]) : [];
  return example === undefined ? undefined : `for example ${String(example)}`;
}

/** What a field may hold, where its control does not show it. */
function formatHint({ kind, schema }: Shape): string | undefined {
  const { minimum, maximum } = schema;
  if (typeof minimum === "number" && typeof maximum === "number") return `${minimum} to ${maximum}`;
  if (typeof minimum === "number") return `${minimum} or more`;
  if (typeof maximum === "number") return `${maximum} or less`;
  if (kind === "date-time") return `In ${Intl.DateTimeFormat().resolvedOptions().timeZone} time`;
  if (schema.format === "duration") return "ISO 8601, for example PT5M";
  if (typeof schema.pattern === "string") return `Matches ${schema.pattern}`;
  return undefined;
}
