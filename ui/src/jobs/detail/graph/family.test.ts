import { expect, test } from "vitest";
import { branchesOf, type Family } from "./family";
import { placed } from "./layout";

function aFamily(edges: [parent: string, child: string][]): Family {
  const ids = [...new Set(edges.flat())];
  return {
    nodes: new Map(ids.map((id) => [id, { id, state: "queued", definition: "work", known: true }])),
    edges: edges.map(([parent, child]) => ({ parent, child, policy: "cancel", settled: false })),
    unread: [],
  };
}

test("a job with two parents stands once with its children, and is named again", () => {
  const [a, b] = branchesOf(
    aFamily([
      ["a", "c"],
      ["b", "c"],
      ["c", "d"],
    ]),
  );

  expect(a?.children[0]?.children[0]?.node.id).toBe("d");
  expect(b?.children[0]).toMatchObject({ again: true, children: [] });
});

test("places parents at the left of those that wait for them", () => {
  const { nodes, edges, width } = placed(aFamily([["a", "b"]]));

  expect(nodes[0]?.x).toBeLessThan(nodes[1]?.x ?? 0);
  expect(edges[0]?.points.length).toBeGreaterThan(1);
  expect(width).toBeGreaterThan(380);
});

test("places three hundred jobs in a moment", () => {
  const many = Array.from({ length: 300 }, (_, place): [string, string] => [
    `job ${Math.floor(place / 3)}`,
    `job ${place + 1}`,
  ]);
  const began = performance.now();

  expect(placed(aFamily(many)).nodes).toHaveLength(301);

  expect(performance.now() - began).toBeLessThan(10_000);
});
