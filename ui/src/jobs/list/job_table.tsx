import { type MouseEvent, useMemo } from "react";
import { type JobActions, nameOf } from "@/jobs/actions/job_actions";
import { Menu } from "@/parts/dialogs/menu";
import { type Column, VirtualTable } from "@/parts/tables/table";
import type { JobEntry, JobRows } from "./rows";
import type { Selection } from "./selection";

/** The list itself: a checkbox and a menu of actions beside the chosen columns. */
export function JobTable({
  list,
  columns,
  current,
  selection,
  actions,
  mayPick,
  open,
}: {
  list: JobRows;
  columns: readonly Column<JobEntry>[];
  current: string;
  selection: Selection;
  actions: JobActions;
  mayPick: boolean;
  open: (job: JobEntry) => void;
}) {
  const { picked, all } = selection;
  const everything = all || (picked.size > 0 && picked.size >= Math.min(100, list.rows.length));
  const shown = useMemo<Column<JobEntry>[]>(
    () => [
      ...(mayPick
        ? [
            {
              id: "pick",
              title: "Select",
              width: "2.5rem",
              header: (
                <Checkbox
                  label="Select the jobs shown"
                  checked={everything}
                  some={picked.size > 0}
                  change={() => (everything ? selection.clear() : selection.pickShown())}
                />
              ),
              cell: (job: JobEntry) => (
                <Checkbox
                  label={`Select ${nameOf(job)}`}
                  checked={all || picked.has(job.id)}
                  change={(event) => selection.toggle(job.id, event.shiftKey)}
                />
              ),
            },
          ]
        : []),
      ...columns,
      {
        id: "actions",
        title: "Actions",
        header: <span className="sr-only">Actions</span>,
        width: "3rem",
        sticky: true,
        cell: (job: JobEntry) => {
          const items = actions.menu(job);
          if (items.length === 0) return null;
          return (
            <Menu
              label={`Actions on ${nameOf(job)}`}
              className="button button-quiet min-h-6 px-2"
              items={items}
            >
              ⋯
            </Menu>
          );
        },
      },
    ],
    [columns, selection, actions, mayPick, everything, picked, all],
  );
  return (
    <VirtualTable
      label="Jobs"
      columns={shown}
      rows={list.rows}
      rowKey={(job) => job.id}
      current={current || undefined}
      selected={(job) => all || picked.has(job.id)}
      faded={(job) => list.left.has(job.id)}
      className="h-[calc(100dvh-15.75rem)] min-h-72 border-y border-line"
      total={list.more ? undefined : list.rows.length + 1}
      onEnd={list.loadMore}
      onView={list.inView}
      onRow={(job) => {
        if (getSelection()?.toString() === "") open(job);
      }}
    />
  );
}

function Checkbox({
  label,
  checked,
  some = false,
  change,
}: {
  label: string;
  checked: boolean;
  /** True if some of many are picked. */
  some?: boolean;
  change: (event: MouseEvent<HTMLInputElement>) => void;
}) {
  return (
    <input
      type="checkbox"
      aria-label={label}
      className="block size-4 accent-(--accent) before:absolute before:-m-2 before:size-8"
      checked={checked}
      ref={(box) => {
        if (box) box.indeterminate = some && !checked;
      }}
      onClick={change}
      onChange={() => {}}
    />
  );
}
