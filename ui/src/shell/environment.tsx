import { useEffect } from "react";
import { type Answer, useRead } from "@/api/read";
import { useSession } from "@/api/session";

/** Beginning of an environment's name -> its colour: red for production, quiet for all else. */
const COLORS: readonly (readonly [string, string])[] = [
  ["prod", "--state-dead-letter"],
  ["live", "--state-dead-letter"],
  ["stag", "--state-retrying"],
  ["dev", "--state-completed"],
];
const OTHER = "--state-queued";
const MINUTES = 5 * 60_000;

/** What everybody may know of the installation; undefined until it is read. */
export function useInstallation(): Answer<"/api/v1/settings", "get"> | undefined {
  const session = useSession();
  return useRead(
    "/api/v1/settings",
    {},
    { enabled: session.may("settings.read"), staleTime: MINUTES },
  ).data;
}

/** Stripe, tab title and icon that say where one is, so that nobody takes production for a test. */
export function Environment({ screen }: { screen: string }) {
  const name = useInstallation()?.environment ?? "";
  useEffect(() => {
    document.title = [name && `[${name}]`, screen, screen && "·", "Windlass"]
      .filter(Boolean)
      .join(" ");
  }, [name, screen]);
  useEffect(() => (name ? showIcon(colorOf(name)) : undefined), [name]);
  if (!name) return null;
  return (
    <div
      title={`Environment ${name}`}
      className="border-t-4 px-3 pt-1 text-[12px] font-semibold"
      style={{ borderColor: `var(${colorOf(name)})` }}
    >
      <span className="sr-only">Environment </span>
      {name}
    </div>
  );
}

function colorOf(name: string): string {
  const begins = name.toLowerCase();
  return COLORS.find(([beginning]) => begins.startsWith(beginning))?.[1] ?? OTHER;
}

/** Colour the tab's icon; the returned function shows the usual one again. */
function showIcon(variable: string): (() => void) | undefined {
  const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]");
  const color = getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
  if (icon === null || color === "") return undefined;
  const usual = icon.href;
  icon.href = `data:image/svg+xml,${encodeURIComponent(iconOf(color))}`;
  return () => {
    icon.href = usual;
  };
}

/** The picture of `public/favicon.svg` in another colour. */
function iconOf(color: string): string {
  return (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">' +
    `<rect width="32" height="32" rx="7" fill="${color}"/>` +
    '<g fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round">' +
    '<circle cx="16" cy="16" r="5"/><path d="M16 5v6M16 21v6M5 16h6M21 16h6"/></g></svg>'
  );
}
