import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { refresh, useRead, write } from "@/api/read";
import { useSession } from "@/api/session";
import { ConfirmDialog } from "@/parts/dialogs/confirm";
import { showToast } from "@/parts/dialogs/toasts";
import { Switch } from "@/parts/forms/fields";
import type { DefinitionEntry } from "./definition_words";

const COUNTED = 500;

/** Turns a definition on at once, and off after it told what that means. */
export function EnabledSwitch({
  definition,
  hideLabel = false,
}: {
  definition: DefinitionEntry;
  hideLabel?: boolean;
}) {
  const client = useQueryClient();
  const session = useSession();
  const [asking, setAsking] = useState(false);
  const path = { params: { path: { key: definition.key } } };
  const set = async (verb: "enable" | "disable"): Promise<void> => {
    await write("post", `/api/v1/definitions/{key}/${verb}`, path);
    refresh(client);
    showToast({
      text: `${definition.key} is ${verb}d.`,
      undo: () => void set(verb === "enable" ? "disable" : "enable").catch(showProblem),
    });
  };
  if (!session.may("definitions.write")) return <>{definition.enabled ? "Yes" : "No"}</>;
  return (
    <>
      <Switch
        label={hideLabel ? `${definition.key} enabled` : "Enabled"}
        hideLabel={hideLabel}
        checked={definition.enabled}
        change={(on) => (on ? void set("enable").catch(showProblem) : setAsking(true))}
      />
      {asking && (
        <ConfirmDialog
          title={`Disable ${definition.key}?`}
          confirm="Disable"
          action={() => set("disable")}
          close={() => setAsking(false)}
        >
          <Consequence definition={definition} />
        </ConfirmDialog>
      )}
    </>
  );
}

function Consequence({ definition }: { definition: DefinitionEntry }) {
  const query = { definition: definition.key, state: "queued", limit: COUNTED };
  const queued = useRead("/api/v1/jobs", { params: { query } } as never);
  const count = queued.data?.items.length;
  const more = queued.data?.next_cursor ? "+" : "";
  return (
    <ul className="list-disc space-y-1 pl-5">
      <li>New jobs of it are refused, and its schedules and triggers do not fire.</li>
      <li>
        {count === undefined
          ? "Its queued jobs wait"
          : `${count}${more} queued ${count === 1 ? "job waits" : "jobs wait"}`}{" "}
        until it is enabled again.
      </li>
      <li>{definition.running} running now go on to their end.</li>
    </ul>
  );
}

/** Tell a failed action at the edge of the page. */
export function showProblem(error: unknown): void {
  showToast({ text: error instanceof Error ? error.message : String(error), problem: true });
}
