import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { useLocation } from "wouter";
import { refresh, write } from "@/api/read";
import { useSession } from "@/api/session";
import { showProblem } from "@/definitions/enabled_switch";
import { ConfirmDialog } from "@/parts/dialogs/confirm";
import { Menu, type MenuItem } from "@/parts/dialogs/menu";
import { showToast } from "@/parts/dialogs/toasts";
import { Switch } from "@/parts/forms/fields";
import { TestDialog } from "./test_dialog";
import type { Trigger } from "./trigger_words";

/** The dialog with its forms, loaded when it is first opened. */
export const ScheduleDialog = lazy(async () => ({
  default: (await import("./schedule_dialog")).ScheduleDialog,
}));

type Open = "edit" | "copy" | "delete" | "test" | null;

/** Turns a trigger on or off, with ten seconds to undo it. */
export function TriggerSwitch({
  trigger,
  hideLabel = false,
}: {
  trigger: Trigger;
  hideLabel?: boolean;
}) {
  const client = useQueryClient();
  const session = useSession();
  if (!session.may("triggers.write")) return <>{trigger.enabled ? "Yes" : "No"}</>;
  return (
    <Switch
      label={hideLabel ? `${trigger.name} enabled` : "Enabled"}
      hideLabel={hideLabel}
      checked={trigger.enabled}
      change={(on) => void setEnabled(client, trigger, on)}
    />
  );
}

async function setEnabled(client: QueryClient, trigger: Trigger, on: boolean): Promise<void> {
  const verb = on ? "enable" : "disable";
  try {
    await write("post", `/api/v1/triggers/{id}/${verb}`, { params: { path: { id: trigger.id } } });
    refresh(client);
    showToast({
      text: on
        ? `${trigger.name} is enabled.`
        : `${trigger.name} is disabled: it fires no more until it is enabled.`,
      undo: () => void setEnabled(client, trigger, !on),
    });
  } catch (error) {
    showProblem(error);
  }
}

/** What can be done with a trigger, as a menu with its dialogs. */
export function TriggerMenu({ trigger, afterDelete }: { trigger: Trigger; afterDelete?: string }) {
  const client = useQueryClient();
  const session = useSession();
  const [, go] = useLocation();
  const [open, setOpen] = useState<Open>(null);
  const close = (): void => setOpen(null);
  const path = { params: { path: { id: trigger.id } } };
  const run = async (): Promise<void> => {
    const receipt = await write("post", "/api/v1/schedules/{id}/run", path);
    refresh(client, ["jobs", "schedules"]);
    if (receipt.job_id && receipt.status === "created") {
      showToast({ text: `${trigger.name} made a job.` });
      go(`/jobs/${receipt.job_id}`);
    } else showToast({ text: receipt.because ?? "An equal job exists already.", problem: true });
  };
  const reset = async (): Promise<void> => {
    await write("post", "/api/v1/triggers/{id}/reset", path);
    refresh(client);
    showToast({ text: `${trigger.name} follows the code again.` });
  };
  const writes = session.may("triggers.write");
  const byEvent = trigger.type === "event";
  const items: (MenuItem | false)[] = [
    !byEvent &&
      session.may("triggers.fire") && {
        label: "Run now",
        action: () => void run().catch(showProblem),
      },
    byEvent && writes && { label: "Test…", action: () => setOpen("test") },
    writes && { label: "Edit…", action: () => setOpen("edit") },
    writes && { label: "Duplicate…", action: () => setOpen("copy") },
    writes &&
      trigger.edited.length > 0 &&
      trigger.code !== null && {
        label: "Reset to code",
        action: () => void reset().catch(showProblem),
      },
    writes && { label: "Delete…", danger: true, action: () => setOpen("delete") },
  ];
  const shown = items.filter((item): item is MenuItem => item !== false);
  if (shown.length === 0) return null;
  return (
    <>
      <Menu label={`Actions on ${trigger.name}`} items={shown} className="button min-h-7">
        ⋯
      </Menu>
      <Suspense>
        {open === "edit" && <ScheduleDialog trigger={trigger} close={close} />}
        {open === "copy" && <ScheduleDialog like={trigger} close={close} />}
      </Suspense>
      {open === "test" && <TestDialog trigger={trigger} close={close} />}
      {open === "delete" && (
        <ConfirmDialog
          title={`Delete ${trigger.name}?`}
          confirm="Delete"
          danger
          typed={trigger.name}
          action={async () => {
            await write("delete", "/api/v1/triggers/{id}", path);
            refresh(client);
            showToast({ text: `${trigger.name} is deleted.` });
            if (afterDelete) go(afterDelete);
          }}
          close={close}
        >
          <p>
            It makes no more jobs of {trigger.definition}. Jobs that it made stay.
            {trigger.origin === "code" &&
              " The code declares it; it stays deleted until its definition is reset."}
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}
