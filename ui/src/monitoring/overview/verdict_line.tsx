import { Link } from "wouter";
import { useRead } from "@/api/read";
import { QueryView, Skeleton } from "@/parts/panels/panel";
import { verdictOf } from "./verdict";

const LOOKS = {
  good: ["✓", "border-good bg-good-soft text-good"],
  warn: ["▲", "border-warn bg-warn-soft text-warn"],
  bad: ["✕", "border-danger bg-danger-soft text-danger"],
} as const;

/** One sentence that says what is wrong, and leads there. */
export function Verdict() {
  const queues = useRead(
    "/api/v1/stats/queues",
    { params: { query: { window: "1h", limit: 500 } } },
    { topics: ["queues", "workers"], refetchInterval: 15_000 },
  );
  const stats = useRead("/api/v1/stats", { params: { query: { window: "1h" } } });
  return (
    <QueryView query={queues} skeleton={<Skeleton lines={1} />}>
      {(data) => {
        const verdict = verdictOf(data.items, stats.data?.total.dead_letter ?? 0);
        const [glyph, look] = LOOKS[verdict.level];
        return (
          <p
            role="status"
            className={`rounded-md border-l-4 px-3 py-2 text-base font-medium ${look}`}
          >
            <Link href={verdict.href} className="hover:underline">
              <span aria-hidden="true">{glyph} </span>
              <bdi>{verdict.text}</bdi>
            </Link>
          </p>
        );
      }}
    </QueryView>
  );
}
