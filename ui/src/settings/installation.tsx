import { Panel } from "@/parts/panels/panel";

/** Settings of the installation, as the server has them. */
export function Installation() {
  return (
    <Panel title="Installation">
      <p className="text-muted">
        Set in <code>windlass.toml</code> and by <code>WINDLASS_…</code> variables;{" "}
        <code>windlass config show --origin</code> lists all of them.
      </p>
    </Panel>
  );
}
