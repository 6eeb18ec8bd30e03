import { Dialog } from "@/parts/dialogs/dialog";
import { COLUMNS } from "./columns";

/** Choose the columns of the list; it changes at once. */
export function ColumnsDialog({
  chosen,
  usual,
  change,
  manyTenants,
  close,
}: {
  chosen: string;
  usual: string;
  change: (columns: string) => void;
  manyTenants: boolean;
  close: () => void;
}) {
  const shown = chosen.split(",");
  return (
    <Dialog title="Columns" close={close}>
      <fieldset className="grid grid-cols-2 gap-x-4 sm:grid-cols-3">
        <legend className="sr-only">Columns of the list</legend>
        {COLUMNS.filter((column) => manyTenants || column.id !== "tenant").map((column) => (
          <label key={column.id} className="flex min-h-8 items-center gap-2">
            <input
              type="checkbox"
              className="size-4 accent-(--accent)"
              checked={shown.includes(column.id)}
              disabled={column.id === "definition"}
              onChange={(event) =>
                change(
                  COLUMNS.map((each) => each.id)
                    .filter((id) => (id === column.id ? event.target.checked : shown.includes(id)))
                    .join(),
                )
              }
            />
            {column.title}
          </label>
        ))}
      </fieldset>
      <div className="mt-4 flex justify-between gap-2">
        <button
          type="button"
          className="button"
          disabled={chosen === usual}
          onClick={() => change(usual)}
        >
          Usual columns
        </button>
        <button type="button" className="button button-primary" onClick={close}>
          Done
        </button>
      </div>
    </Dialog>
  );
}
