import { useSyncExternalStore } from "react";
import { stream } from "@/api/stream";
import { durationWords, useNow } from "@/parts/values/time";
import { useShortcuts } from "./shortcuts";

/** Shows whether the page follows changes; a click pauses and resumes. */
export function LiveIndicator() {
  const liveness = useSyncExternalStore(stream.subscribeLiveness, () => stream.liveness);
  const now = useNow();
  const toggle = (): void => {
    if (liveness.state === "paused") stream.resume();
    else stream.pause();
  };
  useShortcuts({ p: toggle });
  if (liveness.state === "off") return null;
  const waited = "since" in liveness ? Math.max(0, now - liveness.since) / 1000 : 0;
  const words = {
    live: "● Live",
    connecting: "◌ Reconnecting",
    stale: `▲ Stale ${durationWords(waited)}`,
    paused: "❚❚ Paused",
  }[liveness.state];
  return (
    <button
      type="button"
      className={`button button-quiet whitespace-nowrap ${liveness.state === "stale" ? "text-warn" : liveness.state === "live" ? "text-good" : ""}`}
      title={liveness.state === "paused" ? "Follow changes again (p)" : "Pause live updates (p)"}
      onClick={toggle}
    >
      <span aria-hidden="true">{words.split(" ")[0]}</span>
      <span className="max-sm:sr-only">{words.split(" ").slice(1).join(" ")}</span>
    </button>
  );
}
