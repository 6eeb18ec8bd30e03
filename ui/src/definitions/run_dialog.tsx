import { useRead } from "@/api/read";
import { Dialog } from "@/parts/dialogs/dialog";
import { QueryView } from "@/parts/panels/panel";
import type { DefinitionEntry } from "./definition_words";
import { RunForm } from "./run_form";

/** Runs a definition; for one that is known by its key alone, see `RunDialogByKey`. */
export function RunDialog({
  definition,
  close,
}: {
  definition: DefinitionEntry;
  close: () => void;
}) {
  return (
    <Dialog title={`Run ${definition.title || definition.key}`} close={close}>
      <RunForm definition={definition} close={close} />
    </Dialog>
  );
}

/** Runs the definition with a key. */
export function RunDialogByKey({ definition, close }: { definition: string; close: () => void }) {
  const query = useRead("/api/v1/definitions/{key}", { params: { path: { key: definition } } });
  return (
    <Dialog title={`Run ${definition}`} close={close}>
      <QueryView query={query}>{(found) => <RunForm definition={found} close={close} />}</QueryView>
    </Dialog>
  );
}
