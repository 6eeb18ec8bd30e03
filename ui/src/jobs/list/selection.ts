import { useCallback, useRef, useState } from "react";

/** As many jobs can be picked one by one; more are picked by a filter. */
export const MOST_PICKED = 100;

export interface Selection {
  picked: ReadonlySet<string>;
  /** True if all that match are meant, shown or not. */
  all: boolean;
  toggle: (id: string, range?: boolean) => void;
  pickShown: () => void;
  pickAll: () => void;
  clear: () => void;
}

/** Jobs that are picked; with shift, all between the last one and this. */
export function useSelection(ids: readonly string[]): Selection {
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const [all, setAll] = useState(false);
  const last = useRef<string | null>(null);
  const toggle = useCallback(
    (id: string, range = false) => {
      setAll(false);
      setPicked((before) => {
        const after = new Set(before);
        const from = range && last.current !== null ? ids.indexOf(last.current) : -1;
        if (from >= 0) {
          const to = ids.indexOf(id);
          for (const each of ids.slice(Math.min(from, to), Math.max(from, to) + 1)) after.add(each);
        } else if (!after.delete(id)) after.add(id);
        last.current = id;
        return new Set([...after].slice(0, MOST_PICKED));
      });
    },
    [ids],
  );
  return {
    picked,
    all,
    toggle,
    pickShown: () => {
      setAll(false);
      setPicked(new Set(ids.slice(0, MOST_PICKED)));
    },
    pickAll: () => setAll(true),
    clear: () => {
      setAll(false);
      setPicked(new Set());
    },
  };
}
