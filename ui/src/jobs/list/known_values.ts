import { useMemo } from "react";
import { useRead } from "@/api/read";
import { useSession } from "@/api/session";
import type { KnownValue, ValuesOf } from "@/parts/filters/suggestions";
import { STATES } from "@/parts/values/state";
import { useLens } from "@/shell/lens";

/** Values that the filter box suggests: states with their counts, definitions, queues, tenants. */
export function useKnownValues(): { valuesOf: ValuesOf; definitions: readonly string[] } {
  const session = useSession();
  const { tenants } = useLens();
  const minute = { staleTime: 60_000 };
  const all = { params: { query: { limit: 500 } } };
  const summary = useRead("/api/v1/jobs/summary", {}, minute);
  const definitions = useRead("/api/v1/definitions", all, {
    ...minute,
    enabled: session.may("definitions.read"),
  });
  const queues = useRead("/api/v1/queues", all, {
    ...minute,
    enabled: session.may("queues.read"),
  });
  const workers = useRead(
    "/api/v1/workers",
    {},
    {
      ...minute,
      enabled: session.may("workers.read"),
    },
  );
  return useMemo(() => {
    const keys = definitions.data?.items.map((each) => each.key) ?? [];
    const values: Record<string, readonly KnownValue[]> = {
      state: STATES.map((state) => {
        const view = summary.data?.views[state];
        // The stored state has scheduled and retrying jobs too, which the view does not count.
        if (state === "queued" || view === undefined) return { value: state };
        return { value: state, count: view.count, exact: view.exact };
      }),
      definition: keys.map((value) => ({ value })),
      tag: [...new Set(definitions.data?.items.flatMap((each) => each.tags) ?? [])].map(
        (value) => ({ value }),
      ),
      queue: queues.data?.items.map((each) => ({ value: each.name })) ?? [],
      tenant: tenants.map((value) => ({ value })),
      worker: workers.data?.items.map((each) => ({ value: each.id })) ?? [],
    };
    return { valuesOf: (field: string) => values[field] ?? [], definitions: keys };
  }, [summary.data, definitions.data, queues.data, workers.data, tenants]);
}
