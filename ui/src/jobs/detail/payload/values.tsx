import { type ReactNode, useState } from "react";
import { type Answer, write } from "@/api/read";
import { useSession } from "@/api/session";
import type { Job } from "@/jobs/actions/job_actions";
import { ConfirmDialog } from "@/parts/dialogs/confirm";
import { TextField } from "@/parts/forms/fields";
import { Panel } from "@/parts/panels/panel";
import { Json, webAddress } from "@/parts/values/json";
import { UserText } from "@/parts/values/text";

export type Revealed = Answer<"/api/v1/jobs/{job_id}/reveal", "post">;

/** What stands in place of a secret. */
const MASK = "•••";

/** True if a value hides a secret somewhere. */
export function isMasked(value: unknown): boolean {
  return JSON.stringify(value ?? null).includes(MASK);
}

/** Payload, result, metadata and warnings of a job; secrets can be revealed with a reason. */
export function Values({ job }: { job: Job }) {
  const session = useSession();
  const [revealed, setRevealed] = useState<Revealed | null>(null);
  const [asked, setAsked] = useState(false);
  const shown = revealed?.id === job.id ? revealed : null;
  const reveal =
    shown !== null ? (
      <button type="button" className="button" onClick={() => setRevealed(null)}>
        Hide again
      </button>
    ) : session.may("jobs.reveal") && isMasked([job.payload, job.result]) ? (
      <button type="button" className="button" onClick={() => setAsked(true)}>
        Reveal •••
      </button>
    ) : null;
  const result = shown ? shown.result : job.result;
  const ended = job.state === "completed";
  return (
    <>
      <Panel title="Payload" actions={reveal}>
        <Json value={shown ? shown.payload : job.payload} label="Payload as JSON" />
      </Panel>
      {(ended || (result !== null && result !== undefined)) && (
        <Panel title="Result">
          <ResultLinks result={result} />
          <Json value={result ?? null} label="Result as JSON" />
        </Panel>
      )}
      {job.warnings.length > 0 && (
        <Panel title="Warnings">
          <ul className="list-disc space-y-1 pl-4">
            {job.warnings.map((warning) => (
              <li key={warning} className="text-warn">
                <UserText>{warning}</UserText>
              </li>
            ))}
          </ul>
        </Panel>
      )}
      {Object.keys(job.metadata).length > 0 && (
        <Panel title="Metadata">
          <Json value={job.metadata} label="Metadata as JSON" />
        </Panel>
      )}
      {asked && <RevealDialog job={job.id} close={() => setAsked(false)} done={setRevealed} />}
    </>
  );
}

/** Asks for the reason, which the audit log keeps, and reads the original values. */
export function RevealDialog({
  job,
  close,
  done,
}: {
  job: string;
  close: () => void;
  done: (revealed: Revealed) => void;
}) {
  const [reason, setReason] = useState("");
  return (
    <ConfirmDialog
      title="Reveal secrets?"
      confirm="Reveal"
      close={close}
      action={async () => {
        done(
          await write("post", "/api/v1/jobs/{job_id}/reveal", {
            params: { path: { job_id: job } },
            body: { reason: reason.trim() },
          }),
        );
      }}
    >
      <p>The original payload and result are shown to you. The audit log notes that, and why.</p>
      <TextField
        label="Reason"
        value={reason}
        change={setReason}
        required
        pattern=".*\S.*"
        title="Say why you need to see them."
      />
    </ConfirmDialog>
  );
}

/** Addresses and files that a result names, as links where a browser can open them. */
function ResultLinks({ result }: { result: unknown }): ReactNode {
  const named: [string, unknown][] =
    typeof result === "object" && result !== null && !Array.isArray(result)
      ? Object.entries(result)
      : [["result", result]];
  const links = named.flatMap(([name, value]) => {
    const address = webAddress(value);
    return address ? [{ name, address }] : [];
  });
  if (links.length === 0) return null;
  return (
    <ul className="mb-2">
      {links.map(({ name, address }) => (
        <li key={name}>
          {name !== "result" && (
            <>
              <UserText>{name}</UserText>:{" "}
            </>
          )}
          <a className="link" href={address} target="_blank" rel="noreferrer noopener">
            <UserText>{address}</UserText> ↗
          </a>
        </li>
      ))}
    </ul>
  );
}
