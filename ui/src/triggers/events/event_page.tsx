import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import { refresh, useRead, write } from "@/api/read";
import { useSession } from "@/api/session";
import { ConfirmDialog } from "@/parts/dialogs/confirm";
import { showToast } from "@/parts/dialogs/toasts";
import { Panel, QueryView, Skeleton } from "@/parts/panels/panel";
import { Json } from "@/parts/values/json";
import { Time } from "@/parts/values/time";
import { ShortId } from "@/parts/values/values";
import { useLens } from "@/shell/lens";
import { ScreenHeader } from "@/shell/shell";
import type { EventEntry } from "./event_words";
import { Matches } from "./matches";
import { jobWords, Outcome } from "./outcome";

/** One event: its payload, and what each trigger did with it. */
export default function EventPage() {
  const { id = "" } = useParams();
  const query = useRead(
    "/api/v1/events/{id}",
    { params: { path: { id: decodeURIComponent(id) } } },
    { topics: ["events"] },
  );
  return (
    <QueryView query={query} skeleton={<Skeleton lines={8} />}>
      {(event) => <Details event={event} />}
    </QueryView>
  );
}

function Details({ event }: { event: EventEntry }) {
  const client = useQueryClient();
  const session = useSession();
  const { single } = useLens();
  const [, go] = useLocation();
  const [asking, setAsking] = useState(false);
  const replay = async (): Promise<void> => {
    const path = { id: event.id };
    const again = await write("post", "/api/v1/events/{id}/replay", { params: { path } });
    refresh(client, ["events", "jobs"]);
    showToast({ text: `${event.name} is replayed: ${jobWords(again.jobs)}.` });
    go(`/events/${again.id}`);
  };
  return (
    <>
      <ScreenHeader title={event.name}>
        {session.may("events.emit") && (
          <button type="button" className="button" onClick={() => setAsking(true)}>
            Replay…
          </button>
        )}
      </ScreenHeader>
      <p className="mb-3 flex flex-wrap items-center gap-x-4 gap-y-1 text-muted">
        <Time at={event.created_at} />
        <ShortId id={event.id} />
        {!single && <span>tenant {event.tenant_id}</span>}
        {event.created_by && <span>by {event.created_by}</span>}
        {event.correlation_id && (
          <Link
            className="link"
            href={`/events?correlation=${encodeURIComponent(event.correlation_id)}`}
          >
            correlation {event.correlation_id}
          </Link>
        )}
        <Outcome event={event} />
      </p>
      <div className="grid items-start gap-3 lg:grid-cols-2">
        <Panel title="Triggers">
          <Matches event={event} test />
        </Panel>
        <Panel title="Payload">
          <Json value={event.data} label="Payload" />
        </Panel>
      </div>
      {asking && (
        <ConfirmDialog
          title={`Replay ${event.name}?`}
          confirm="Replay"
          action={replay}
          close={() => setAsking(false)}
        >
          <p>
            It is emitted once more with the same payload, to the triggers that there are now. The
            first time it made {jobWords(event.jobs)}.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}
