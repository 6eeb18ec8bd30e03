import { useRef, useState } from "react";
import { Link } from "wouter";
import { useReadPages } from "@/api/read";
import { useSession } from "@/api/session";
import { TextField } from "@/parts/forms/fields";
import { NothingMatches, NothingYet, Panel, QueryView, Skeleton } from "@/parts/panels/panel";
import { type Column, Table } from "@/parts/tables/table";
import { Time } from "@/parts/values/time";
import { useLens } from "@/shell/lens";
import { ScreenHeader } from "@/shell/shell";
import { useView } from "@/shell/view";
import { EmitDialog } from "./emit_dialog";
import type { EventEntry } from "./event_words";
import { Outcome } from "./outcome";

const DEFAULTS = { name: "", correlation: "" };

/** Events as they come, and what the triggers made of them. */
export default function EventList() {
  const [view, setView] = useView(DEFAULTS);
  const session = useSession();
  const { single } = useLens();
  const [emitting, setEmitting] = useState(false);
  const query = {
    limit: 100,
    ...(view.name && { name: view.name }),
    ...(view.correlation && { correlation_id: view.correlation }),
  };
  const pages = useReadPages("/api/v1/events", { params: { query } }, { topics: ["events"] });
  const events = pages.data?.pages.flatMap((page) => page.items) ?? [];
  const shown = useShown(events, JSON.stringify(view));
  const filtered = view.name !== "" || view.correlation !== "";
  return (
    <>
      <ScreenHeader title="Events">
        {session.may("events.emit") && (
          <button type="button" className="button button-primary" onClick={() => setEmitting(true)}>
            Emit…
          </button>
        )}
      </ScreenHeader>
      <search className="mb-3 flex flex-wrap items-end gap-2">
        <div className="w-64">
          <TextField
            label="Name"
            type="search"
            placeholder="order.paid"
            value={view.name}
            change={(name) => setView({ name }, { push: false })}
          />
        </div>
        <div className="w-64">
          <TextField
            label="Correlation id"
            type="search"
            value={view.correlation}
            change={(correlation) => setView({ correlation }, { push: false })}
          />
        </div>
      </search>
      <Panel
        title="Stream of events"
        actions={
          <span aria-live="polite">
            {shown.waiting > 0 && (
              <button type="button" className="button min-h-7" onClick={shown.showAll}>
                {shown.waiting} new · show
              </button>
            )}
          </span>
        }
      >
        <QueryView query={pages as never} skeleton={<Skeleton lines={8} />}>
          {() =>
            shown.rows.length > 0 ? (
              <Table
                label="Events"
                columns={columns(single)}
                rows={shown.rows}
                rowKey={(each) => each.id}
              />
            ) : filtered ? (
              <NothingMatches clear={() => setView(DEFAULTS)} />
            ) : (
              <NothingYet snippet={'await wl.emit("order.paid", {"order": 12})'}>
                Nothing has been emitted yet. Events make jobs by the triggers that listen to them.
              </NothingYet>
            )
          }
        </QueryView>
        {pages.hasNextPage && (
          <button type="button" className="button mt-3" onClick={() => void pages.fetchNextPage()}>
            Show older
          </button>
        )}
      </Panel>
      {emitting && (
        <EmitDialog
          name={view.name}
          close={() => {
            setEmitting(false);
            shown.showAll();
          }}
        />
      )}
    </>
  );
}

/**
 * Rows that do not move by themselves: those that came after the first look wait until they are
 * asked for. Rows in view are brought up to date in place.
 */
function useShown(events: EventEntry[], view: string) {
  const newest = useRef<{ view: string; id: string } | null>(null);
  const [, redraw] = useState(0);
  const first = events[0]?.id;
  if (first !== undefined && newest.current?.view !== view) newest.current = { view, id: first };
  // Ids are in the order of time.
  const rows = events.filter((each) => newest.current === null || each.id <= newest.current.id);
  return {
    rows,
    waiting: events.length - rows.length,
    showAll: () => {
      newest.current = null;
      redraw((count) => count + 1);
    },
  };
}

function columns(single: boolean): Column<EventEntry>[] {
  const all: (Column<EventEntry> | false)[] = [
    { id: "time", title: "Time", cell: (each) => <Time at={each.created_at} /> },
    {
      id: "name",
      title: "Event",
      cell: (each) => (
        <Link className="link font-medium whitespace-nowrap" href={`/events/${each.id}`}>
          {each.name}
        </Link>
      ),
    },
    !single && {
      id: "tenant",
      title: "Tenant",
      cell: (each) => <span className="whitespace-nowrap">{each.tenant_id}</span>,
    },
    { id: "outcome", title: "Outcome", cell: (each) => <Outcome event={each} /> },
    {
      id: "triggers",
      title: "Triggers",
      wide: true,
      cell: (each) => (
        <span className="block min-w-48">
          {each.matches.map((match) => match.trigger ?? match.definition).join(", ") || "–"}
          <Why event={each} />
        </span>
      ),
    },
    {
      id: "data",
      title: "Payload",
      wide: true,
      cell: (each) => <code className="line-clamp-1">{JSON.stringify(each.data)}</code>,
    },
  ];
  return all.filter((column): column is Column<EventEntry> => column !== false);
}

/** Why a trigger that listens made no job. */
function Why({ event }: { event: EventEntry }) {
  const failed = event.matches.find((match) => match.outcome === "failed");
  if (!failed?.because) return null;
  return (
    <span className="line-clamp-1 text-[13px] text-danger" title={failed.because}>
      {failed.because}
    </span>
  );
}
