import { type ReactNode, useId } from "react";

/** A labelled field with its hint and its error, tied to its control. */
export function Field({
  label,
  hint,
  error,
  aside,
  children,
}: {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
  /** Stands beside the label: "optional", or a button. */
  aside?: ReactNode;
  children: (control: {
    id: string;
    "aria-describedby": string | undefined;
    "aria-invalid": true | undefined;
  }) => ReactNode;
}) {
  const id = useId();
  const about = [hint ? `${id}-hint` : "", error ? `${id}-error` : ""].filter(Boolean).join(" ");
  return (
    <div className="min-w-0">
      <div className="mb-0.5 flex min-h-5 items-baseline gap-2">
        <label htmlFor={id} className="font-medium">
          {label}
        </label>
        {aside && <span className="text-[13px] text-muted">{aside}</span>}
      </div>
      {children({
        id,
        "aria-describedby": about || undefined,
        "aria-invalid": error ? true : undefined,
      })}
      {hint && (
        <p id={`${id}-hint`} className="mt-0.5 text-[13px] text-muted">
          {hint}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} className="mt-0.5 text-[13px] text-danger">
          {error}
        </p>
      )}
    </div>
  );
}

/** A line of text. */
export function TextField({
  label,
  hint,
  error,
  value,
  change,
  ...rest
}: {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
  value: string;
  change: (value: string) => void;
} & Omit<React.InputHTMLAttributes<HTMLInputElement>, "value" | "onChange">) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <input
          {...control}
          {...rest}
          className="input"
          value={value}
          onChange={(event) => change(event.target.value)}
        />
      )}
    </Field>
  );
}

/** One of a few choices. */
export function SelectField({
  label,
  hint,
  error,
  value,
  change,
  options,
}: {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
  value: string;
  change: (value: string) => void;
  options: readonly (readonly [value: string, label: string])[];
}) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <select
          {...control}
          className="input"
          value={value}
          onChange={(event) => change(event.target.value)}
        >
          {options.map(([each, words]) => (
            <option key={each} value={each}>
              {words}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** Something that is on or off, and takes effect at once. */
export function Switch({
  label,
  checked,
  change,
  disabled = false,
  hideLabel = false,
}: {
  label: string;
  checked: boolean;
  change: (checked: boolean) => void;
  disabled?: boolean;
  hideLabel?: boolean;
}) {
  return (
    <button
      type="button"
      role="switch"
      aria-checked={checked}
      aria-label={label}
      disabled={disabled}
      className="inline-flex min-h-6 items-center gap-2 disabled:opacity-55"
      onClick={() => change(!checked)}
    >
      <span
        aria-hidden="true"
        className={`inline-block h-5 w-9 rounded-full border p-0.5 ${checked ? "border-accent bg-accent" : "border-line-strong bg-sunken"}`}
      >
        <span
          className={`block h-3.5 w-3.5 rounded-full ${checked ? "translate-x-4 bg-on-accent" : "bg-muted"}`}
        />
      </span>
      {!hideLabel && label}
    </button>
  );
}
