import { createContext, type ReactNode, useContext } from "react";

/** The tenant lens: whose data is shown; null for all that the caller may see. */
export interface Lens {
  tenant: string | null;
  choose: (tenant: string | null) => void;
  /** Tenants that the caller may choose from. */
  tenants: readonly string[];
  /** True where only one tenant exists; then nothing on the page speaks of tenants. */
  single: boolean;
}

/** The tenant of Windlass's own jobs, which every installation has. */
const SYSTEM_TENANT = "system";

/** True if there is one tenant, or none; that of Windlass itself does not count. */
export function isSingle(tenants: readonly string[]): boolean {
  return tenants.filter((each) => each !== SYSTEM_TENANT).length <= 1;
}

const LensContext = createContext<Lens>({
  tenant: null,
  choose: () => {},
  tenants: [],
  single: true,
});

export function LensProvider({ lens, children }: { lens: Lens; children: ReactNode }) {
  return <LensContext value={lens}>{children}</LensContext>;
}

export function useLens(): Lens {
  return useContext(LensContext);
}

export function LensSelect() {
  const { tenant, choose, tenants, single } = useLens();
  if (single) return null;
  return (
    <label className="flex items-center gap-1.5">
      <span className="text-muted max-sm:sr-only">Tenant</span>
      <select
        className="input w-auto max-w-40 font-medium"
        value={tenant ?? ""}
        onChange={(event) => choose(event.target.value || null)}
      >
        <option value="">All</option>
        {tenants.map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
    </label>
  );
}
