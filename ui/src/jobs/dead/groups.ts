import { type Item, write } from "@/api/read";

/** Dead-lettered jobs of one definition that failed for the same cause. */
export type Group = Item<"/api/v1/dead/groups">;
export type GroupName = Pick<Group, "definition" | "fingerprint">;

/** In addresses, in place of the fingerprint of jobs of which no cause is known. */
const NO_CAUSE = "unknown";
/** Jobs that one request changes at most. */
const BATCH = 1000;

export function groupAddress({ definition, fingerprint }: GroupName): string {
  return `/dead/${encodeURIComponent(definition)}/${encodeURIComponent(fingerprint || NO_CAUSE)}`;
}

/** The group of an address, by the parameters of its path. */
export function groupOf(definition: string, fingerprint: string): GroupName {
  return { definition, fingerprint: fingerprint === NO_CAUSE ? "" : fingerprint };
}

export interface GroupResult {
  changed: number;
  skipped: number;
}

/**
 * Retry or discard the jobs of a group, thousand by thousand, and at most as many as it had: what
 * fails again meanwhile is left.
 */
export async function changeGroup(
  verb: "retry" | "discard",
  group: Pick<Group, "definition" | "fingerprint" | "count">,
  progress: (changed: number) => void = () => {},
): Promise<GroupResult> {
  const { definition, fingerprint, count } = group;
  const path = verb === "retry" ? "/api/v1/dead/groups/retry" : "/api/v1/dead/groups/discard";
  let changed = 0;
  let skipped = 0;
  while (changed + skipped < count) {
    const limit = Math.min(BATCH, count - changed);
    const done = await write("post", path, { body: { definition, fingerprint, limit } });
    changed += done.changed;
    skipped = done.skipped;
    progress(changed);
    if (!done.more || done.changed === 0) break;
  }
  return { changed, skipped };
}

/** Where a group's definition or its jobs' errors contain the text. */
export function matches(group: Group, find: string): boolean {
  const words = find.trim().toLowerCase();
  return (
    words === "" ||
    group.definition.toLowerCase().includes(words) ||
    group.sentence.toLowerCase().includes(words) ||
    group.tenant_ids.some((tenant) => tenant.toLowerCase().includes(words))
  );
}
