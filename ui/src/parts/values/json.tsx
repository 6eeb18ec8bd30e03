import { Scroller } from "@/parts/panels/scroller";
import { visibleText } from "./text";
import { CopyButton } from "./values";

/** A JSON value as text, indented. */
export function Json({ value, label }: { value: unknown; label: string }) {
  const text = JSON.stringify(value, null, 2) ?? "null";
  return (
    <div className="relative">
      <div className="absolute top-1 right-1">
        <CopyButton text={text} />
      </div>
      <Scroller
        label={label}
        className="max-h-96 overflow-auto rounded-md border border-line bg-raised p-3 pr-16"
      >
        <pre dir="ltr" className="whitespace-pre-wrap">
          {visibleText(text)}
        </pre>
      </Scroller>
    </div>
  );
}

/** An `http:` or `https:` address, and nothing that a browser would run. */
export function webAddress(value: unknown): string | null {
  if (typeof value !== "string" || !/^https?:\/\//i.test(value)) return null;
  return URL.canParse(value) ? new URL(value).href : null;
}
