import { useSyncExternalStore } from "react";

export type Theme = "system" | "light" | "dark" | "contrast";
export type Density = "default" | "compact";
export type TimeZoneChoice = "local" | "utc" | "tenant";

/** What a person chose for this browser. */
export interface Preferences {
  theme: Theme;
  density: Density;
  times: TimeZoneChoice;
  /** Single keys do something; off for people whose keyboard types by itself (WCAG 2.1.4). */
  shortcuts: boolean;
  railOpen: boolean;
}

const KEY = "windlass.preferences";
const DEFAULTS: Preferences = {
  theme: "system",
  density: "default",
  times: "local",
  shortcuts: true,
  railOpen: true,
};
const watchers = new Set<() => void>();
let preferences: Preferences = { ...DEFAULTS, ...stored<Partial<Preferences>>(KEY, {}) };
let tenantZone: string | null = null;

/** A value kept in this browser; `otherwise` if there is none or it cannot be read. */
export function stored<T>(key: string, otherwise: T): T {
  try {
    return (JSON.parse(localStorage.getItem(key) ?? "null") as T | null) ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** Keep a value in this browser; a browser that refuses forgets it with the page. */
export function store(key: string, value: unknown): void {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // Private windows may have no storage.
  }
}

export function setPreferences(change: Partial<Preferences>): void {
  preferences = { ...preferences, ...change };
  store(KEY, preferences);
  applyPreferences();
  for (const watcher of watchers) watcher();
}

/** The zone that times are shown in when the tenant's is chosen. */
export function setTenantZone(zone: string | null): void {
  tenantZone = zone;
}

/** Put theme and density on the page. */
export function applyPreferences(): void {
  const page = document.documentElement;
  if (preferences.theme === "system") delete page.dataset.theme;
  else page.dataset.theme = preferences.theme;
  page.style.setProperty("--row", preferences.density === "compact" ? "32px" : "40px");
}

export function usePreferences(): Preferences & { zone: string | undefined } {
  const chosen = useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => preferences,
  );
  const zone = { local: undefined, utc: "UTC", tenant: tenantZone ?? undefined }[chosen.times];
  return { ...chosen, zone };
}
