import { useCallback, useMemo } from "react";
import { useSearchParams } from "wouter";

/**
 * The view of a screen, in its address: filters, window, columns, selection. What equals its
 * default is left out. `push` adds a step for Back; typing replaces the present one.
 */
export function useView<V extends Record<string, string>>(
  defaults: V,
): [V, (change: Partial<V>, options?: { push?: boolean }) => void] {
  const [search, setSearch] = useSearchParams();
  const shape = JSON.stringify(defaults);
  const view = useMemo(() => {
    const read = { ...(JSON.parse(shape) as V) };
    for (const key of Object.keys(read) as (keyof V & string)[])
      read[key] = (search.get(key) ?? read[key]) as V[keyof V & string];
    return read;
  }, [search, shape]);
  const change = useCallback(
    (next: Partial<V>, { push = true } = {}) => {
      const usual = JSON.parse(shape) as V;
      setSearch(
        (before) => {
          const after = new URLSearchParams(before);
          for (const [key, value] of Object.entries(next)) {
            if (value === undefined || value === usual[key]) after.delete(key);
            else after.set(key, value as string);
          }
          return after;
        },
        { replace: !push },
      );
    },
    [setSearch, shape],
  );
  return [view, change];
}
