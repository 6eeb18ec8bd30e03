import { render, screen, within } from "@testing-library/preact";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, test, vi } from "vitest";
import type { FieldProblem } from "@/api/problem";
import { emptyValue, exampleValue, type Schema, type Value, withoutSecrets } from "./schema";
import { SchemaForm } from "./schema_form";

/** As pydantic writes it for a handler with every kind of argument. */
const ORDER: Schema = {
  $defs: {
    Address: {
      properties: {
        street: { description: "Street and number", minLength: 1, title: "Street", type: "string" },
        zip: { pattern: "^\\d{5}$", title: "Zip", type: "string" },
      },
      required: ["street", "zip"],
      title: "Address",
      type: "object",
    },
    Color: { enum: ["red", "green"], title: "Color", type: "string" },
    Mail: {
      properties: {
        kind: { const: "mail", default: "mail", title: "Kind", type: "string" },
        to: { title: "To", type: "string" },
      },
      required: ["to"],
      title: "Mail",
      type: "object",
    },
    Sms: {
      properties: {
        kind: { const: "sms", default: "sms", title: "Kind", type: "string" },
        number: { title: "Number", type: "string" },
      },
      required: ["number"],
      title: "Sms",
      type: "object",
    },
  },
  properties: {
    customer: { title: "Customer", type: "string" },
    address: { $ref: "#/$defs/Address" },
    tags: { items: { type: "string" }, title: "Tags", type: "array" },
    count: { maximum: 10, minimum: 1, title: "Count", type: "integer" },
    color: { $ref: "#/$defs/Color", default: "red" },
    day: {
      anyOf: [{ format: "date", type: "string" }, { type: "null" }],
      default: null,
      title: "Day",
    },
    when: { format: "date-time", title: "When", type: "string" },
    gift: { default: false, title: "Gift", type: "boolean" },
    extra: { additionalProperties: { type: "integer" }, title: "Extra", type: "object" },
    token: { title: "Token", type: "string", writeOnly: true },
    via: { oneOf: [{ $ref: "#/$defs/Sms" }, { $ref: "#/$defs/Mail" }], title: "Via" },
    price: { anyOf: [{ type: "number" }, { type: "string" }], title: "Price" },
  },
  required: ["customer", "address", "tags", "count"],
  type: "object",
};

function show(
  schema: Schema,
  {
    value = emptyValue(schema, schema),
    ...props
  }: {
    value?: Value;
    problems?: FieldProblem[];
    templates?: boolean;
    submitted?: boolean;
  } = {},
) {
  const sent = vi.fn();
  let latest = value;
  function Host() {
    const [now, setNow] = useState<Value>(value);
    latest = now;
    return (
      <form
        onSubmit={(event) => {
          event.preventDefault();
          sent(now);
        }}
      >
        <SchemaForm schema={schema} value={now} change={setNow} {...props} />
        <button type="submit">Send</button>
      </form>
    );
  }
  render(<Host />);
  return { user: userEvent.setup(), value: () => latest, sent };
}

test("edits text, numbers, choices, dates and flags, and leaves out what is empty", async () => {
  const { user, value } = show(ORDER);

  await user.type(screen.getByLabelText("Customer"), "Ada");
  await user.type(screen.getByLabelText("Count"), "4");
  await user.selectOptions(screen.getByLabelText("Color"), "green");
  await user.type(screen.getByLabelText("Day"), "2027-03-01");
  await user.click(screen.getByLabelText("Gift"));
  await user.type(screen.getByLabelText("Street"), "Main 1");
  await user.type(screen.getByLabelText("Price"), "1.10");

  expect(value()).toEqual({
    customer: "Ada",
    count: 4,
    color: "green",
    day: "2027-03-01",
    gift: true,
    address: { street: "Main 1" },
    tags: [],
    price: "1.10",
  });
  await user.clear(screen.getByLabelText("Customer"));
  await user.click(screen.getByLabelText("Color"));
  await user.selectOptions(screen.getByLabelText("Color"), "red (default)");
  expect(value()).not.toHaveProperty("customer");
  expect(value()).not.toHaveProperty("color");
});

test("keeps what is no number as text, for the server to refuse", async () => {
  const { user, value } = show(ORDER);

  await user.type(screen.getByLabelText("Count"), "4x");
  expect(value()).toMatchObject({ count: "4x" });
  await user.clear(screen.getByLabelText("Count"));
  await user.type(screen.getByLabelText("Count"), "12345678901234567890");
  expect(value()).toMatchObject({ count: "12345678901234567890" });
});

test("writes an instant with its zone", async () => {
  const { user, value } = show(ORDER);

  await user.type(screen.getByLabelText("When"), "2027-03-01T10:00:00");

  expect(value()).toMatchObject({ when: new Date("2027-03-01T10:00:00").toISOString() });
});

test("adds, moves and removes items of a list", async () => {
  const { user, value } = show(ORDER);
  const tags = within(screen.getByRole("group", { name: "Tags" }));

  await user.click(tags.getByRole("button", { name: "Add item" }));
  await user.type(tags.getByLabelText("Item 1"), "a");
  await user.click(tags.getByRole("button", { name: "Add item" }));
  await user.type(tags.getByLabelText("Item 2"), "b");
  await user.click(tags.getByRole("button", { name: "Move item 2 up" }));
  expect(value()).toMatchObject({ tags: ["b", "a"] });

  await user.click(tags.getByRole("button", { name: "Remove item 1" }));
  expect(value()).toMatchObject({ tags: ["a"] });
});

