import { get, type Item } from "@/api/read";

export interface Edge {
  parent: string;
  child: string;
  policy: string;
  settled: boolean;
}

export interface Node {
  id: string;
  state: string | null;
  definition: string | null;
  /** False while its own edges have not been read. */
  known: boolean;
}

/** Jobs that depend on each other, as far as they were read. */
export interface Family {
  nodes: ReadonlyMap<string, Node>;
  edges: readonly Edge[];
  /** Jobs whose own edges were not read, since there are so many. */
  unread: readonly string[];
}

/** Edges are read for so many jobs at a time, nearest first. */
const STEP = 60;
const AT_ONCE = 6;

/** Read the jobs around one: `steps` times sixty of them, nearest first, and their names. */
export async function readFamily(job: string, steps: number): Promise<Family> {
  const nodes = new Map<string, Node>();
  const edges = new Map<string, Edge>();
  const note = (id: string, state: string | null): void => {
    if (!nodes.has(id)) nodes.set(id, { id, state, definition: null, known: false });
  };
  note(job, null);
  let waiting = [job];
  let read = 0;
  while (waiting.length > 0 && read < steps * STEP) {
    const batch = waiting.splice(0, Math.min(AT_ONCE, steps * STEP - read));
    read += batch.length;
    const answers = await Promise.all(
      batch.map((id) => get("/api/v1/jobs/{job_id}/graph", { params: { path: { job_id: id } } })),
    );
    for (const [place, answer] of answers.entries()) {
      const id = batch[place] as string;
      nodes.set(id, { ...(nodes.get(id) as Node), known: true });
      for (const edge of answer.edges) {
        note(edge.parent_id, edge.parent_state);
        note(edge.child_id, edge.child_state);
        edges.set(`${edge.parent_id} ${edge.child_id}`, {
          parent: edge.parent_id,
          child: edge.child_id,
          policy: edge.policy,
          settled: edge.settled,
        });
      }
    }
    waiting = [...nodes.values()].filter((node) => !node.known).map((node) => node.id);
  }
  for (const entry of await readEntries([...nodes.keys()])) {
    const node = nodes.get(entry.id) as Node;
    nodes.set(entry.id, { ...node, definition: entry.definition, state: entry.view });
  }
  return { nodes, edges: [...edges.values()], unread: waiting };
}

async function readEntries(ids: readonly string[]): Promise<Item<"/api/v1/jobs">[]> {
  const pages: string[][] = [];
  for (let from = 0; from < ids.length; from += 50) pages.push(ids.slice(from, from + 50));
  const answers = await Promise.all(
    pages.map((page) =>
      get("/api/v1/jobs", { params: { query: { q: `id:${page.join(",")}`, limit: 50 } } }),
    ),
  );
  return answers.flatMap((answer) => answer.items);
}

/** A job in a nested list; one that stands elsewhere in it already has no children here. */
export interface Branch {
  node: Node;
  children: Branch[];
  again: boolean;
}

/** The graph as nested lists: from the jobs that wait for none, down to those that wait for them. */
export function branchesOf({ nodes, edges }: Family): Branch[] {
  const children = new Map<string, string[]>();
  const hasParent = new Set<string>();
  for (const { parent, child } of edges) {
    children.set(parent, [...(children.get(parent) ?? []), child]);
    hasParent.add(child);
  }
  const seen = new Set<string>();
  const grow = (id: string): Branch => {
    const node = nodes.get(id) as Node;
    const again = seen.has(id);
    seen.add(id);
    return { node, again, children: again ? [] : (children.get(id) ?? []).map(grow) };
  };
  return [...nodes.keys()].filter((id) => !hasParent.has(id)).map(grow);
}
