/** Workers as far as it matters which code they run. */
export interface CodeFacts {
  id: string;
  liveness: string;
  version: string;
  code: string | null;
  definitions: readonly string[];
}

/** A warning if live workers of the same definitions run different code; "" if they do not. */
export function mixedCode(workers: readonly CodeFacts[]): string {
  const groups = new Map<string, Map<string, string[]>>();
  for (const worker of workers) {
    if (worker.liveness !== "live") continue;
    const known = [...worker.definitions].sort().join("\n");
    const codes = groups.get(known) ?? new Map<string, string[]>();
    groups.set(known, codes);
    const code = `${worker.version} ${worker.code ?? ""}`.trim();
    codes.set(code, [...(codes.get(code) ?? []), worker.id]);
  }
  const mixed = [...groups.values()].find((codes) => codes.size > 1);
  if (mixed === undefined) return "";
  const parts = [...mixed].map(([code, ids]) => `${code} on ${ids.length}`);
  return `Workers of the same definitions run different code: ${parts.join(", ")}. A deployment may be under way.`;
}
