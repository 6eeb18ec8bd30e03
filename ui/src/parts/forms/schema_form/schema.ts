/** A JSON value; `undefined` stands for a field that is left out. */
export type Value = unknown;
/** A JSON Schema, or a part of one, as pydantic and our definitions write it. */
export type Schema = Readonly<Record<string, unknown>>;

export type Kind =
  | "text"
  | "password"
  | "integer"
  | "number"
  | "boolean"
  | "choice"
  | "constant"
  | "date"
  | "date-time"
  | "time"
  | "array"
  | "object"
  | "variants"
  | "json";

/** A schema with its references followed: what kind of control edits it, and what it may hold. */
export interface Shape {
  kind: Kind;
  schema: Schema;
  nullable: boolean;
  /** The alternatives of `variants`. */
  variants: readonly Schema[];
  secret: boolean;
}

const FORMATS: Record<string, Kind> = { date: "date", "date-time": "date-time", time: "time" };
const DEEPEST_REFERENCE = 20;

/** Follow references and `anyOf [T, null]`, and choose the control. */
export function shapeOf(schema: Schema, root: Schema): Shape {
  const whole = followed(schema, root);
  const [alternatives, nullable] = alternativesOf(whole, root);
  if (alternatives === null)
    return { kind: "json", schema: whole, nullable, variants: [], secret: isSecret(whole) };
  const [only, ...others] = alternatives;
  if (only === undefined || others.length > 0) {
    const kind = isDecimal(alternatives) ? "text" : "variants";
    return { kind, schema: whole, nullable, variants: alternatives, secret: isSecret(whole) };
  }
  const { anyOf: _, oneOf: __, ...around } = whole;
  const merged = only === whole ? whole : { ...only, ...around };
  const secret = isSecret(merged);
  return { kind: kindOf(merged, secret), schema: merged, nullable, variants: [], secret };
}

function kindOf(schema: Schema, secret: boolean): Kind {
  if ("const" in schema) return "constant";
  if (Array.isArray(schema.enum)) return "choice";
  switch (schema.type) {
    case "string":
      return secret ? "password" : (FORMATS[String(schema.format)] ?? "text");
    case "integer":
    case "number":
    case "boolean":
      return schema.type;
    case "array":
      return isSchema(schema.items) || Array.isArray(schema.prefixItems) ? "array" : "json";
    case "object":
      return isSchema(schema.properties) ? "object" : "json";
    default:
      return isSchema(schema.properties) ? "object" : "json";
  }
}

/** The alternatives of a schema without `null`; no alternatives if it is a union we do not know. */
function alternativesOf(schema: Schema, root: Schema): [readonly Schema[] | null, boolean] {
  const union = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(union)) {
    const all = (union as Schema[]).map((each) => followed(each, root));
    const others = all.filter((each) => each.type !== "null");
    return [others.length > 0 ? others : null, others.length < all.length];
  }
  if (Array.isArray(schema.type)) {
    const types = (schema.type as string[]).filter((each) => each !== "null");
    const nullable = types.length < schema.type.length;
    return types.length > 0 ? [types.map((type) => ({ ...schema, type })), nullable] : [null, true];
  }
  return [[schema], schema.type === "null"];
}

function followed(schema: Schema, root: Schema): Schema {
  let here = schema;
  for (let step = 0; step < DEEPEST_REFERENCE; step += 1) {
    const all = here.allOf;
    const target =
      typeof here.$ref === "string"
        ? referenced(here.$ref, root)
        : Array.isArray(all) && all.length === 1
          ? (all[0] as Schema)
          : null;
    if (target === null) return here;
    const { $ref: _, allOf: __, ...around } = here;
    here = { ...target, ...around };
  }
  return {};
}

