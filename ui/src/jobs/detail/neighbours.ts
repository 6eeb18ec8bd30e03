const KEY = "windlass.job-list";

/** A list that jobs were opened from: their ids in its order, and its address. */
interface RememberedList {
  ids: string[];
  address: string;
}

/** Note the order of a list before one of its jobs is opened, for `[` and `]` there. */
export function rememberList(ids: readonly string[]): void {
  const list: RememberedList = {
    ids: ids.slice(0, 2000),
    address: `${location.pathname}${location.search}`,
  };
  try {
    sessionStorage.setItem(KEY, JSON.stringify(list));
  } catch {
    // Private windows may have no storage.
  }
}

/** The jobs before and after one in the list that it came from, and that list's address. */
export function neighboursOf(id: string): {
  previous: string | null;
  next: string | null;
  place: string | null;
} {
  try {
    const list = JSON.parse(sessionStorage.getItem(KEY) ?? "null") as RememberedList | null;
    const at = list?.ids.indexOf(id) ?? -1;
    if (list === null || at === -1) return { previous: null, next: null, place: null };
    return {
      previous: list.ids[at - 1] ?? null,
      next: list.ids[at + 1] ?? null,
      place: `${at + 1} of ${list.ids.length}`,
    };
  } catch {
    return { previous: null, next: null, place: null };
  }
}
