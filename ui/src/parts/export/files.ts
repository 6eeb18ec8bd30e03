/** What is written in one line of a file. */
export type Entry = Record<string, unknown>;

export function asJsonLines(entries: readonly Entry[]): string {
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
}

/** A table with a line of names; objects and lists are JSON. */
export function asCsv(entries: readonly Entry[]): string {
  const names = [...new Set(entries.flatMap((entry) => Object.keys(entry)))];
  const lines = entries.map((entry) => names.map((name) => csvCell(entry[name])).join(","));
  return `${[names.join(","), ...lines].join("\r\n")}\r\n`;
}

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = typeof value === "string" ? value : JSON.stringify(value);
  // A spreadsheet would run these as formulas; the quote makes it show them as text.
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Have the browser save text as a file. */
export function download(name: string, text: string, type: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
