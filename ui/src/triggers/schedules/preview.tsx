import { useEffect, useRef, useState } from "react";
import { Problem } from "@/api/problem";
import { get } from "@/api/read";
import { durationWords, Time } from "@/parts/values/time";
import type { Preview } from "./trigger_words";

/** Long enough to skip keys typed in one go; with the request it stays below 150 ms. */
const TYPING_MS = 60;

export interface PreviewQuery {
  cron?: string;
  interval_seconds?: number;
  at?: string;
  timezone?: string;
  dedupe_window_seconds?: number | null;
  tenant?: string;
}

export interface PreviewState {
  /** The last preview that could be made. */
  preview: Preview | null;
  /** True if it is not of what is typed now. */
  old: boolean;
  problem: Problem | null;
}

/** What a schedule means, asked of the server while it is typed; null asks nothing. */
export function usePreview(query: PreviewQuery | null): PreviewState {
  const key = query === null ? null : JSON.stringify(query);
  const [state, setState] = useState<{ key: string | null } & Omit<PreviewState, "old">>({
    key: null,
    preview: null,
    problem: null,
  });
  const wanted = useRef(query);
  wanted.current = query;
  useEffect(() => {
    if (key === null) return undefined;
    const cancel = new AbortController();
    const timer = setTimeout(() => {
      const init = { params: { query: wanted.current }, signal: cancel.signal };
      get("/api/v1/schedules/preview", init).then(
        (preview) => setState({ key, preview, problem: null }),
        (error: unknown) => {
          if (cancel.signal.aborted || !(error instanceof Problem)) return;
          setState(({ preview }) => ({ key, preview, problem: error }));
        },
      );
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      cancel.abort();
    };
  }, [key]);
  if (key === null) return { preview: null, old: false, problem: null };
  const problem = state.key === key ? state.problem : null;
  return { preview: state.preview, old: state.key !== key || problem !== null, problem };
}

/** Words, the next runs with the gaps between them, and warnings. */
export function PreviewPanel({
  state: { preview, old, problem },
  words,
}: {
  state: PreviewState;
  /** What stands there without a preview. */
  words: string;
}) {
  return (
    <section
      aria-label="Preview"
      aria-busy={old && problem === null}
      className="min-w-0 rounded-md border border-line bg-raised p-3"
    >
      <div aria-live="polite" className={problem && preview ? "opacity-50" : ""}>
        <p className="font-medium">{preview ? `“${preview.words}”` : words}</p>
        {preview && preview.runs.length > 0 && <Runs preview={preview} />}
      </div>
      {problem && preview && (
        <p className="mt-2 text-[13px] text-muted">This is what it was before the last change.</p>
      )}
      {!problem && preview && preview.warnings.length > 0 && (
        <ul role="status" className="mt-2 space-y-1 rounded-md bg-warn-soft px-3 py-1.5 text-warn">
          {preview.warnings.map((warning) => (
            <li key={warning}>▲ {warning}</li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Runs({ preview: { runs, timezone } }: { preview: Preview }) {
  return (
    <div className="overflow-x-auto">
      <table className="mt-2 w-full text-[13px]">
        <caption className="sr-only">Next runs</caption>
        <thead>
          <tr className="text-left text-muted">
            <th scope="col" className="pr-3 font-medium">
              {timezone}
            </th>
            {timezone !== "UTC" && (
              <th scope="col" className="pr-3 font-medium">
                UTC
              </th>
            )}
            <th scope="col" className="pr-3 font-medium">
              From now
            </th>
            <th scope="col" className="font-medium">
              Gap
            </th>
          </tr>
        </thead>
        <tbody>
          {runs.map(({ at, local, note }, place) => {
            const before = runs[place - 1];
            const gap = before ? (Date.parse(at) - Date.parse(before.at)) / 1000 : null;
            return (
              <tr key={at} className="align-top">
                <td className="pr-3 whitespace-nowrap">
                  {local}
                  {note && <span className="block whitespace-normal text-warn">{note}</span>}
                </td>
                {timezone !== "UTC" && (
                  <td className="pr-3 whitespace-nowrap">{at.slice(5, 16).replace("T", " ")}</td>
                )}
                <td className="pr-3">
                  <Time at={at} />
                </td>
                <td className="whitespace-nowrap text-muted">
                  {gap === null ? "" : `+${durationWords(gap)}`}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
