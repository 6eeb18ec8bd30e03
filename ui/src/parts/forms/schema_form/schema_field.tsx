import { useId } from "react";
import { useError, useForm } from "./form_context";
import { JsonField } from "./json_field";
import {
  BooleanControl,
  ChoiceControl,
  ConstantControl,
  type ControlProps,
  TextControl,
} from "./scalar_fields";
import {
  below,
  emptyValue,
  itemSchema,
  propertiesOf,
  requiredOf,
  type Schema,
  shapeOf,
  titleOf,
  tupleLength,
  type Value,
  variantOf,
  variantTitle,
} from "./schema";

interface FieldProps {
  schema: Schema;
  /** Key of the field in its object, or words for its place. */
  name: string;
  value: Value;
  change: (value: Value) => void;
  pointer: string;
  required: boolean;
}

/** The control for one part of a schema. */
export function SchemaField({ schema, name, value, change, pointer, required }: FieldProps) {
  const { root, templates } = useForm();
  const shape = shapeOf(schema, root);
  const label = titleOf(shape.schema, name);
  const description = shape.schema.description;
  const hint = typeof description === "string" && description ? description : undefined;
  const aside = required ? undefined : "optional";
  const props: ControlProps = { shape, label, hint, aside, required, value, change, pointer };
  switch (shape.kind) {
    case "object":
    case "array":
    case "variants":
      return <Group {...props} />;
    case "json":
      return <JsonField {...props} hint={hint ?? defaultWords(shape.schema)} />;
    case "constant":
      return <ConstantControl {...props} />;
    case "choice":
      return templates ? <TextControl {...props} /> : <ChoiceControl {...props} />;
    case "boolean":
      return templates ? <TextControl {...props} /> : <BooleanControl {...props} />;
    default:
      return <TextControl {...props} />;
  }
}

/** A field of several parts; one that may be left out has a button to give it or take it away. */
function Group({ shape, label, hint, aside, required, value, change, pointer }: ControlProps) {
  const { root, touch } = useForm();
  const id = useId();
  const given = value !== undefined && value !== null;
  const error = useError(pointer, !given);
  const give = (): void => {
    touch(pointer);
    change(shape.schema.default ?? emptyValue(shape.schema, root));
  };
  return (
    <fieldset
      aria-describedby={error ? `${id}-error` : undefined}
      className="min-w-0 rounded-md border border-line p-3 pt-1"
    >
      <legend className="px-1 font-medium">
        {label} {aside && <span className="text-[13px] font-normal text-muted">{aside}</span>}
      </legend>
      {hint && <p className="mb-2 text-[13px] text-muted">{hint}</p>}
      {given ? (
        <Parts {...{ shape, value, change, pointer }} />
      ) : (
        <p className="flex flex-wrap items-center gap-2 text-muted">
          {defaultWords(shape.schema) ?? "Not given."}
          <button type="button" className="button min-h-6 text-text" onClick={give}>
            Give {label}
          </button>
        </p>
      )}
      {given && (!required || shape.nullable) && (
        <button
          type="button"
          className="button button-quiet mt-2 min-h-6 text-[13px]"
          onClick={() => {
            touch(pointer);
            change(required ? null : undefined);
          }}
        >
          Leave out {label}
        </button>
      )}
      {error && (
        <p id={`${id}-error`} className="mt-1 text-[13px] text-danger">
          {error}
        </p>
      )}
    </fieldset>
  );
}

function Parts({
  shape,
  value,
  change,
  pointer,
}: Pick<ControlProps, "shape" | "value" | "change" | "pointer">) {
  if (shape.kind === "variants") return <Variants {...{ shape, value, change, pointer }} />;
  if (shape.kind === "array")
    return <Items schema={shape.schema} value={value} change={change} pointer={pointer} />;
  return <Properties schema={shape.schema} value={value} change={change} pointer={pointer} />;
}

interface PartsProps {
  schema: Schema;
  value: Value;
  change: (value: Value) => void;
  pointer: string;
}

/** The fields of an object, and what else is in it as JSON. */
export function Properties({ schema, value, change, pointer }: PartsProps) {
  const given = isObject(value) ? value : {};
  const fields = propertiesOf(schema);
  const required = requiredOf(schema);
  const known = new Set(fields.map(([key]) => key));
  const others = Object.fromEntries(Object.entries(given).filter(([key]) => !known.has(key)));
  const hasOthers = Object.keys(others).length > 0;
  const put = (key: string, next: Value): void => {
    const { [key]: _, ...rest } = given;
    change(next === undefined ? rest : { ...given, [key]: next });
  };
  return (
    <div className="space-y-3">
      {fields.map(([key, field]) => (
        <SchemaField
          key={key}
          schema={field}
          name={key}
          value={given[key]}
          change={(next) => put(key, next)}
          pointer={below(pointer, key)}
          required={required.has(key)}
        />
      ))}
      {hasOthers && (
        <JsonField
          label="Other fields"
          value={others}
          pointer={`${pointer}/`}
          change={(next) => {
            const kept = Object.entries(given).filter(([key]) => known.has(key));
            change({ ...Object.fromEntries(kept), ...(isObject(next) ? next : {}) });
          }}
        />
      )}
      <OtherProblems pointer={pointer} known={known} />
    </div>
  );
}

