import { createContext, type ReactNode, useContext } from "react";
import type { Answer } from "./read";

export type Identity = Answer<"/api/v1/whoami", "get">;

/** Who uses the dashboard, and what they may do in the chosen tenant. */
export interface Session {
  identity: Identity;
  /** True if the caller has this right here; `jobs.read` and the like. */
  may(right: string): boolean;
  /** True if the caller sees only jobs of their own. */
  ownOnly: boolean;
  /** True if the caller reaches all tenants. */
  overseer: boolean;
  /** True if the caller signed in and can sign out. */
  signedIn: boolean;
}

export function sessionOf(identity: Identity, tenant: string | null): Session {
  const overseer =
    identity.kind === "none" || identity.memberships.some((each) => each.tenant_id === null);
  const here = identity.memberships.filter(
    (each) => each.tenant_id === null || each.tenant_id === (tenant ?? identity.tenant_id),
  );
  const rights =
    identity.kind === "none" ? null : new Set(here.flatMap((membership) => membership.rights));
  return {
    identity,
    overseer,
    signedIn: identity.kind === "session",
    may: (right) => rights === null || rights.has(right),
    ownOnly: here.length > 0 && here.every((each) => each.role === "user"),
  };
}

const SessionContext = createContext<Session | null>(null);

export function SessionProvider({ session, children }: { session: Session; children: ReactNode }) {
  return <SessionContext value={session}>{children}</SessionContext>;
}

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error("no session around this component");
  return session;
}