test("gives and takes away a group that is optional, and changes its kind", async () => {
  const { user, value } = show(ORDER);

  await user.click(screen.getByRole("button", { name: "Give Via" }));
  expect(value()).toMatchObject({ via: { kind: "sms" } });
  const via = within(screen.getByRole("group", { name: /Via/ }));
  await user.selectOptions(via.getByRole("combobox", { name: "Kind" }), "Mail");
  await user.type(via.getByLabelText("To"), "a@b");
  expect(value()).toMatchObject({ via: { kind: "mail", to: "a@b" } });

  await user.click(screen.getByRole("button", { name: "Leave out Via" }));
  expect(value()).not.toHaveProperty("via");
});

test("masks a secret until it is shown", async () => {
  const { user } = show(ORDER, { value: { token: "abc" } });

  expect(screen.getByLabelText("Token").getAttribute("type")).toBe("password");
  await user.click(screen.getByRole("button", { name: "Show Token" }));
  expect(screen.getByLabelText("Token").getAttribute("type")).toBe("text");
  expect(withoutSecrets({ customer: "Ada", token: "abc" }, ORDER)).toEqual({
    customer: "Ada",
    token: "•••",
  });
});

test("form and JSON are views of one value, and broken JSON is not sent", async () => {
  const { user, value, sent } = show(ORDER);

  await user.type(screen.getByLabelText("Customer"), "Ada");
  await user.click(screen.getByRole("tab", { name: "JSON" }));
  const text = screen.getByLabelText<HTMLTextAreaElement>("Payload");
  expect(JSON.parse(text.value)).toEqual(value());

  await user.clear(text);
  await user.type(text, "{{");
  expect(screen.getByText(/This is not JSON/)).toBeTruthy();
  await user.click(screen.getByRole("tab", { name: "Form" }));
  expect(screen.getByRole("tab", { name: "JSON" }).getAttribute("aria-selected")).toBe("true");
  await user.click(screen.getByRole("button", { name: "Send" }));
  expect(sent).not.toHaveBeenCalled();

  await user.clear(text);
  await user.type(text, '{{"customer": "Grace"}');
  await user.click(screen.getByRole("tab", { name: "Form" }));
  expect(screen.getByLabelText<HTMLInputElement>("Customer").value).toBe("Grace");
});

test("edits what it does not know as JSON, in its place", async () => {
  const { user, value } = show(ORDER);

  await user.type(screen.getByLabelText("Extra"), '{{"a": 1}');

  expect(value()).toMatchObject({ extra: { a: 1 } });
});

test("ties the server's messages to fields, and those of empty fields once one has been there", async () => {
  const { user } = show(ORDER, {
    value: { customer: "Ada", address: { zip: "1" }, unknown: 3 },
    problems: [
      { pointer: "/payload/address/zip", message: "does not match" },
      { pointer: "/payload/address/street", message: "required" },
      { pointer: "/payload/unknown", message: "is not an argument" },
    ],
  });

  const zip = screen.getByLabelText("Zip");
  expect(zip.getAttribute("aria-invalid")).toBe("true");
  const about = document.getElementById(
    zip.getAttribute("aria-describedby")?.split(" ").at(-1) ?? "",
  );
  expect(about?.textContent).toBe("does not match");
  expect(screen.getByText("unknown: is not an argument")).toBeTruthy();
  expect(screen.queryByText("required")).toBeNull();

  await user.click(screen.getByLabelText("Street"));
  await user.tab();
  expect(screen.getByText("required")).toBeTruthy();
});

test("shows all messages once it was submitted", () => {
  show(ORDER, {
    submitted: true,
    problems: [{ pointer: "/payload/customer", message: "required" }],
  });

  expect(screen.getByText("required")).toBeTruthy();
});

test("takes templates in every field of a trigger's payload", async () => {
  const { user, value } = show(ORDER, { templates: true });

  await user.type(screen.getByLabelText("Count"), "{{{{event.size}}");
  await user.type(screen.getByLabelText("Gift"), "true");
  await user.type(screen.getByLabelText("Color"), "{{{{event.color}}");

  expect(value()).toMatchObject({
    count: "{{event.size}}",
    gift: true,
    color: "{{event.color}}",
  });
});

test("makes up an example of what is required", () => {
  const hello: Schema = {
    type: "object",
    properties: { name: { type: "string" }, count: { type: "integer", minimum: 2 }, other: {} },
    required: ["name", "count"],
  };
  expect(exampleValue(hello, hello)).toEqual({ name: "Ada", count: 2 });
});

test("a schema that points at itself ends", () => {
  const tree: Schema = {
    $defs: {
      Node: {
        type: "object",
        title: "Node",
        properties: { name: { type: "string", title: "Name" }, next: { $ref: "#/$defs/Node" } },
        required: ["name"],
      },
      Loop: { $ref: "#/$defs/Loop" },
    },
    type: "object",
    properties: { node: { $ref: "#/$defs/Node" }, loop: { $ref: "#/$defs/Loop" } },
    required: ["node", "loop"],
  };
  show(tree);

  expect(screen.getByLabelText("Name")).toBeTruthy();
  expect(screen.getByRole("button", { name: "Give Node" })).toBeTruthy();
});
