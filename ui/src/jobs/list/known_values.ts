import { useQueries } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { get, readKey, useRead } from "@/api/read";
import { useSession } from "@/api/session";
import type { KnownValue, ValuesOf } from "@/parts/filters/suggestions";

const MINUTE = { staleTime: 60_000 };
const PATH = "/api/v1/jobs/suggest";

/** Values that the filter box suggests, with their counts: those of a field are read when it is typed. */
export function useKnownValues(): {
  valuesOf: ValuesOf;
  ask: (fields: readonly string[]) => void;
  definitions: readonly string[];
} {
  const session = useSession();
  const [asked, setAsked] = useState<readonly string[]>([]);
  const definitions = useRead(
    "/api/v1/definitions",
    { params: { query: { limit: 500 } } },
    { ...MINUTE, enabled: session.may("definitions.read") },
  );
  const values = useQueries({
    queries: asked.map((field) => {
      const init = { params: { query: { q: `${field}:`, limit: 500 } } };
      return {
        queryKey: readKey(PATH, init),
        queryFn: ({ signal }: { signal: AbortSignal }) => get(PATH, { ...init, signal }),
        ...MINUTE,
      };
    }),
    combine: (answers) => answers.map((answer) => answer.data?.items),
  });
  const ask = useCallback((fields: readonly string[]) => {
    setAsked((before) => {
      const more = fields.filter((field) => !before.includes(field));
      return more.length === 0 ? before : [...before, ...more];
    });
  }, []);
  const valuesOf = useCallback(
    (field: string): readonly KnownValue[] =>
      (values[asked.indexOf(field)] ?? []).map((each) => ({
        value: each.label.slice(field.length + 1),
        count: each.count ?? undefined,
        exact: each.exact,
      })),
    [asked, values],
  );
  const keys = useMemo(
    () => definitions.data?.items.map((each) => each.key) ?? [],
    [definitions.data],
  );
  return { valuesOf, ask, definitions: keys };
}
