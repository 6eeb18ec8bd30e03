import { visibleText } from "@/parts/values/text";

/** A piece of a line with one look. */
export interface Span {
  text: string;
  /** Place in `COLORS`. */
  color?: number;
  background?: number;
  bold?: boolean;
  dim?: boolean;
  italic?: boolean;
  underline?: boolean;
  strike?: boolean;
}
type Look = Omit<Span, "text">;

/** The eight colours of a terminal, readable on our own surfaces, light and dark. */
export const COLORS: readonly string[] = [
  "light-dark(#14181d, #9aa4b0)",
  "light-dark(#a3210a, #ff9a80)",
  "light-dark(#136647, #5fd0a4)",
  "light-dark(#7a4a00, #fdc933)",
  "light-dark(#1d4ed8, #9db8ff)",
  "light-dark(#86198f, #e5a3f0)",
  "light-dark(#0b5c68, #67d5e6)",
  "light-dark(#57606b, #e7eaee)",
];

// Select Graphic Rendition, `ESC [ 1 ; 31 m`, and no other sequence: the rest stays visible text.
// biome-ignore lint/suspicious/noControlCharactersInRegex: an escape sequence begins with one
const SGR = /\u001b\[([0-9;:]{0,64})m/g;

/** Split a line by its ANSI colours. Any other control character is shown as a sign. */
export function parseAnsi(line: string): Span[] {
  if (!line.includes("\u001b")) return [{ text: visibleText(line) }];
  const spans: Span[] = [];
  let look: Look = {};
  let from = 0;
  const push = (text: string): void => {
    if (text !== "") spans.push({ text: visibleText(text), ...look });
  };
  for (const found of line.matchAll(SGR)) {
    push(line.slice(from, found.index));
    look = changed(look, (found[1] ?? "").split(/[;:]/).map(Number));
    from = found.index + found[0].length;
  }
  push(line.slice(from));
  return spans;
}

/** The text of a line without its colours. */
export function plainText(line: string): string {
  return line.replace(SGR, "");
}

function changed(before: Look, codes: readonly number[]): Look {
  let look: Look = { ...before };
  for (let place = 0; place < codes.length; place += 1) {
    const code = codes[place] ?? 0;
    if (code === 0) look = {};
    else if (code === 1) look.bold = true;
    else if (code === 2) look.dim = true;
    else if (code === 3) look.italic = true;
    else if (code === 4) look.underline = true;
    else if (code === 9) look.strike = true;
    else if (code === 22) look = { ...look, bold: false, dim: false };
    else if (code === 23) look.italic = false;
    else if (code === 24) look.underline = false;
    else if (code === 29) look.strike = false;
    else if (code === 39) delete look.color;
    else if (code === 49) delete look.background;
    else if (code === 38 || code === 48) {
      const [color, used] = extended(codes.slice(place + 1));
      place += used;
      if (color !== null) look[code === 38 ? "color" : "background"] = color;
    } else if (code >= 30 && code <= 37) look.color = code - 30;
    else if (code >= 90 && code <= 97) look.color = code - 90;
    else if (code >= 40 && code <= 47) look.background = code - 40;
    else if (code >= 100 && code <= 107) look.background = code - 100;
  }
  return look;
}

/** Nearest of the eight colours to one of 256 (`5;n`) or of all (`2;r;g;b`), and the codes it took. */
function extended([kind, ...rest]: readonly number[]): [number | null, number] {
  if (kind === 2) {
    const [red = 0, green = 0, blue = 0] = rest;
    return [nearest(red, green, blue), 4];
  }
  if (kind !== 5) return [null, 1];
  const index = rest[0] ?? 0;
  if (index < 16) return [index % 8, 2];
  if (index >= 232) return [index < 244 ? 0 : 7, 2];
  const cube = index - 16;
  const part = (size: number): number => (Math.floor(cube / size) % 6) * 51;
  return [nearest(part(36), part(6), part(1)), 2];
}

function nearest(red: number, green: number, blue: number): number {
  const most = Math.max(red, green, blue);
  if (most < 64) return 0;
  const on = (value: number): number => (value > most * 0.6 ? 1 : 0);
  return on(red) + on(green) * 2 + on(blue) * 4;
}
