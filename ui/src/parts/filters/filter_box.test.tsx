import { screen } from "@testing-library/preact";
import { useState } from "react";
import { expect, test } from "vitest";
import { Problem } from "@/api/problem";
import { renderScreen } from "@/testing/render_screen";
import { FilterBox } from "./filter_box";
import { fieldValue, quoteValue, splitTerms, withField } from "./terms";

const VALUES: Record<string, { value: string; count?: number }[]> = {
  definition: [{ value: "mail.send", count: 1204 }, { value: "media.resize" }],
};

function Box({ start = "", problem = null }: { start?: string; problem?: Problem | null }) {
  const [q, setQ] = useState(start);
  return (
    <>
      <FilterBox
        value={q}
        change={setQ}
        valuesOf={(field) => VALUES[field] ?? []}
        problem={problem}
      />
      <output>{q}</output>
    </>
  );
}

function inForce(): string {
  return screen.getByRole("status").textContent ?? "";
}

test("fields are suggested, then values with counts, and Enter adds the term", async () => {
  const { user } = renderScreen(<Box start="state:running" />);
  const box = screen.getByRole("combobox");

  await user.type(box, "defin");
  expect(screen.getByRole("option", { name: /^definition:/ })).toBeTruthy();
  await user.keyboard("{ArrowDown}{Enter}ma");
  expect(screen.getByRole("option", { name: /definition:mail.send.*1,204/ })).toBeTruthy();
  await user.keyboard("{ArrowDown}{Enter}");

  expect(inForce()).toBe("state:running definition:mail.send");
  expect((box as HTMLInputElement).value).toBe("");
});

test("after a comma another value of the same field is suggested", async () => {
  const { user } = renderScreen(<Box />);

  await user.type(screen.getByRole("combobox"), "state:running,ret{ArrowDown}{Enter}");

  expect(inForce()).toBe("state:running,retrying");
});

test("what was typed is added when the box is left", async () => {
  const { user } = renderScreen(<Box />);

  await user.type(screen.getByRole("combobox"), 'error:"timed out"');
  await user.tab();

  expect(inForce()).toBe('error:"timed out"');
});

test("chips are removed and edited", async () => {
  const { user } = renderScreen(<Box start="state:running queue:mail" />);

  await user.click(screen.getByRole("button", { name: "Remove state:running" }));
  expect(inForce()).toBe("queue:mail");
  await user.click(screen.getByRole("button", { name: "Edit queue:mail" }));
  await user.keyboard("{Backspace}{Backspace}{Backspace}{Backspace}bulk{Enter}");

  expect(inForce()).toBe("queue:bulk");
});

test("Backspace in the empty box takes the last chip back for editing", async () => {
  const { user } = renderScreen(<Box start="queue:mail" />);

  await user.click(screen.getByRole("combobox"));
  await user.keyboard("{Backspace}");

  expect((screen.getByRole("combobox") as HTMLInputElement).value).toBe("queue:mail");
});

test("an error is tied to the field and marks its term", () => {
  const problem = new Problem(
    422,
    "WL2008",
    'the filter cannot be understood at character 12: "stat".',
    "There is no such field.",
    "Did you mean `state`? There are state, definition and id. Quote it.",
  );
  renderScreen(<Box start="queue:mail stat:x" problem={problem} />);

  const box = screen.getByRole("combobox");
  expect(box.getAttribute("aria-invalid")).toBe("true");
  const text = document.getElementById(box.getAttribute("aria-describedby") ?? "")?.textContent;
  expect(text).toContain("There is no such field. Did you mean state? Quote it.");
  expect(screen.getByText("stat:x").closest(".border-danger")).toBeTruthy();
  expect(screen.getByText("queue:mail").closest(".border-danger.bg-danger-soft")).toBeNull();
});

test("terms are split at spaces outside of quotes", () => {
  expect(
    splitTerms('state:a,b -queue:bulk error:"timed out" word "a b').map((t) => t.text),
  ).toEqual(["state:a,b", "-queue:bulk", 'error:"timed out"', "word", '"a b']);
  expect(splitTerms("-queue:bulk")[0]).toMatchObject({ negated: true, field: "queue" });
  expect(splitTerms("payload.user.id:>7")[0]).toMatchObject({ field: "payload.user.id" });
});

test("the term of a field is read and replaced", () => {
  expect(withField("state:running queue:mail", "state", "retrying")).toBe(
    "queue:mail state:retrying",
  );
  expect(withField("state:running queue:mail", "state", null)).toBe("queue:mail");
  expect(fieldValue("state:running", "state")).toBe("running");
  expect(fieldValue("-state:running", "state")).toBeNull();
  expect(quoteValue('say "hi"')).toBe('"say \\"hi\\""');
});
