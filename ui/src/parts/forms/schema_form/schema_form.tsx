import { useCallback, useId, useMemo, useRef, useState } from "react";
import type { FieldProblem } from "@/api/problem";
import { Tabs } from "@/parts/panels/tabs";
import { FormContext } from "./form_context";
import { JsonField } from "./json_field";
import { type Schema, shapeOf, type Value, valueAt } from "./schema";
import { Properties, SchemaField } from "./schema_field";

type View = "form" | "json";

/**
 * A value by its JSON Schema: a form, or the same value as JSON.
 *
 * Put it inside a `<form>`: text that is no JSON makes the form invalid, so that it is not sent.
 * `problems` are the server's; their pointers begin with `at`. A field that nobody has been at and
 * that is empty shows none of them before `submitted`.
 */
export function SchemaForm({
  schema,
  value,
  change,
  problems = [],
  at = "/payload",
  label = "Payload",
  submitted = false,
  templates = false,
}: {
  schema: Schema;
  value: Value;
  change: (value: Value) => void;
  problems?: readonly FieldProblem[] | undefined;
  at?: string;
  label?: string;
  submitted?: boolean;
  templates?: boolean;
}) {
  const [view, setView] = useState<View>("form");
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const panel = useRef<HTMLDivElement>(null);
  const id = useId();
  const touch = useCallback(
    (pointer: string) =>
      setTouched((before) => (before.has(pointer) ? before : new Set(before).add(pointer))),
    [],
  );
  const scope = useMemo(() => {
    const shown = problems.filter(({ pointer }) => {
      if (submitted || touched.has(pointer)) return true;
      const inside = pointer.slice(at.length);
      return !pointer.startsWith(at) || valueAt(value, inside) !== undefined;
    });
    return { root: schema, templates, problems: shown, touch };
  }, [schema, templates, problems, submitted, touched, touch, at, value]);
  const shape = shapeOf(schema, schema);
  const empty = shape.kind === "object" && Object.keys(shape.schema.properties ?? {}).length === 0;
  const choose = (next: View): void => {
    const broken = [...(panel.current?.querySelectorAll("textarea") ?? [])].find(
      (each) => !each.validity.valid,
    );
    if (broken) broken.focus();
    else setView(next);
  };
  return (
    <FormContext value={scope}>
      <Tabs
        label={`${label} as`}
        tabs={[
          ["form", "Form"],
          ["json", "JSON"],
        ]}
        chosen={view}
        choose={choose}
      >
        <div ref={panel}>
          {view === "json" ? (
            <JsonField label={label} value={value} change={change} pointer={at} rows={8} />
          ) : (
            <fieldset aria-labelledby={`${id}-label`} className="min-w-0">
              <legend id={`${id}-label`} className="sr-only">
                {label}
              </legend>
              {empty && <p className="text-muted">It takes no arguments.</p>}
              {shape.kind === "object" ? (
                <Properties schema={shape.schema} value={value} change={change} pointer={at} />
              ) : (
                <SchemaField
                  schema={schema}
                  name={label}
                  value={value}
                  change={change}
                  pointer={at}
                  required
                />
              )}
            </fieldset>
          )}
        </div>
      </Tabs>
    </FormContext>
  );
}
