import { type ReactNode, useState } from "react";
import { Link } from "wouter";
import { useRead } from "@/api/read";
import { useSession } from "@/api/session";
import { TestDialog } from "@/triggers/schedules/test_dialog";
import type { EventEntry } from "./event_words";
import { MatchOutcome } from "./outcome";

/** What each trigger did with an event, and why it made no job. */
export function Matches({ event, test = false }: { event: EventEntry; test?: boolean }) {
  if (event.matched_at === null) return <p className="text-muted">It is being matched…</p>;
  if (event.matches.length === 0)
    return (
      <p>
        No trigger listens to <code>{event.name}</code>.{" "}
        <Link className="link" href="/schedules?show=event">
          See the triggers
        </Link>
      </p>
    );
  return (
    <ul className="divide-y divide-line">
      {event.matches.map((match, place) => (
        <li key={match.trigger_id ?? place} className="flex flex-wrap items-start gap-x-4 py-2">
          <div className="min-w-40 flex-1">
            {match.trigger_id ? (
              <Link className="link font-medium" href={`/schedules/${match.trigger_id}`}>
                {match.trigger}
              </Link>
            ) : (
              <span className="font-medium">On dead letter</span>
            )}
            <span className="block text-[13px] text-muted">→ {match.definition}</span>
            {match.because && <Because>{match.because}</Because>}
          </div>
          <div>
            <MatchOutcome outcome={match.outcome} />
            {match.job_id && (
              <Link className="link mono block" href={`/jobs/${match.job_id}`}>
                {match.job_id.slice(-8)}
              </Link>
            )}
          </div>
          {test && match.trigger_id && <TestButton id={match.trigger_id} event={event.id} />}
        </li>
      ))}
    </ul>
  );
}

function Because({ children }: { children: ReactNode }) {
  return <p className="mt-0.5 text-[13px]">{children}</p>;
}

function TestButton({ id, event }: { id: string; event: string }) {
  const session = useSession();
  const [open, setOpen] = useState(false);
  const trigger = useRead("/api/v1/triggers/{id}", { params: { path: { id } } }, { enabled: open });
  if (!session.may("triggers.write")) return null;
  return (
    <>
      <button type="button" className="button min-h-7" onClick={() => setOpen(true)}>
        Test…
      </button>
      {open && trigger.data && (
        <TestDialog trigger={trigger.data} event={event} close={() => setOpen(false)} />
      )}
    </>
  );
}
