import { Graph, layout } from "@dagrejs/dagre";
import type { Family, Node } from "./family";

export const NODE_WIDTH = 190;
export const NODE_HEIGHT = 44;

export interface PlacedNode extends Node {
  x: number;
  y: number;
}

export interface PlacedEdge {
  key: string;
  settled: boolean;
  points: { x: number; y: number }[];
}

export interface Picture {
  nodes: PlacedNode[];
  edges: PlacedEdge[];
  width: number;
  height: number;
}

/** Places for the jobs of a family, parents at the left. */
export function placed(family: Family): Picture {
  const graph = new Graph();
  graph.setGraph({ rankdir: "LR", nodesep: 14, ranksep: 44, marginx: 8, marginy: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const id of family.nodes.keys())
    graph.setNode(id, { width: NODE_WIDTH, height: NODE_HEIGHT });
  for (const { parent, child } of family.edges) graph.setEdge(parent, child, {});
  layout(graph);
  const size = graph.graph() as { width?: number; height?: number };
  return {
    nodes: [...family.nodes.values()].map((node) => {
      const { x, y } = graph.node(node.id) as { x: number; y: number };
      return { ...node, x, y };
    }),
    edges: family.edges.map(({ parent, child, settled }) => ({
      key: `${parent} ${child}`,
      settled,
      points: (graph.edge(parent, child) as { points: { x: number; y: number }[] }).points,
    })),
    width: size.width ?? NODE_WIDTH,
    height: size.height ?? NODE_HEIGHT,
  };
}
