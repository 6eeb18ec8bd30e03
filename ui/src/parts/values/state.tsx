import states from "@/generated/states.json";

/** A stored state, or a view of one. */
export type State = keyof typeof states | "pending";
const OUTCOMES: Record<string, readonly [string, string, State]> = {
  succeeded: ["✓", "Succeeded", "completed"],
  failed: ["✕", "Failed", "dead_letter"],
  timed_out: ["◷", "Timed out", "dead_letter"],
  canceled: ["⊘", "Canceled", "canceled"],
  lost: ["?", "Worker lost", "retrying"],
  released: ["↩", "Handed back", "queued"],
};

export const STATES = Object.keys(states) as (keyof typeof states)[];

export function stateLook(state: string): { glyph: string; label: string; color: string } {
  const name = (state === "pending" ? "waiting" : state) as keyof typeof states;
  const look = states[name] ?? { glyph: "·", label: state };
  return { ...look, color: `var(--state-${name.replaceAll("_", "-")})` };
}

function Look({ glyph, label, color }: { glyph: string; label: string; color: string }) {
  return (
    <span className="inline-flex items-center gap-1.5 whitespace-nowrap">
      <span aria-hidden="true" className="w-[1em] text-center font-bold" style={{ color }}>
        {glyph}
      </span>
      {label}
    </span>
  );
}

/** State of a job: glyph and label; colour comes third. */
export function StateBadge({ state, canceling = false }: { state: string; canceling?: boolean }) {
  const look = stateLook(state);
  return <Look {...look} label={canceling ? "Canceling…" : look.label} />;
}

/** Outcome of an attempt; without one it still runs. */
export function OutcomeBadge({ outcome }: { outcome: string | null }) {
  if (outcome === null) return <StateBadge state="running" />;
  const [glyph, label, state] = OUTCOMES[outcome] ?? ["·", outcome, "queued"];
  return <Look glyph={glyph} label={label} color={stateLook(state).color} />;
}
