export interface DiffLine {
  kind: "+" | "-" | " ";
  line: string;
}

/** Largest product of lines that are compared one by one; beyond it all is shown as replaced. */
const MOST = 1_000_000;

/** What differs between two texts, line by line: the longest lines in common stay. */
export function diffLines(before: string, after: string): DiffLine[] {
  const old = before.split("\n");
  const now = after.split("\n");
  if (old.length * now.length > MOST)
    return [
      ...old.map((line) => ({ kind: "-" as const, line })),
      ...now.map((line) => ({ kind: "+" as const, line })),
    ];
  // common[i][j]: length of the longest common part of old[i:] and now[j:].
  const width = now.length + 1;
  const common = new Uint32Array((old.length + 1) * width);
  const at = (i: number, j: number): number => common[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i -= 1)
    for (let j = now.length - 1; j >= 0; j -= 1)
      common[i * width + j] =
        old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push({ kind: " ", line: old[i] ?? "" });
      i += 1;
      j += 1;
    } else if (j >= now.length || (i < old.length && at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ kind: "-", line: old[i] ?? "" });
      i += 1;
    } else {
      lines.push({ kind: "+", line: now[j] ?? "" });
      j += 1;
    }
  }
  return lines;
}
