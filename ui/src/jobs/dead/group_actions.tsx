import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { refresh, write } from "@/api/read";
import { useSession } from "@/api/session";
import { problemText } from "@/jobs/actions/job_actions";
import { ConfirmDialog } from "@/parts/dialogs/confirm";
import type { MenuItem } from "@/parts/dialogs/menu";
import { showToast } from "@/parts/dialogs/toasts";
import { SelectField, TextField } from "@/parts/forms/fields";
import { UserText } from "@/parts/values/text";
import { numberWords } from "@/parts/values/values";
import { useLens } from "@/shell/lens";
import { changeGroup, type Group, type GroupResult } from "./groups";

type Verb = "retry" | "discard" | "mute";
const SURE = 100;
const PERIODS = [
  ["3600", "1 hour"],
  ["28800", "8 hours"],
  ["86400", "1 day"],
  ["604800", "7 days"],
  ["", "Until it is unmuted"],
] as const;

export interface GroupActions {
  ask: (verb: Verb, group: Group) => void;
  unmute: (group: Group) => void;
  /** The less common actions, as far as the caller's rights allow them. */
  menu: (group: Group) => MenuItem[];
  dialog: ReactNode;
}

/** Retry, discard, mute and unmute a group; each asks first. `gone` is called when none is left. */
export function useGroupActions({ gone }: { gone?: () => void } = {}): GroupActions {
  const session = useSession();
  const client = useQueryClient();
  const [asked, setAsked] = useState<{ verb: Verb; group: Group } | null>(null);
  const settle = (): void => refresh(client, ["dead", "jobs"]);
  const close = (): void => setAsked(null);
  const unmute = ({ definition, fingerprint }: Group): void => {
    write("post", "/api/v1/dead/groups/unmute", { body: { definition, fingerprint } })
      .then((mute) => {
        settle();
        if (mute.muted_at === null) showToast({ text: "Unmuted." });
        else showToast({ text: "It is still muted for all tenants.", problem: true });
      })
      .catch((error: unknown) => showToast({ text: problemText(error), problem: true }));
  };
  return {
    ask: (verb, group) => setAsked({ verb, group }),
    unmute,
    menu: (group) => [
      ...(session.may("dead.mute")
        ? [
            group.muted_at === null
              ? { label: "Mute…", action: () => setAsked({ verb: "mute" as const, group }) }
              : { label: "Unmute", action: () => unmute(group) },
          ]
        : []),
      ...(session.may("jobs.discard")
        ? [
            {
              label: "Discard all…",
              danger: true,
              action: () => setAsked({ verb: "discard" as const, group }),
            },
          ]
        : []),
    ],
    dialog:
      asked === null ? null : asked.verb === "mute" ? (
        <MuteDialog group={asked.group} close={close} done={settle} />
      ) : (
        <ChangeDialog
          verb={asked.verb}
          group={asked.group}
          close={close}
          done={({ changed }) => {
            settle();
            if (changed >= asked.group.count) gone?.();
          }}
        />
      ),
  };
}

function ChangeDialog({
  verb,
  group,
  close,
  done,
}: {
  verb: "retry" | "discard";
  group: Group;
  close: () => void;
  done: (result: GroupResult) => void;
}) {
  const [progress, setProgress] = useState(0);
  const { single } = useLens();
  const jobs = `${numberWords(group.count)} ${group.count === 1 ? "job" : "jobs"}`;
  const discard = verb === "discard";
  return (
    <ConfirmDialog
      title={discard ? `Discard ${jobs}?` : `Retry ${jobs}?`}
      confirm={discard ? `Discard ${jobs}` : `Retry ${jobs}`}
      danger={discard}
      {...(discard || group.count > SURE ? { typed: String(group.count) } : {})}
      close={close}
      action={async () => {
        const result = await changeGroup(verb, group, setProgress);
        const skipped = result.skipped > 0 ? `, ${numberWords(result.skipped)} skipped` : "";
        const past = discard ? "Discarded" : "Queued again:";
        showToast({ text: `${past} ${numberWords(result.changed)} of ${jobs}${skipped}.` });
        done(result);
      }}
    >
      <p className="line-clamp-3">
        <strong>
          <UserText>{group.definition}</UserText>
        </strong>
        : <UserText>{group.sentence}</UserText>
      </p>
      <p>
        {discard
          ? "They are deleted for good, with their attempts, history and logs. A job that another one waits for is skipped."
          : "They go into the line again with fresh attempts. Those that fail for the same cause come back here."}
        {!single && group.tenants > 1 && ` They belong to ${group.tenants} tenants.`}
      </p>
      <p role="status" className="text-muted">
        {progress > 0 && `${numberWords(progress)} of ${jobs} done…`}
      </p>
    </ConfirmDialog>
  );
}

function MuteDialog({ group, close, done }: { group: Group; close: () => void; done: () => void }) {
  const [period, setPeriod] = useState("86400");
  const [reason, setReason] = useState("");
  const { tenant, single } = useLens();
  return (
    <ConfirmDialog
      title="Mute this cause?"
      confirm="Mute"
      close={close}
      action={async () => {
        await write("post", "/api/v1/dead/groups/mute", {
          body: {
            definition: group.definition,
            fingerprint: group.fingerprint,
            for_seconds: period === "" ? null : Number(period),
            reason: reason.trim() || null,
          },
        });
        done();
        showToast({ text: "Muted." });
      }}
    >
      <p>
        It is hidden here and raises no alarm{" "}
        {!single && (tenant === null ? "for all tenants" : `for the tenant ${tenant}`)}. Its jobs
        stay.
      </p>
      <SelectField label="For" value={period} change={setPeriod} options={PERIODS} />
      <TextField label="Reason" hint="Others see it." value={reason} change={setReason} />
    </ConfirmDialog>
  );
}