/** Messages about fields of this object that the schema does not have. */
function OtherProblems({ pointer, known }: { pointer: string; known: ReadonlySet<string> }) {
  const { problems } = useForm();
  const others = problems.filter(({ pointer: at }) => {
    if (at === pointer && pointer.lastIndexOf("/") === 0) return true;
    if (!at.startsWith(`${pointer}/`)) return false;
    const key = at.slice(pointer.length + 1).split("/")[0] ?? "";
    return !known.has(key.replaceAll("~1", "/").replaceAll("~0", "~"));
  });
  if (others.length === 0) return null;
  return (
    <ul className="text-[13px] text-danger">
      {others.map((each) => (
        <li key={each.pointer + each.message}>
          {each.pointer === pointer ? "" : `${each.pointer.slice(pointer.length + 1)}: `}
          {each.message}
        </li>
      ))}
    </ul>
  );
}

/** The items of a list, which can be added, removed and moved. */
function Items({ schema, value, change, pointer }: PartsProps) {
  const { root, touch } = useForm();
  const items = Array.isArray(value) ? (value as Value[]) : [];
  const fixed = tupleLength(schema);
  const put = (next: Value[]): void => {
    touch(pointer);
    change(next);
  };
  const move = (from: number, to: number): void => {
    const next = [...items];
    next.splice(to, 0, ...next.splice(from, 1));
    put(next);
  };
  return (
    <div>
      <ol className="space-y-2">
        {items.map((item, place) => (
          <li key={place} className="flex items-start gap-1">
            <div className="min-w-0 flex-1">
              <SchemaField
                schema={itemSchema(schema, place)}
                name={`Item ${place + 1}`}
                value={item}
                change={(next) =>
                  put(items.with(place, next ?? (typeof item === "string" ? "" : null)))
                }
                pointer={below(pointer, place)}
                required
              />
            </div>
            {fixed === null && (
              <div className="flex pt-5">
                <ItemButton
                  label={`Move item ${place + 1} up`}
                  disabled={place === 0}
                  act={() => move(place, place - 1)}
                >
                  ↑
                </ItemButton>
                <ItemButton
                  label={`Move item ${place + 1} down`}
                  disabled={place === items.length - 1}
                  act={() => move(place, place + 1)}
                >
                  ↓
                </ItemButton>
                <ItemButton
                  label={`Remove item ${place + 1}`}
                  act={() => put(items.toSpliced(place, 1))}
                >
                  ✕
                </ItemButton>
              </div>
            )}
          </li>
        ))}
      </ol>
      {fixed === null && (
        <button
          type="button"
          className="button mt-2 min-h-6"
          onClick={() => put([...items, emptyItem(itemSchema(schema, items.length), root)])}
        >
          Add item
        </button>
      )}
    </div>
  );
}

function ItemButton({
  label,
  act,
  disabled = false,
  children,
}: {
  label: string;
  act: () => void;
  disabled?: boolean;
  children: string;
}) {
  return (
    <button
      type="button"
      className="button button-quiet min-w-6 px-1"
      aria-label={label}
      disabled={disabled}
      onClick={act}
    >
      {children}
    </button>
  );
}

/** One of several shapes: a choice, and the fields of what is chosen. */
function Variants({
  shape,
  value,
  change,
  pointer,
}: Pick<ControlProps, "shape" | "value" | "change" | "pointer">) {
  const { root, touch } = useForm();
  const place = variantOf(shape.variants, value, root);
  const variant = shape.variants[place] ?? {};
  return (
    <div className="space-y-3">
      <select
        aria-label="Kind"
        className="input"
        value={place}
        onChange={(event) => {
          touch(pointer);
          const chosen = shape.variants[Number(event.target.value)] ?? {};
          change(emptyItem(chosen, root));
        }}
      >
        {shape.variants.map((each, number) => (
          <option key={number} value={number}>
            {variantTitle(each, root)}
          </option>
        ))}
      </select>
      {shapeOf(variant, root).kind === "object" ? (
        <Properties
          schema={shapeOf(variant, root).schema}
          value={value}
          change={change}
          pointer={pointer}
        />
      ) : (
        <SchemaField
          key={place}
          schema={variant}
          name="Value"
          value={value}
          change={(next) => change(next ?? emptyItem(variant, root))}
          pointer={pointer}
          required
        />
      )}
    </div>
  );
}

/** A value for a place that has to hold something. */
function emptyItem(schema: Schema, root: Schema): Value {
  const empty = emptyValue(schema, root);
  if (empty !== undefined) return empty;
  const { kind, schema: own } = shapeOf(schema, root);
  if (kind === "integer" || kind === "number") return own.minimum ?? 0;
  return kind === "choice" ? (own.enum as Value[])[0] : kind === "json" ? null : "";
}

function defaultWords(schema: Schema): string | undefined {
  const usual = schema.default;
  if (usual === undefined || usual === null) return undefined;
  return `Left out, it is ${JSON.stringify(usual)}.`;
}

function isObject(value: Value): value is Record<string, Value> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
