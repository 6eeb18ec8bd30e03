import { relativeWords, useNow } from "@/parts/values/time";

/** Says that a queue is paused, by whom, since when and why. */
export function PausedNote({
  queue,
}: {
  queue: {
    paused_at: string | null;
    paused_by: string | null;
    paused_by_name: string | null;
    pause_reason: string | null;
  };
}) {
  const now = useNow();
  if (queue.paused_at === null) return null;
  const by = queue.paused_by_name ?? queue.paused_by;
  return (
    <span className="text-warn">
      <span aria-hidden="true">❚❚ </span>
      <bdi>
        paused {relativeWords(Date.parse(queue.paused_at), now)}
        {by ? ` by ${by}` : ""}
        {queue.pause_reason ? `: ${queue.pause_reason}` : ""}
      </bdi>
    </span>
  );
}
