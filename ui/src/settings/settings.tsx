import { Tokens } from "@/access/tenants/tokens";
import { useSession } from "@/api/session";
import { SelectField, Switch } from "@/parts/forms/fields";
import { Panel } from "@/parts/panels/panel";
import { useLens } from "@/shell/lens";
import { setPreferences, usePreferences } from "@/shell/preferences";
import { ScreenHeader } from "@/shell/shell";
import { ShortcutList } from "@/shell/shortcut_sheet";
import { Installation } from "./installation";

/** Settings of this browser, and for operators those of the installation. */
export default function Settings() {
  const session = useSession();
  return (
    <>
      <ScreenHeader title="Settings" />
      <div className="grid gap-4 lg:grid-cols-2">
        <Panel title="This browser">
          <Appearance />
        </Panel>
        <Panel title="Keyboard shortcuts">
          <Shortcuts />
        </Panel>
        {session.overseer && (
          <div className="lg:col-span-2">
            <Installation />
          </div>
        )}
        {session.overseer && session.signedIn && session.may("tokens.read") && (
          <div className="lg:col-span-2">
            <Tokens tenant={null} />
          </div>
        )}
      </div>
    </>
  );
}

function Appearance() {
  const { theme, density, times } = usePreferences();
  const { single } = useLens();
  return (
    <div className="grid max-w-xl gap-3 sm:grid-cols-3">
      <SelectField
        label="Theme"
        value={theme}
        change={(chosen) => setPreferences({ theme: chosen as typeof theme })}
        options={[
          ["system", "As the system"],
          ["light", "Light"],
          ["dark", "Dark"],
          ["contrast", "High contrast"],
        ]}
      />
      <SelectField
        label="Rows"
        value={density}
        change={(chosen) => setPreferences({ density: chosen as typeof density })}
        options={[
          ["default", "Comfortable"],
          ["compact", "Compact"],
        ]}
      />
      <SelectField
        label="Times"
        value={times}
        change={(chosen) => setPreferences({ times: chosen as typeof times })}
        options={[
          ["local", "In my zone"],
          ["utc", "In UTC"],
          ["tenant", single ? "In the zone of schedules" : "In the tenant's zone"],
        ]}
      />
    </div>
  );
}

function Shortcuts() {
  const { shortcuts } = usePreferences();
  return (
    <div className="space-y-3">
      <Switch
        label="Single keys do something"
        checked={shortcuts}
        change={(chosen) => setPreferences({ shortcuts: chosen })}
      />
      <ShortcutList />
    </div>
  );
}
