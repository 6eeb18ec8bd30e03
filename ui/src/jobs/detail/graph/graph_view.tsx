import { type KeyboardEvent, useMemo, useRef, useState } from "react";
import { useLocation } from "wouter";
import { root } from "@/api/client";
import { stateLook } from "@/parts/values/state";
import { visibleText } from "@/parts/values/text";
import type { Family } from "./family";
import { NODE_HEIGHT, NODE_WIDTH, type Picture, type PlacedNode, placed } from "./layout";

interface Window {
  x: number;
  y: number;
  scale: number;
}

const STEP = 60;

/** A picture of jobs that depend on each other; it is moved and sized by drag, buttons and keys. */
export default function GraphView({ family, job }: { family: Family; job: string }) {
  const picture = useMemo(() => placed(family), [family]);
  const [view, setView] = useState<Window>(() => home(picture, job));
  const dragged = useRef<{ x: number; y: number; moved: boolean } | null>(null);
  const zoom = (factor: number): void =>
    setView((before) => {
      const scale = Math.min(2, Math.max(0.2, before.scale * factor));
      const kept = scale / before.scale;
      return {
        scale,
        x: WIDTH / 2 - (WIDTH / 2 - before.x) * kept,
        y: HEIGHT / 2 - (HEIGHT / 2 - before.y) * kept,
      };
    });
  const pan = (x: number, y: number): void =>
    setView((before) => ({ ...before, x: before.x + x, y: before.y + y }));
  const all = (): void => {
    const scale = Math.min(1, WIDTH / picture.width, HEIGHT / picture.height);
    setView({
      scale,
      x: (WIDTH - picture.width * scale) / 2,
      y: (HEIGHT - picture.height * scale) / 2,
    });
  };
  const keys: Record<string, () => void> = {
    ArrowLeft: () => pan(STEP, 0),
    ArrowRight: () => pan(-STEP, 0),
    ArrowUp: () => pan(0, STEP),
    ArrowDown: () => pan(0, -STEP),
    "+": () => zoom(1.25),
    "=": () => zoom(1.25),
    "-": () => zoom(0.8),
    "0": all,
  };
  const press = (event: KeyboardEvent): void => {
    const action = keys[event.key];
    if (action === undefined || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    action();
  };
  return (
    <div className="relative">
      <section
        aria-label="Graph of dependencies: arrows move it, plus and minus size it, 0 shows all"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys work where the focus is
        tabIndex={0}
        className="h-72 overflow-hidden rounded-md border border-line bg-raised"
        onKeyDown={press}
      >
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be a picture */}
        <svg
          aria-label="Jobs and what they wait for; the list tells the same"
          role="group"
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="xMidYMid meet"
          className="h-full w-full cursor-grab touch-none select-none"
          onPointerDown={(event) => {
            dragged.current = { x: event.clientX, y: event.clientY, moved: false };
          }}
          onPointerMove={(event) => {
            const from = dragged.current;
            if (from === null || event.buttons === 0) return;
            const box = event.currentTarget.getBoundingClientRect();
            const perPixel = Math.max(WIDTH / box.width, HEIGHT / box.height);
            const [x, y] = [event.clientX - from.x, event.clientY - from.y];
            if (!from.moved && Math.abs(x) + Math.abs(y) < 4) return;
            dragged.current = { x: event.clientX, y: event.clientY, moved: true };
            pan(x * perPixel, y * perPixel);
          }}
          onClickCapture={(event) => {
            if (dragged.current?.moved) {
              event.preventDefault();
              event.stopPropagation();
            }
            dragged.current = null;
          }}
        >
          <g transform={`translate(${view.x} ${view.y}) scale(${view.scale})`}>
            {picture.edges.map((edge) => (
              <path
                key={edge.key}
                d={edge.points
                  .map(({ x, y }, place) => `${place === 0 ? "M" : "L"}${x} ${y}`)
                  .join(" ")}
                fill="none"
                stroke="var(--line-strong)"
                strokeWidth={1.5}
                strokeDasharray={edge.settled ? undefined : "5 4"}
              />
            ))}
            {picture.nodes.map((node) => (
              <NodeView key={node.id} node={node} here={node.id === job} />
            ))}
          </g>
        </svg>
      </section>
      <div className="absolute right-2 bottom-2 flex gap-1">
        <GraphButton label="Smaller" sign="−" press={() => zoom(0.8)} />
        <GraphButton label="Larger" sign="+" press={() => zoom(1.25)} />
        <GraphButton label="Show all" sign="⤢" press={all} />
        <GraphButton label="Move left" sign="←" press={() => pan(STEP, 0)} />
        <GraphButton label="Move right" sign="→" press={() => pan(-STEP, 0)} />
        <GraphButton label="Move up" sign="↑" press={() => pan(0, STEP)} />
        <GraphButton label="Move down" sign="↓" press={() => pan(0, -STEP)} />
      </div>
    </div>
  );
}

const WIDTH = 640;
const HEIGHT = 288;

/** At first all of it is in the middle, or the job itself where there is no room for all. */
function home({ nodes, width, height }: Picture, job: string): Window {
  if (width <= WIDTH && height <= HEIGHT)
    return { scale: 1, x: (WIDTH - width) / 2, y: (HEIGHT - height) / 2 };
  const node = nodes.find((each) => each.id === job);
  return { scale: 1, x: WIDTH / 2 - (node?.x ?? 0), y: HEIGHT / 2 - (node?.y ?? 0) };
}

function NodeView({ node, here }: { node: PlacedNode; here: boolean }) {
  const [, navigate] = useLocation();
  const look = stateLook(node.state ?? "canceled");
  const name = node.definition === null ? "job" : visibleText(node.definition);
  const short = name.length > 22 ? `${name.slice(0, 21)}…` : name;
  const words = node.state === null ? "gone" : look.label;
  return (
    <a
      href={`${root}/jobs/${node.id}`}
      aria-current={here ? "page" : undefined}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        if (!here) navigate(`/jobs/${node.id}`);
      }}
    >
      <g transform={`translate(${node.x - NODE_WIDTH / 2} ${node.y - NODE_HEIGHT / 2})`}>
        <rect
          width={NODE_WIDTH}
          height={NODE_HEIGHT}
          rx={6}
          fill={here ? "var(--accent-soft)" : "var(--surface)"}
          stroke={here ? "var(--accent)" : "var(--line-strong)"}
          strokeWidth={here ? 2 : 1}
        />
        <text x={10} y={18} fontSize={13} fontWeight={600} fill="var(--text)">
          {short}
        </text>
        <text x={10} y={35} fontSize={12} fill="var(--muted)">
          <tspan fill={look.color} fontWeight={700}>
            {look.glyph}
          </tspan>{" "}
          {words} · {node.id.slice(-8)}
        </text>
      </g>
    </a>
  );
}

function GraphButton({ label, sign, press }: { label: string; sign: string; press: () => void }) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className="size-7 rounded border border-line-strong bg-surface hover:bg-sunken"
      onClick={press}
    >
      {sign}
    </button>
  );
}
