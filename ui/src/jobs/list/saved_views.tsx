import { useState } from "react";
import { useSession } from "@/api/session";
import { Dialog } from "@/parts/dialogs/dialog";
import { Menu } from "@/parts/dialogs/menu";
import { TextField } from "@/parts/forms/fields";
import { store, stored } from "@/shell/preferences";

/** A named filter with its columns. */
export interface SavedView {
  name: string;
  q: string;
  columns?: string;
}

const KEY = "windlass.jobs.views";

/** Views that everybody has. */
export function builtInViews(caller: string | null): SavedView[] {
  return [
    { name: "All", q: "" },
    { name: "Failing now", q: "state:retrying,dead_letter" },
    { name: "Slow", q: "state:running duration:>1m" },
    { name: "Waiting long", q: "state:queued due:<-5m" },
    ...(caller ? [{ name: "Mine", q: `by:${caller}` }] : []),
  ];
}

/** Name of the caller in `created_by`; null for who has none. */
function useCaller(): string | null {
  const { identity } = useSession();
  if (identity.id === null) return null;
  return `${identity.kind === "session" ? "user" : identity.kind}:${identity.id}`;
}

/** Views to choose from, and a menu to keep the present one. */
export function SavedViews({
  q,
  columns,
  open,
}: {
  q: string;
  columns: string;
  open: (view: SavedView) => void;
}) {
  const [saved, setSaved] = useState<SavedView[]>(() => stored<SavedView[]>(KEY, []));
  const [naming, setNaming] = useState(false);
  const caller = useCaller();
  const keep = (views: SavedView[]): void => {
    setSaved(views);
    store(KEY, views);
  };
  const here = saved.find((view) => view.q === q);
  return (
    <nav
      aria-label="Views"
      className="flex min-w-0 items-center gap-1 overflow-x-auto py-0.5 max-sm:w-full"
    >
      {[...builtInViews(caller), ...saved].map((view) => (
        <button
          key={view.name}
          type="button"
          aria-current={view.q === q ? "true" : undefined}
          className="min-h-8 shrink-0 rounded-md px-2.5 text-muted hover:bg-sunken hover:text-text aria-[current]:bg-accent-soft aria-[current]:font-medium aria-[current]:text-accent"
          onClick={() => open(view)}
        >
          {view.name}
        </button>
      ))}
      <Menu
        label="Manage views"
        className="button button-quiet shrink-0"
        items={[
          {
            label: "Save this view…",
            action: () => setNaming(true),
            refused: q === "" ? "Set a filter first." : undefined,
          },
          ...(here
            ? [
                {
                  label: `Remove “${here.name}”`,
                  danger: true,
                  action: () => keep(saved.filter((view) => view !== here)),
                },
              ]
            : []),
        ]}
      >
        ★
      </Menu>
      {naming && (
        <NameDialog
          taken={[...builtInViews(caller), ...saved].map((view) => view.name)}
          close={() => setNaming(false)}
          save={(name) => keep([...saved, { name, q, columns }])}
        />
      )}
    </nav>
  );
}

function NameDialog({
  taken,
  save,
  close,
}: {
  taken: readonly string[];
  save: (name: string) => void;
  close: () => void;
}) {
  const [name, setName] = useState("");
  const [error, setError] = useState<string>();
  return (
    <Dialog title="Save this view" close={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const chosen = name.trim();
          if (chosen === "") setError("A view needs a name.");
          else if (taken.includes(chosen)) setError("There is such a view; choose another name.");
          else {
            save(chosen);
            close();
          }
        }}
      >
        <TextField
          label="Name"
          hint="Its filter and columns are kept in this browser. To share it, copy the address."
          error={error}
          value={name}
          maxLength={60}
          change={setName}
        />
        <div className="mt-4 flex justify-end gap-2">
          <button type="button" className="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="button button-primary">
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}
