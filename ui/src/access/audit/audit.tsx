import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Problem } from "@/api/problem";
import { type Answer, get, useRead } from "@/api/read";
import { ErrorState, NothingYet, Panel, QueryView, Skeleton } from "@/parts/panels/panel";
import { Json } from "@/parts/values/json";
import { Time } from "@/parts/values/time";
import { useLens } from "@/shell/lens";
import { ScreenHeader } from "@/shell/shell";

type Entries = Answer<"/api/v1/audit", "get">;
type Entry = Entries["items"][number];

/** The record of changes: who changed what, and a proof that nobody edited it. */
export default function Audit() {
  const { tenant } = useLens();
  const [text, setText] = useState("");
  const entries = useInfiniteQuery<
    Entries,
    Problem,
    { pages: Entries[] },
    unknown[],
    number | null
  >({
    queryKey: ["/api/v1/audit", tenant],
    queryFn: ({ pageParam }) =>
      get("/api/v1/audit", {
        params: { query: { limit: 100, ...(pageParam ? { before: pageParam } : {}) } },
      }),
    initialPageParam: null,
    getNextPageParam: (page) => page.next,
  });
  const all = entries.data?.pages.flatMap((page) => page.items) ?? [];
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = all.filter((entry) => {
    const searched = [
      entry.actor_name,
      entry.action,
      entry.target_kind,
      entry.target_id,
      entry.outcome,
    ];
    return words.every((word) => searched.join(" ").toLowerCase().includes(word));
  });
  return (
    <>
      <ScreenHeader title="Audit">
        <input
          type="search"
          className="input w-64"
          aria-label="Filter the entries below by actor, action or target"
          placeholder="Actor, action, target…"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </ScreenHeader>
      <Verification />
      <div className="mt-4">
        <Panel title={tenant ? `Changes in ${tenant}` : "Changes"}>
          {entries.isError && (
            <ErrorState problem={entries.error} retry={() => void entries.refetch()} />
          )}
          {entries.isPending && <Skeleton lines={8} />}
          {entries.data && all.length === 0 && <NothingYet>Nothing was changed yet.</NothingYet>}
          {all.length > 0 && shown.length === 0 && (
            <p className="py-4 text-center text-muted">
              None of the {all.length} entries read so far fits.
            </p>
          )}
          <ul className="divide-y divide-line">
            {shown.map((entry) => (
              <EntryView key={`${entry.tenant_id} ${entry.sequence}`} entry={entry} />
            ))}
          </ul>
          {entries.hasNextPage && (
            <button
              type="button"
              className="button mt-3"
              disabled={entries.isFetchingNextPage}
              onClick={() => void entries.fetchNextPage()}
            >
              Older entries
            </button>
          )}
        </Panel>
      </div>
    </>
  );
}

function EntryView({ entry }: { entry: Entry }) {
  const refused = entry.outcome === "refused";
  return (
    <li className="py-1">
      <details>
        <summary className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-0.5">
          <span className="w-24 text-muted">
            <Time at={entry.at} />
          </span>
          <bdi className="font-medium">{entry.actor_name || entry.actor}</bdi>
          <span className={refused ? "text-danger" : ""}>
            {refused ? "⊘ refused: " : ""}
            {entry.action}
          </span>
          <bdi className="mono text-muted">
            {entry.target_kind} {entry.target_id}
          </bdi>
        </summary>
        <dl className="mt-2 mb-3 grid gap-3 sm:grid-cols-2">
          {(["before", "after"] as const).map((side) => (
            <div key={side} className="min-w-0">
              <dt className="text-muted">{side === "before" ? "Before" : "After"}</dt>
              <dd>
                <Json value={entry[side]} label={side} />
              </dd>
            </div>
          ))}
          <div className="text-[13px] text-muted sm:col-span-2">
            Entry {entry.sequence} · {entry.actor_kind} · request {entry.request_id ?? "–"} · hash{" "}
            <code>{entry.hash.slice(0, 16)}…</code>
          </div>
        </dl>
      </details>
    </li>
  );
}

/** Verification of the hash chains, on demand, since it reads all entries. */
function Verification() {
  const [asked, setAsked] = useState(false);
  const report = useRead("/api/v1/audit/verify", {}, { enabled: asked });
  return (
    <Panel
      title="Verification"
      actions={
        <button
          type="button"
          className="button"
          onClick={() => (asked ? void report.refetch() : setAsked(true))}
        >
          Verify now
        </button>
      }
    >
      {!asked && (
        <p className="text-muted">
          Each entry carries the hash of the one before it, so that an edit shows.
        </p>
      )}
      {asked && (
        <QueryView query={report}>
          {(data) => (
            <>
              <p className={data.whole ? "text-good" : "text-danger"}>
                {data.whole
                  ? `✓ All ${data.entries} entries are whole${data.signed ? " and their ends are signed" : ""}.`
                  : "✕ The record was changed."}
              </p>
              {data.problem && <p className="text-danger">{data.problem}</p>}
              {data.chains
                .filter((chain) => chain.broken)
                .map((chain) => (
                  <p key={chain.tenant_id} className="text-danger">
                    {chain.tenant_id ?? "Installation"}: entry {chain.broken?.sequence}:{" "}
                    {chain.broken?.problem}
                  </p>
                ))}
            </>
          )}
        </QueryView>
      )}
    </Panel>
  );
}
