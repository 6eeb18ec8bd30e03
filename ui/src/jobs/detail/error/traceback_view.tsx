import { useMemo, useState } from "react";
import { visibleText } from "@/parts/values/text";
import { CopyButton } from "@/parts/values/values";
import { type Frame, parseTrace, shortFile } from "./traceback";

/** A traceback: the frames of one's own code first and open, those of libraries folded. */
export function TracebackView({ trace }: { trace: string }) {
  const [whole, setWhole] = useState(false);
  const blocks = useMemo(() => parseTrace(trace), [trace]);
  const parsed = blocks.some((block) => "frames" in block && block.frames.length > 0);
  return (
    <div className="min-w-0 rounded-md border border-line bg-raised">
      <div className="flex flex-wrap items-center justify-between gap-2 border-b border-line px-2">
        <span className="font-medium">Traceback</span>
        <span>
          {parsed && (
            <button
              type="button"
              aria-pressed={whole}
              className="button button-quiet min-h-6 text-[13px]"
              onClick={() => setWhole(!whole)}
            >
              {whole ? "Fold" : "As text"}
            </button>
          )}
          <CopyButton text={trace} label="Copy traceback" />
        </span>
      </div>
      {whole || !parsed ? (
        <pre
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
          tabIndex={0}
          dir="ltr"
          className="max-h-96 overflow-auto p-2"
        >
          {visibleText(trace)}
        </pre>
      ) : (
        <div dir="ltr" className="space-y-2 p-2">
          {blocks.map((block, place) =>
            "text" in block ? (
              <pre key={place} className="whitespace-pre-wrap">
                {visibleText(block.text)}
              </pre>
            ) : (
              <Frames key={place} frames={block.frames} />
            ),
          )}
        </div>
      )}
    </div>
  );
}

function Frames({ frames }: { frames: readonly Frame[] }) {
  // The call that failed is last in Python's order, and first here.
  const own = frames.filter((frame) => frame.own).reverse();
  const library = frames.filter((frame) => !frame.own).reverse();
  return (
    <>
      {own.length > 0 && (
        <ol className="space-y-1">
          {own.map((frame, place) => (
            <FrameView key={place} frame={frame} />
          ))}
        </ol>
      )}
      {library.length > 0 && (
        <details open={own.length === 0}>
          <summary className="min-h-6 text-muted">
            {library.length} {library.length === 1 ? "frame" : "frames"} of libraries
          </summary>
          <ol className="mt-1 space-y-1 opacity-90">
            {library.map((frame, place) => (
              <FrameView key={place} frame={frame} />
            ))}
          </ol>
        </details>
      )}
    </>
  );
}

function FrameView({ frame }: { frame: Frame }) {
  return (
    <li className="border-l-2 border-line-strong pl-2">
      <div className="mono break-words" title={visibleText(frame.file)}>
        {visibleText(shortFile(frame.file))}
        <span className="text-muted">:{frame.line} in </span>
        {visibleText(frame.name)}
      </div>
      {frame.code && (
        <pre className="whitespace-pre-wrap text-accent">{visibleText(frame.code)}</pre>
      )}
    </li>
  );
}
