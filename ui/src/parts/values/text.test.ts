import { expect, test } from "vitest";
import { visibleText } from "./text";

test("shows control, direction and zero-width characters, and leaves words as they are", () => {
  expect(visibleText("a\u0007b\u202etxt.exe\u200b\ufeff")).toBe(
    "a␇b⟨U+202E⟩txt.exe⟨U+200B⟩⟨U+FEFF⟩",
  );
  const words = "line\n\ttab نمی‌خواهم 👩‍🔬 café";
  expect(visibleText(words)).toBe(words);
});
