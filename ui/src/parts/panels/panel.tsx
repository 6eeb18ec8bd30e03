import type { UseQueryResult } from "@tanstack/react-query";
import { type ReactNode, useEffect, useId, useState } from "react";
import type { Problem } from "@/api/problem";
import { absoluteWords } from "@/parts/values/time";
import { CopyButton } from "@/parts/values/values";

/** A titled part of a screen. */
export function Panel({
  title,
  actions,
  children,
  level = 2,
}: {
  title: string;
  actions?: ReactNode;
  children: ReactNode;
  level?: 2 | 3;
}) {
  const id = useId();
  const Heading = `h${level}` as const;
  return (
    <section aria-labelledby={id} className="min-w-0 rounded-md border border-line bg-surface">
      <header className="flex min-h-11 flex-wrap items-center justify-between gap-2 border-b border-line px-3 py-1.5">
        <Heading id={id}>{title}</Heading>
        {actions}
      </header>
      <div className="p-3">{children}</div>
    </section>
  );
}

/**
 * What a query shows: a skeleton while it loads, its error with a way to try again, or its data.
 * Old data stays, dimmed and dated, when reading it again fails.
 */
export function QueryView<T>({
  query,
  skeleton = <Skeleton lines={3} />,
  children,
}: {
  query: UseQueryResult<T, Problem>;
  skeleton?: ReactNode;
  children: (data: T) => ReactNode;
}) {
  if (query.data === undefined) {
    return query.isError ? (
      <ErrorState problem={query.error} retry={() => void query.refetch()} />
    ) : (
      <Late>{skeleton}</Late>
    );
  }
  if (!query.isError) return children(query.data);
  return (
    <>
      <p role="status" className="mb-2 rounded-md bg-warn-soft px-3 py-1.5 text-warn">
        As of {absoluteWords(query.dataUpdatedAt, undefined).slice(-8)}: {query.error.title}{" "}
        <button type="button" className="link" onClick={() => void query.refetch()}>
          Try again
        </button>
      </p>
      <div className="opacity-75">{children(query.data)}</div>
    </>
  );
}

/** Shows its children after 150 ms, so that a fast answer causes no flicker. Takes their room at once. */
function Late({ children }: { children: ReactNode }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 150);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div role="status" aria-label="Loading" className={late ? "" : "invisible"}>
      {children}
    </div>
  );
}

/** Grey lines in the place of text. */
export function Skeleton({ lines = 3 }: { lines?: number }) {
  return (
    <div aria-hidden="true" className="space-y-2 py-1">
      {Array.from({ length: lines }, (_, line) => (
        <div key={line} className="h-8 animate-pulse rounded bg-sunken" />
      ))}
    </div>
  );
}

/** What happened, why, what to do, and the code; the other panels go on. */
export function ErrorState({ problem, retry }: { problem: Problem; retry?: () => void }) {
  return (
    <div role="alert" className="rounded-md border border-danger bg-danger-soft p-3">
      <p className="font-medium">{problem.title}</p>
      {problem.detail && <p>{problem.detail}</p>}
      {problem.errors.map((each) => (
        <p key={`${each.pointer} ${each.message}`}>
          <code>{each.pointer}</code> {each.message}
        </p>
      ))}
      {problem.hint && <p className="text-muted">→ {problem.hint}</p>}
      <p className="mt-1 text-[13px] text-muted">
        {[problem.code, problem.requestId && `request ${problem.requestId}`]
          .filter(Boolean)
          .join(" · ")}
      </p>
      {retry && (
        <button type="button" className="button mt-2" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Nothing yet: one sentence, a snippet to copy, and a link to read on. */
export function NothingYet({ children, snippet }: { children: ReactNode; snippet?: string }) {
  return (
    <div className="py-6 text-center">
      <p>{children}</p>
      {snippet && (
        <p className="mt-3 inline-flex max-w-full items-center gap-2 rounded-md border border-line bg-raised py-1 pr-1 pl-3">
          <code>{snippet}</code>
          <CopyButton text={snippet} />
        </p>
      )}
    </div>
  );
}

/** Nothing matches the filters, which can be cleared. */
export function NothingMatches({ clear, children }: { clear: () => void; children?: ReactNode }) {
  return (
    <div className="py-6 text-center">
      <p>{children ?? "Nothing matches these filters."}</p>
      <button type="button" className="button mt-3" onClick={clear}>
        Clear filters
      </button>
    </div>
  );
}

/** The caller's role may not see this. */
export function NotPermitted({ what }: { what: string }) {
  return <p className="py-6 text-center text-muted">Your role does not include {what}.</p>;
}
