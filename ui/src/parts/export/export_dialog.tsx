import { useRef, useState } from "react";
import type { Problem } from "@/api/problem";
import { Dialog } from "@/parts/dialogs/dialog";
import { ErrorState } from "@/parts/panels/panel";
import { numberWords } from "@/parts/values/values";
import { asCsv, asJsonLines, download, type Entry } from "./files";

/** More entries than this are for the command line. */
const MOST = 10_000;

type Page = { items: Entry[]; next_cursor?: string | null };

/** Writes all that matches to a file, page by page, with its progress and a way to stop. */
export function ExportDialog({
  noun,
  read,
  close,
}: {
  /** Plural, such as `jobs`; also the name of the file. */
  noun: string;
  read: (cursor: string | null, signal: AbortSignal) => Promise<Page>;
  close: () => void;
}) {
  const [format, setFormat] = useState<"csv" | "jsonl">("csv");
  const [count, setCount] = useState<number | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const running = useRef<AbortController | null>(null);
  const stop = (): void => {
    running.current?.abort();
    close();
  };
  const run = async (): Promise<void> => {
    const control = new AbortController();
    running.current = control;
    setProblem(null);
    setCount(0);
    const entries: Entry[] = [];
    let cursor: string | null = null;
    try {
      do {
        const page: Page = await read(cursor, control.signal);
        entries.push(...page.items);
        cursor = page.next_cursor ?? null;
        setCount(Math.min(entries.length, MOST));
      } while (cursor !== null && entries.length < MOST && !control.signal.aborted);
      if (control.signal.aborted) return;
      const all = entries.slice(0, MOST);
      download(
        `${noun}.${format}`,
        format === "csv" ? asCsv(all) : asJsonLines(all),
        format === "csv" ? "text/csv" : "application/jsonl",
      );
      close();
    } catch (error) {
      if (!control.signal.aborted) setProblem(error as Problem);
      setCount(null);
    }
  };
  return (
    <Dialog title={`Export ${noun}`} close={stop}>
      <p>
        All {noun} that match the filter, the newest first, {numberWords(MOST)} at most.
      </p>
      <fieldset className="mt-3 flex gap-6" disabled={count !== null}>
        <legend className="mb-1 font-medium">Format</legend>
        {(["csv", "jsonl"] as const).map((each) => (
          <label key={each} className="flex min-h-8 items-center gap-2">
            <input
              type="radio"
              name="format"
              checked={format === each}
              onChange={() => setFormat(each)}
            />
            {each === "csv" ? "CSV" : "JSON, one in a line"}
          </label>
        ))}
      </fieldset>
      {count !== null && (
        <p role="status" className="mt-3 text-muted">
          {numberWords(count)} read…
        </p>
      )}
      {problem && (
        <div className="mt-3">
          <ErrorState problem={problem} />
        </div>
      )}
      <div className="mt-4 flex justify-end gap-2">
        <button type="button" className="button" onClick={stop}>
          {count === null ? "Cancel" : "Stop"}
        </button>
        <button
          type="button"
          className="button button-primary"
          disabled={count !== null}
          onClick={() => void run()}
        >
          Export
        </button>
      </div>
    </Dialog>
  );
}
