import { useState } from "react";
import { root } from "@/api/client";
import { Tabs } from "@/parts/panels/tabs";
import { CopyButton } from "@/parts/values/values";
import { commandSnippet, curlSnippet, type JobCall, pythonSnippet } from "./snippets";

type Language = "python" | "curl" | "cli";

/** The same call in Python, curl and the command line, to copy. */
export function JobCode({ call }: { call: JobCall }) {
  const [language, setLanguage] = useState<Language>("python");
  const text = {
    python: () => pythonSnippet(call),
    curl: () => curlSnippet(call, location.origin + root),
    cli: () => commandSnippet(call),
  }[language]();
  return (
    <Tabs
      label="Copy as"
      tabs={[
        ["python", "Python"],
        ["curl", "curl"],
        ["cli", "Command line"],
      ]}
      chosen={language}
      choose={setLanguage}
    >
      <div className="flex items-start gap-2 rounded-md border border-line bg-raised p-2">
        <pre className="min-w-0 flex-1 overflow-x-auto whitespace-pre-wrap">{text}</pre>
        <CopyButton text={text} />
      </div>
    </Tabs>
  );
}
