import { useEffect, useState } from "react";
import { write } from "@/api/read";
import { useSession } from "@/api/session";
import { ACTIONS, actionLabel, type JobAction, mayAct } from "@/jobs/actions/rules";
import { jobsWords } from "@/jobs/operations/words";
import { Menu } from "@/parts/dialogs/menu";
import { numberWords } from "@/parts/values/values";
import { EVERY_JOB, type JobRows, PAGE } from "./rows";
import type { Selection } from "./selection";

/** A line above the list: how many rows there are and wait, or what to do with those picked. */
export function Toolbar({
  list,
  q,
  selection,
  act,
}: {
  list: JobRows;
  q: string;
  selection: Selection;
  act: (action: JobAction) => void;
}) {
  const { picked } = selection;
  return (
    <div className="flex min-h-11 flex-wrap items-center gap-2 py-1">
      {picked.size > 0 ? <Picked q={q} selection={selection} act={act} /> : <Shown list={list} />}
    </div>
  );
}

function Shown({ list }: { list: JobRows }) {
  const news = [
    list.fresh > 0 ? `${list.freshExact ? list.fresh : `${PAGE}+`} new` : "",
    list.left.size > 0 ? `${list.left.size} no longer match` : "",
  ].filter(Boolean);
  return (
    <>
      <span className="text-muted">
        {list.pending
          ? "Loading…"
          : `${jobsWords(list.rows.length, list.more)}${list.more ? " · scroll for more" : ""}`}
      </span>
      <span role="status" className="flex-1">
        {news.length > 0 && (
          <button
            type="button"
            className="min-h-6 rounded-full border border-accent bg-accent-soft px-3 text-accent"
            onClick={list.show}
          >
            {news.join(" · ")} · <span className="font-medium underline">show</span>
          </button>
        )}
      </span>
    </>
  );
}

function Picked({
  q,
  selection,
  act,
}: {
  q: string;
  selection: Selection;
  act: (action: JobAction) => void;
}) {
  const session = useSession();
  const { picked, all } = selection;
  const matching = useMatching(q, picked.size > 1);
  const offered = ACTIONS.filter((action) => mayAct(session, action));
  const [first, ...others] = offered;
  const count =
    matching === null ? "" : `${numberWords(matching.total)}${matching.more ? "+" : ""}`;
  return (
    <fieldset className="flex flex-wrap items-center gap-2">
      <legend className="sr-only">Actions on the jobs that are picked</legend>
      <b className="font-medium" aria-live="polite">
        {all ? `All ${count} matching` : numberWords(picked.size)} selected
      </b>
      {!all && matching !== null && matching.total > picked.size && (
        <button type="button" className="link min-h-6" onClick={selection.pickAll}>
          Select all {count} matching
        </button>
      )}
      {first && (
        <button type="button" className="button" onClick={() => act(first)}>
          {actionLabel(first)}
        </button>
      )}
      {others.slice(0, 2).map((action) => (
        <button
          key={action}
          type="button"
          className="button max-sm:hidden"
          onClick={() => act(action)}
        >
          {actionLabel(action)}
        </button>
      ))}
      {others.length > 0 && (
        <Menu
          label="More actions on those selected"
          items={others.map((action) => ({
            label: actionLabel(action),
            danger: action === "discard",
            action: () => act(action),
          }))}
        >
          More…
        </Menu>
      )}
      <button type="button" className="button button-quiet" onClick={selection.clear}>
        Clear selection
      </button>
    </fieldset>
  );
}

/** How many jobs match, counted by a preview that changes nothing. */
function useMatching(q: string, enabled: boolean): { total: number; more: boolean } | null {
  const [found, setFound] = useState<{ total: number; more: boolean } | null>(null);
  useEffect(() => {
    setFound(null);
    if (!enabled) return undefined;
    let current = true;
    write("post", "/api/v1/operations/preview", { body: { action: "cancel", q: q || EVERY_JOB } })
      .then((preview) => current && setFound(preview))
      .catch(() => {}); // Then all that match are not offered.
    return () => {
      current = false;
    };
  }, [q, enabled]);
  return found;
}
