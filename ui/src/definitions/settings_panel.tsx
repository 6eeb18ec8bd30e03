import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { refresh, write } from "@/api/read";
import { useSession } from "@/api/session";
import { showToast } from "@/parts/dialogs/toasts";
import { Panel } from "@/parts/panels/panel";
import { codeWords, type Definition, editedNames, valueWords } from "./definition_words";
import { EditDialog } from "./edit_dialog";
import { showProblem } from "./enabled_switch";

/** Options in the order of what operators ask for first. */
const OPTIONS = [
  ["max_attempts", "Attempts"],
  ["backoff", "Delay between attempts"],
  ["timeout_seconds", "Timeout"],
  ["max_concurrency", "At once"],
  ["rate_limit", "Rate"],
  ["limit_key", "Limit key"],
  ["max_per_key", "At once per key"],
  ["rate_per_key", "Rate per key"],
  ["queue", "Queue"],
  ["priority", "Priority"],
  ["isolation", "Isolation"],
  ["memory_limit_mb", "Memory limit in MB"],
  ["dedupe", "Dedupe"],
  ["dedupe_window_seconds", "Dedupe window"],
  ["on_duplicate", "On duplicate"],
  ["after", "Runs after"],
  ["on_parent_failure", "When a parent fails"],
  ["on_dead_letter", "On dead letter"],
  ["idempotent", "Idempotent"],
  ["requires_permission", "Requires permission"],
  ["retention_days", "Retention in days"],
  ["log_retention_days", "Retention of logs in days"],
  ["retention_count", "Jobs kept"],
  ["default_payload", "Default payload"],
  ["title", "Title"],
  ["description", "Description"],
  ["tags", "Tags"],
  ["metadata", "Metadata"],
  ["runbook_url", "Runbook"],
  ["enabled", "Enabled"],
] as const;
const FIRST = 10;

/** Options of a definition: what holds, what the code says where that differs, and the way back. */
export function SettingsPanel({ definition }: { definition: Definition }) {
  const client = useQueryClient();
  const session = useSession();
  const writes = session.may("definitions.write");
  const [editing, setEditing] = useState(false);
  const [all, setAll] = useState(false);
  const edited = new Set(editedNames(definition.edited));
  const reset = (names?: string): void => {
    write("post", "/api/v1/definitions/{key}/reset", {
      params: { path: { key: definition.key }, query: names ? { names } : {} },
    })
      .then(() => {
        refresh(client);
        showToast({ text: `${names ?? "All of it"} follows the code again.` });
      })
      .catch(showProblem);
  };
  const shown = OPTIONS.filter(([name], place) => all || place < FIRST || edited.has(name));
  return (
    <Panel
      title="Settings"
      actions={
        writes && (
          <span className="flex gap-2">
            {edited.size > 0 && definition.code !== null && (
              <button type="button" className="button" onClick={() => reset()}>
                Reset all to code
              </button>
            )}
            <button type="button" className="button" onClick={() => setEditing(true)}>
              Edit…
            </button>
          </span>
        )
      }
    >
      <dl className="grid grid-cols-[minmax(8rem,auto)_minmax(0,1fr)] gap-x-4">
        {shown.map(([name, label]) => (
          <div
            key={name}
            className="col-span-2 grid grid-cols-subgrid items-baseline border-b border-line py-1 last:border-0"
          >
            <dt className="text-muted">{label}</dt>
            <dd className="flex flex-wrap items-baseline gap-x-2">
              <span>{valueWords(name, valueOfOption(definition, name))}</span>
              {edited.has(name) && (
                <>
                  <span className="rounded bg-warn-soft px-1.5 text-[12px] text-warn">
                    Edited here; code says {codeWords(definition.code, name)}
                  </span>
                  {writes && definition.code !== null && (
                    <button
                      type="button"
                      className="link min-h-6 text-[13px]"
                      aria-label={`Reset ${label} to code`}
                      onClick={() => reset(name)}
                    >
                      Reset
                    </button>
                  )}
                </>
              )}
            </dd>
          </div>
        ))}
      </dl>
      <button
        type="button"
        className="button button-quiet mt-1"
        aria-expanded={all}
        onClick={() => setAll(!all)}
      >
        {all ? "Show fewer" : "Show all settings"}
      </button>
      {editing && <EditDialog definition={definition} close={() => setEditing(false)} />}
    </Panel>
  );
}

function valueOfOption(definition: Definition, name: (typeof OPTIONS)[number][0]): unknown {
  if (name === "after") return definition.runs_after;
  return (definition as Record<string, unknown>)[name];
}
