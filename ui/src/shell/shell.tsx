import { lazy, type ReactNode, Suspense, useEffect, useState } from "react";
import { Link, useLocation } from "wouter";
import { useRead, write } from "@/api/read";
import { useSession } from "@/api/session";
import { Menu } from "@/parts/dialogs/menu";
import { Toasts } from "@/parts/dialogs/toasts";
import { DevError } from "./dev_error";
import { Environment } from "./environment";
import { Icon } from "./icons";
import { LensSelect, useLens } from "./lens";
import { LiveIndicator } from "./live_indicator";
import { setPreferences, type Theme, usePreferences } from "./preferences";
import { screensFor } from "./screens";
import { useShortcuts } from "./shortcuts";

const Palette = lazy(() => import("./palette"));
const ShortcutSheet = lazy(() => import("./shortcut_sheet"));

const THEMES: readonly (readonly [Theme, string])[] = [
  ["system", "Theme of the system"],
  ["light", "Light"],
  ["dark", "Dark"],
  ["contrast", "High contrast"],
];

/** Navigation and top bar around a screen. */
export function Shell({ children }: { children: ReactNode }) {
  const [location, go] = useLocation();
  const session = useSession();
  const lens = useLens();
  const { railOpen } = usePreferences();
  const [palette, setPalette] = useState(false);
  const [sheet, setSheet] = useState(false);
  const screens = screensFor(session, !lens.single);
  const here = screens.findLast(
    (screen) => location === screen.path || location.startsWith(`${screen.path}/`),
  );
  const jumps = Object.fromEntries(
    screens.filter((each) => each.key).map((each) => [`g ${each.key}`, () => go(each.path)]),
  );
  useShortcuts({ ...jumps, "?": () => setSheet(true) });
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setPalette(true);
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, []);
  return (
    <div className="flex min-h-dvh flex-col sm:flex-row">
      <a
        href="#main"
        className="button button-primary sr-only z-50 focus:not-sr-only focus:absolute focus:top-2 focus:left-2"
      >
        Skip to content
      </a>
      <nav
        aria-label="Screens"
        className={`z-20 border-line bg-raised max-sm:fixed max-sm:inset-x-0 max-sm:bottom-0 max-sm:overflow-x-auto max-sm:border-t sm:sticky sm:top-0 sm:h-dvh sm:shrink-0 sm:overflow-y-auto sm:border-r ${railOpen ? "sm:w-44" : "sm:w-13"}`}
      >
        <ul className="flex p-1.5 sm:flex-col sm:gap-0.5 sm:pt-3">
          <li className="mb-2 flex items-center px-2 font-semibold max-sm:hidden">
            {railOpen && <span className="flex-1">Windlass</span>}
            <button
              type="button"
              className="button button-quiet min-h-6 px-1"
              aria-label={railOpen ? "Collapse navigation" : "Expand navigation"}
              onClick={() => setPreferences({ railOpen: !railOpen })}
            >
              {railOpen ? "«" : "»"}
            </button>
          </li>
          {screens.map((screen) => (
            <li key={screen.path}>
              <Link
                href={screen.path}
                aria-current={here === screen ? "page" : undefined}
                title={screen.title}
                className="flex min-h-9 items-center gap-2.5 rounded-md px-2 text-muted hover:bg-sunken hover:text-text aria-[current]:bg-accent-soft aria-[current]:font-medium aria-[current]:text-accent whitespace-nowrap max-sm:min-w-16 max-sm:flex-col max-sm:gap-0 max-sm:text-[11px]"
              >
                <Icon name={screen.icon} />
                <span className={railOpen ? "" : "sm:sr-only"}>{screen.title}</span>
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <div className="flex min-w-0 flex-1 flex-col max-sm:pb-16">
        <Environment screen={here?.title ?? ""} />
        <DevError />
        <header className="sticky top-0 z-10 flex min-h-12 flex-wrap items-center gap-2 border-b border-line bg-surface px-3 py-1.5">
          <LensSelect />
          <button
            type="button"
            className="button flex-1 justify-start text-muted sm:max-w-72"
            onClick={() => setPalette(true)}
          >
            <span className="flex-1 text-left">Go to…</span>
            <kbd className="max-sm:hidden">Ctrl K</kbd>
          </button>
          <span className="flex-1 max-sm:hidden" />
          <LiveIndicator />
          <Menu
            label="Theme"
            className="button button-quiet"
            items={THEMES.map(([theme, label]) => ({
              label,
              action: () => setPreferences({ theme }),
            }))}
          >
            ◐
          </Menu>
          <AccountMenu />
        </header>
        <main id="main" tabIndex={-1} className="min-w-0 flex-1 p-3 outline-none sm:p-4">
          {children}
        </main>
      </div>
      <Toasts />
      <Suspense>
        {palette && <Palette close={() => setPalette(false)} />}
        {sheet && <ShortcutSheet close={() => setSheet(false)} />}
      </Suspense>
    </div>
  );
}

function AccountMenu() {
  const session = useSession();
  const [, go] = useLocation();
  const items = [
    ...(session.signedIn ? [{ label: "My account", action: () => go("/account") }] : []),
    { label: "API reference", action: () => location.assign(new URL("docs", document.baseURI)) },
    ...(session.signedIn
      ? [
          {
            label: "Sign out",
            action: () =>
              void write("post", "/api/v1/logout", {}).finally(() =>
                location.assign(document.baseURI),
              ),
          },
        ]
      : []),
  ];
  return (
    <Menu
      label={session.signedIn ? `Account ${session.identity.name}` : "Account"}
      className="button button-quiet max-w-40"
      items={items}
    >
      {session.signedIn ? (
        <span className="truncate">{session.identity.name}</span>
      ) : (
        <span aria-hidden="true">☰</span>
      )}
    </Menu>
  );
}

/** The page's headline: title of the screen, and its actions. */
export function ScreenHeader({ title, children }: { title: ReactNode; children?: ReactNode }) {
  return (
    <div className="mb-3 flex min-h-8 flex-wrap items-center justify-between gap-2">
      <h1>{title}</h1>
      <div className="flex max-w-full flex-wrap items-center gap-2">{children}</div>
    </div>
  );
}

/** Tenants that exist for the caller; read once, for the lens. */
export function useTenants(enabled: boolean): { names: readonly string[]; ready: boolean } {
  const tenants = useRead(
    "/api/v1/tenants",
    { params: { query: { limit: 500 } } },
    { enabled, staleTime: 60_000 },
  );
  return {
    names: tenants.data?.items.map((each) => each.id) ?? [],
    ready: !enabled || !tenants.isPending,
  };
}
