import { useEffect } from "react";

/** Colour of a stripe for an environment: red for production, quiet for all else. */
const COLORS: Record<string, string> = {
  prod: "var(--state-dead-letter)",
  production: "var(--state-dead-letter)",
  staging: "var(--state-retrying)",
  dev: "var(--state-completed)",
};

/** Stripe and tab title that say where one is, so that nobody takes production for a test. */
export function Environment({ screen, name = "" }: { screen: string; name?: string }) {
  useEffect(() => {
    document.title = [name && `[${name}]`, screen, screen && "·", "Windlass"]
      .filter(Boolean)
      .join(" ");
  }, [name, screen]);
  if (!name) return null;
  const color = COLORS[name] ?? "var(--state-queued)";
  return (
    <div className="border-t-4 px-3 pt-1 text-[12px] font-semibold" style={{ borderColor: color }}>
      {name}
    </div>
  );
}
