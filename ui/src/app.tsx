import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import {
  Component,
  type ReactNode,
  Suspense,
  useCallback,
  useEffect,
  useMemo,
  useState,
} from "react";
import { Redirect, Route, Router, Switch } from "wouter";
import { limitRequestsTo, root } from "@/api/client";
import { Problem } from "@/api/problem";
import { refresh, useRead } from "@/api/read";
import { SessionProvider, sessionOf } from "@/api/session";
import { stream, type Topic } from "@/api/stream";
import { ErrorState, Skeleton } from "@/parts/panels/panel";
import { isSingle, LensProvider } from "@/shell/lens";
import { PAGES, SIGNED_OUT } from "@/shell/pages";
import { store, stored } from "@/shell/preferences";
import { Shell, useTenants } from "@/shell/shell";

const LENS_KEY = "windlass.tenant";
/** Changes are shown within a second, and read at most once in this time. */
const REFRESH_MS = 700;

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 2_000,
        refetchOnWindowFocus: true,
        retry: (count, problem) => count < 2 && problem instanceof Problem && problem.status >= 502,
      },
    },
  });
}

/** The dashboard: who one is, whose data is shown, and the screen of the address. */
export function App({ client }: { client: QueryClient }) {
  return (
    <QueryClientProvider client={client}>
      <Router base={root}>
        <Suspense fallback={<Skeleton lines={6} />}>
          <Switch>
            {SIGNED_OUT.map((page) => (
              <Route key={page.path} path={page.path} component={page.component} />
            ))}
            <Route>
              <SignedIn client={client} />
            </Route>
          </Switch>
        </Suspense>
      </Router>
    </QueryClientProvider>
  );
}

function SignedIn({ client }: { client: QueryClient }) {
  const [tenant, setTenant] = useState<string | null>(() => stored<string | null>(LENS_KEY, null));
  const identity = useRead("/api/v1/whoami", {}, { staleTime: 60_000 });
  const session = useMemo(
    () => (identity.data ? sessionOf(identity.data, tenant) : null),
    [identity.data, tenant],
  );
  const choose = useCallback(
    (chosen: string | null) => {
      store(LENS_KEY, chosen);
      limitRequestsTo(chosen);
      setTenant(chosen);
      stream.restart();
      void client.resetQueries({ predicate: (query) => query.queryKey[0] !== "/api/v1/whoami" });
    },
    [client],
  );
  const own = session?.identity.memberships.flatMap((each) => each.tenant_id ?? []) ?? [];
  const all = useTenants((session?.overseer && session.may("tenants.read")) ?? false);
  const tenants = session?.overseer ? all.names : own;
  const single = isSingle(tenants);
  // A tenant that is gone, or that another account had chosen.
  const known = tenant === null || tenants.includes(tenant);
  useEffect(() => {
    if (session === null || !all.ready) return;
    if (!known) choose(null);
    else if (tenant === null && !session.overseer && own.length > 1) choose(own[0] ?? null);
  }, [session, all.ready, known, tenant, own, choose]);
  useLiveUpdates(client, session !== null);

  if (identity.isError && identity.error.signedOut) return <Redirect to="/sign-in" />;
  if (identity.isError && !identity.data)
    return (
      <main className="mx-auto mt-16 max-w-xl p-4">
        <ErrorState problem={identity.error} retry={() => void identity.refetch()} />
      </main>
    );
  if (session === null || !all.ready || !known) return null;
  return (
    <SessionProvider session={session}>
      <LensProvider lens={{ tenant, choose, tenants, single }}>
        <Shell>
          <Suspense fallback={<Skeleton lines={8} />}>
            <Switch>
              {PAGES.map((page) => (
                <Route key={page.path} path={page.path}>
                  <Guard>
                    <page.component />
                  </Guard>
                </Route>
              ))}
              <Route>
                <p className="py-16 text-center">
                  There is no such page.{" "}
                  <a href={document.baseURI} className="link">
                    Overview
                  </a>
                </p>
              </Route>
            </Switch>
          </Suspense>
        </Shell>
      </LensProvider>
    </SessionProvider>
  );
}

/** Read again what changed, at most once in `REFRESH_MS`. */
function useLiveUpdates(client: QueryClient, enabled: boolean): void {
  useEffect(() => {
    if (!enabled) return undefined;
    const stale = new Set<Topic>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    stream.onStale = (topics) => {
      for (const topic of topics) stale.add(topic);
      timer ??= setTimeout(() => {
        timer = undefined;
        refresh(client, [...stale]);
        stale.clear();
      }, REFRESH_MS);
    };
    stream.start();
    return () => clearTimeout(timer);
  }, [client, enabled]);
}

/** Shows what went wrong in a screen, and leaves the navigation usable. */
class Guard extends Component<{ children: ReactNode }, { failed: string | null }> {
  override state = { failed: null };

  static getDerivedStateFromError(error: Error) {
    return { failed: error.message };
  }

  override render() {
    if (this.state.failed === null) return this.props.children;
    return (
      <ErrorState
        problem={new Problem(0, "", "This screen failed.", this.state.failed, "Reload the page.")}
        retry={() => location.reload()}
      />
    );
  }
}
