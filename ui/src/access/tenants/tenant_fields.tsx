import type { Problem } from "@/api/problem";
import { TextField } from "@/parts/forms/fields";

/** What is typed about a tenant. */
export interface TenantForm {
  id: string;
  name: string;
  weight: string;
  maxRunning: string;
  maxOpen: string;
  timezone: string;
}

export const EMPTY_TENANT: TenantForm = {
  id: "",
  name: "",
  weight: "1",
  maxRunning: "",
  maxOpen: "",
  timezone: "UTC",
};

/** The body of a request; an empty limit is none. */
export function tenantBody(form: TenantForm) {
  const limit = (text: string): number | null => (text.trim() === "" ? null : Number(text));
  return {
    ...(form.name.trim() ? { name: form.name.trim() } : {}),
    weight: Number(form.weight),
    max_running: limit(form.maxRunning),
    max_open: limit(form.maxOpen),
    timezone: form.timezone,
  };
}

export function TenantFields({
  form,
  change,
  problem,
  withId = false,
}: {
  form: TenantForm;
  change: (form: TenantForm) => void;
  problem: Problem | null;
  withId?: boolean;
}) {
  const field = (name: keyof TenantForm, pointer: string) => ({
    value: form[name],
    change: (value: string) => change({ ...form, [name]: value }),
    error: problem?.field(pointer),
  });
  const number = { type: "number", inputMode: "numeric", min: 1 } as const;
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      {withId && (
        <TextField label="Id" required hint="It can never be changed." {...field("id", "/id")} />
      )}
      <TextField label="Name" {...field("name", "/name")} />
      <TextField
        label="Share of workers"
        hint="Weight against other tenants; 1 is usual."
        required
        {...number}
        {...field("weight", "/weight")}
      />
      <TextField
        label="Most running jobs"
        hint="Empty: no limit."
        {...number}
        {...field("maxRunning", "/max_running")}
      />
      <TextField
        label="Most open jobs"
        hint="More are rejected. Empty: no limit."
        {...number}
        {...field("maxOpen", "/max_open")}
      />
      <TextField
        label="Time zone"
        hint="Of its schedules, such as Europe/Berlin."
        list="time-zones"
        required
        {...field("timezone", "/timezone")}
      />
      <datalist id="time-zones">
        {Intl.supportedValuesOf("timeZone").map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </div>
  );
}