function referenced(reference: string, root: Schema): Schema {
  const found = reference.startsWith("#/") ? valueAt(root, reference.slice(1)) : undefined;
  return isSchema(found) ? found : {};
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A decimal number, which pydantic writes as `number` or `string`: edited as text. */
function isDecimal(alternatives: readonly Schema[]): boolean {
  return alternatives.map((each) => each.type).join() === "number,string";
}

export function isSecret(schema: Schema): boolean {
  return schema.writeOnly === true || schema.format === "password";
}

/** Name of a field: its title, unless that is only its key in other letters. */
export function titleOf(schema: Schema, key: string): string {
  const title = typeof schema.title === "string" ? schema.title : "";
  return title || key;
}

/** Schemas of an object's fields. */
export function propertiesOf(schema: Schema): [string, Schema][] {
  return isSchema(schema.properties) ? Object.entries(schema.properties as object) : [];
}

export function requiredOf(schema: Schema): ReadonlySet<string> {
  return new Set(Array.isArray(schema.required) ? (schema.required as string[]) : []);
}

/** Schema of an array's item at a place. */
export function itemSchema(schema: Schema, place: number): Schema {
  const first = Array.isArray(schema.prefixItems) ? (schema.prefixItems as Schema[]) : [];
  return first[place] ?? (isSchema(schema.items) ? schema.items : {});
}

/** Items that a tuple has; null for an array of any length. */
export function tupleLength(schema: Schema): number | null {
  return Array.isArray(schema.prefixItems) && !isSchema(schema.items)
    ? schema.prefixItems.length
    : null;
}

/** A value to begin with: what has to be there, and nothing that has a default of its own. */
export function emptyValue(schema: Schema, root: Schema, depth = 0): Value {
  const shape = shapeOf(schema, root);
  switch (shape.kind) {
    case "constant":
      return shape.schema.const;
    case "object": {
      if (depth > DEEPEST_REFERENCE) return {};
      const required = requiredOf(shape.schema);
      const fields = propertiesOf(shape.schema).filter(
        ([key, field]) => required.has(key) || shapeOf(field, root).kind === "constant",
      );
      const given = fields.map(([key, field]) => [key, emptyValue(field, root, depth + 1)]);
      return Object.fromEntries(given.filter(([, value]) => value !== undefined));
    }
    case "array": {
      const length = tupleLength(shape.schema);
      return length === null
        ? []
        : Array.from({ length }, (_, place) =>
            emptyValue(itemSchema(shape.schema, place), root, depth + 1),
          );
    }
    case "boolean":
      return false;
    case "variants":
      return emptyValue(shape.variants[0] ?? {}, root, depth + 1);
    default:
      return undefined;
  }
}

/** An example for each required field, so that a first job can be run at once. */
export function exampleValue(schema: Schema, root: Schema, key = ""): Value {
  const shape = shapeOf(schema, root);
  const { schema: own } = shape;
  if (Array.isArray(own.examples) && own.examples.length > 0) return own.examples[0];
  if ("default" in own) return own.default;
  switch (shape.kind) {
    case "choice":
      return (own.enum as Value[])[0];
    case "object": {
      const required = requiredOf(own);
      return Object.fromEntries(
        propertiesOf(own)
          .filter(([name]) => required.has(name))
          .map(([name, field]) => [name, exampleValue(field, root, name)]),
      );
    }
    case "integer":
    case "number":
      return typeof own.minimum === "number" ? own.minimum : 1;
    case "text":
      return own.format === undefined ? (key.includes("name") ? "Ada" : "hello") : undefined;
    default:
      return emptyValue(schema, root);
  }
}

/** The variant that a value is of; the first one that may hold it. */
export function variantOf(variants: readonly Schema[], value: Value, root: Schema): number {
  const place = variants.findIndex((variant) => mayHold(shapeOf(variant, root), value, root));
  return Math.max(0, place);
}

function mayHold({ kind, schema }: Shape, value: Value, root: Schema): boolean {
  if (kind === "constant") return schema.const === value;
  if (kind === "choice") return (schema.enum as Value[]).includes(value);
  if (kind === "integer") return Number.isInteger(value);
  if (kind === "number" || kind === "boolean") return typeof value === kind;
  if (kind === "array") return Array.isArray(value);
  if (kind === "json") return true;
  if (kind !== "object") return typeof value === "string";
  if (!isSchema(value)) return false;
  const fields = propertiesOf(schema);
  const constants = fields.filter(([, field]) => "const" in shapeOf(field, root).schema);
  if (constants.length > 0)
    return constants.every(([key, field]) => value[key] === shapeOf(field, root).schema.const);
  return [...requiredOf(schema)].every((key) => key in value);
}

/** Name of a variant: its title, its constant, or its type. */
export function variantTitle(variant: Schema, root: Schema): string {
  const { kind, schema } = shapeOf(variant, root);
  const words: Partial<Record<Kind, string>> = {
    text: "Text",
    integer: "Whole number",
    number: "Number",
    boolean: "Yes or no",
    array: "List",
    json: "JSON",
  };
  return titleOf(schema, words[kind] ?? kind);
}

/** Pointer to a part of what `pointer` points at. */
export function below(pointer: string, key: string | number): string {
  return `${pointer}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** The value that a JSON pointer points at. */
export function valueAt(value: Value, pointer: string): Value {
  let here = value;
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<string, unknown>)[key];
  }
  return here;
}

/** A payload in which secret values are replaced by a mark, to be shown or copied. */
export function withoutSecrets(value: Value, schema: Schema, root: Schema = schema): Value {
  const shape = shapeOf(schema, root);
  if (shape.secret && value !== undefined && value !== "") return "•••";
  if (Array.isArray(value))
    return value.map((item, place) => withoutSecrets(item, itemSchema(shape.schema, place), root));
  if (!isSchema(value)) return value;
  const own =
    shape.kind === "variants"
      ? shapeOf(shape.variants[variantOf(shape.variants, value, root)] ?? {}, root).schema
      : shape.schema;
  const fields = new Map(propertiesOf(own));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      withoutSecrets(item, fields.get(key) ?? {}, root),
    ]),
  );
}
