import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Problem } from "@/api/problem";
import { type Item, refresh, write } from "@/api/read";
import { useSession } from "@/api/session";
import { ConfirmDialog } from "@/parts/dialogs/confirm";
import { Menu } from "@/parts/dialogs/menu";
import { showToast } from "@/parts/dialogs/toasts";

type Worker = Item<"/api/v1/workers">;

/** Orders to a worker; it receives them with its next heartbeat. */
export function WorkerActions({ worker }: { worker: Worker }) {
  const session = useSession();
  const client = useQueryClient();
  const [stopping, setStopping] = useState(false);
  if (!session.may("workers.write")) return null;
  const path = { params: { path: { id: worker.id } } };
  const changed = (): void => refresh(client, ["workers"]);
  const failed = (problem: Problem): void => showToast({ text: problem.title, problem: true });
  const resume = (): void =>
    void write("post", "/api/v1/workers/{id}/resume", path).then(changed, failed);
  const drain = (): void =>
    void write("post", "/api/v1/workers/{id}/drain", path).then(() => {
      changed();
      showToast({ text: `${worker.id} takes no more jobs.`, undo: resume });
    }, failed);
  const stopped =
    worker.wanted === "stop" ? "It is stopping; that cannot be taken back." : undefined;
  return (
    <>
      <Menu
        label={`Actions for ${worker.id}`}
        className="button button-quiet"
        items={[
          worker.wanted === "drain"
            ? { label: "Resume", action: resume }
            : { label: "Drain", action: drain, refused: stopped },
          { label: "Stop…", danger: true, action: () => setStopping(true), refused: stopped },
        ]}
      >
        ⋯
      </Menu>
      {stopping && (
        <ConfirmDialog
          title={`Stop ${worker.id}`}
          confirm="Stop worker"
          danger
          action={() => write("post", "/api/v1/workers/{id}/stop", path).then(changed)}
          close={() => setStopping(false)}
        >
          <p>
            Its {worker.slots_used} running jobs may finish within its shutdown time; the rest are
            handed back and run elsewhere. The process ends. This cannot be taken back.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}
