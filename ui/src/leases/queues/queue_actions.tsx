import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Problem } from "@/api/problem";
import { type Item, refresh, write } from "@/api/read";
import { useSession } from "@/api/session";
import { FormDialog } from "@/parts/dialogs/form_dialog";
import { Menu } from "@/parts/dialogs/menu";
import { showToast } from "@/parts/dialogs/toasts";
import { TextField } from "@/parts/forms/fields";
import { useLens } from "@/shell/lens";

type Queue = Item<"/api/v1/queues">;
type Asked = "pause" | "limit" | null;

/** What may be done with a queue: pause with a reason, resume, limit. */
export function QueueActions({ queue }: { queue: Queue }) {
  const session = useSession();
  const client = useQueryClient();
  const [asked, setAsked] = useState<Asked>(null);
  const path = { params: { path: { name: queue.name } } };
  const changed = (): void => refresh(client, ["queues"]);
  const resume = (): Promise<void> =>
    write("post", "/api/v1/queues/{name}/resume", path).then(changed, (problem: Problem) =>
      showToast({ text: problem.title, problem: true }),
    );
  const pauses = session.may("queues.pause");
  const items = [
    ...(pauses && queue.paused_at ? [{ label: "Resume", action: () => void resume() }] : []),
    ...(pauses && !queue.paused_at ? [{ label: "Pause…", action: () => setAsked("pause") }] : []),
    ...(session.may("queues.write") ? [{ label: "Limit…", action: () => setAsked("limit") }] : []),
  ];
  if (items.length === 0) return null;
  return (
    <>
      <Menu label={`Actions for ${queue.name}`} className="button button-quiet" items={items}>
        ⋯
      </Menu>
      {asked === "pause" && (
        <PauseDialog
          queue={queue}
          close={() => setAsked(null)}
          paused={() => {
            changed();
            showToast({ text: `${queue.name} is paused.`, undo: () => void resume() });
          }}
        />
      )}
      {asked === "limit" && (
        <LimitDialog queue={queue} close={() => setAsked(null)} limited={changed} />
      )}
    </>
  );
}

function PauseDialog({
  queue,
  close,
  paused,
}: {
  queue: Queue;
  close: () => void;
  paused: () => void;
}) {
  const { single } = useLens();
  const [reason, setReason] = useState("");
  return (
    <FormDialog
      title={`Pause ${queue.name}`}
      submit="Pause queue"
      close={close}
      action={() =>
        write("post", "/api/v1/queues/{name}/pause", {
          params: { path: { name: queue.name } },
          body: { reason },
        }).then(paused)
      }
    >
      {(problem) => (
        <>
          <p>
            Its {queue.queued} queued jobs wait until it is resumed
            {single ? "" : ", in every tenant"}. Its {queue.running} running jobs continue.
          </p>
          <TextField
            label="Reason"
            hint="Shown to everybody who asks why a job does not run."
            value={reason}
            change={setReason}
            error={problem?.field("/reason")}
          />
        </>
      )}
    </FormDialog>
  );
}

function LimitDialog({
  queue,
  close,
  limited,
}: {
  queue: Queue;
  close: () => void;
  limited: () => void;
}) {
  const [limit, setLimit] = useState(String(queue.max_concurrency ?? ""));
  return (
    <FormDialog
      title={`Limit ${queue.name}`}
      submit="Save"
      close={close}
      action={() =>
        write("patch", "/api/v1/queues/{name}", {
          params: { path: { name: queue.name } },
          body: { max_concurrency: limit.trim() === "" ? null : Number(limit) },
        }).then(limited)
      }
    >
      {(problem) => (
        <TextField
          label="Most running jobs"
          type="number"
          min={1}
          hint={`${queue.running} run now. Empty: no limit. A lower limit stops no running job.`}
          value={limit}
          change={setLimit}
          error={problem?.field("/max_concurrency")}
        />
      )}
    </FormDialog>
  );
}
