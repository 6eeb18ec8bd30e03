/** Characters that change what stands around them, or that nobody sees. */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what has to be shown
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff]|(?<![\p{L}\p{Extended_Pictographic}])(?:\u200c|\u200d)|(?:\u200c|\u200d)(?![\p{L}\p{Extended_Pictographic}])/gu;

/**
 * Text with a visible sign in place of every control, direction and zero-width character: `␛` for
 * escape, `⟨U+202E⟩` for one without a picture. Line ends and tabs stay.
 */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, (found) => {
    const code = found.codePointAt(0) ?? 0;
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    if (code === 0x7f) return "␡";
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

/** Text of a user's beside our own: its direction stays inside, and nothing in it is hidden. */
export function UserText({ children }: { children: string }) {
  return <bdi>{visibleText(children)}</bdi>;
}
