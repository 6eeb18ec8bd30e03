import type { ReactNode } from "react";
import { useSubmit } from "@/parts/forms/submit";
import { ErrorState } from "@/parts/panels/panel";

/** A form on a page of its own, before one is signed in. */
export function AccountForm({
  title,
  submit,
  action,
  children,
}: {
  title: string;
  submit: string;
  action: () => Promise<unknown>;
  children: ReactNode;
}) {
  const form = useSubmit(action);
  return (
    <main className="mx-auto mt-[12vh] max-w-sm p-4">
      <h1 className="mb-4">{title}</h1>
      <form onSubmit={form.submit} className="space-y-3">
        {children}
        {form.problem && <ErrorState problem={form.problem} />}
        <button type="submit" className="button button-primary w-full" disabled={form.busy}>
          {submit}
        </button>
      </form>
    </main>
  );
}

/** Open the dashboard anew, as whoever has signed in now. */
export function openDashboard(): void {
  location.assign(document.baseURI);
}
