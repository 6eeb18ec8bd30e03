/** A frame of a traceback: where, in what, and its line of code. */
export interface Frame {
  file: string;
  line: number;
  name: string;
  code: string;
  /** False for frames of Python, of packages, and of Windlass itself. */
  own: boolean;
}

/** A part of a traceback: frames, and what stands between them. */
export type TraceBlock = { frames: Frame[] } | { text: string };

const FRAME = /^ {2}File "(.+)", line (\d+)(?:, in (.*))?$/;
const LIBRARY =
  /(^|\/)(site-packages|dist-packages|lib\/python3?[^/]*|windlass)\/|^<frozen |^<string>/;

/** Read a Python traceback; text that is none comes back as one block of text. */
export function parseTrace(trace: string): TraceBlock[] {
  const blocks: TraceBlock[] = [];
  let frames: Frame[] | null = null;
  let text: string[] = [];
  const endText = (): void => {
    const joined = text.join("\n").trim();
    if (joined !== "" && joined !== "Traceback (most recent call last):")
      blocks.push({ text: joined.replace(/^Traceback \(most recent call last\):\n?/m, "") });
    text = [];
  };
  for (const line of trace.replaceAll("\r\n", "\n").split("\n")) {
    const found = FRAME.exec(line);
    if (found) {
      if (frames === null) {
        endText();
        frames = [];
        blocks.push({ frames });
      }
      const [, file = "", number = "0", name = ""] = found;
      frames.push({ file, line: Number(number), name, code: "", own: !LIBRARY.test(file) });
    } else if (frames !== null && /^ {4}/.test(line)) {
      const frame = frames.at(-1);
      // Below the code stands a line of marks, `~~~^^^`, which needs its column: it is left out.
      if (frame && !/^[\s~^]+$/.test(line)) frame.code += (frame.code && "\n") + line.trim();
    } else {
      frames = null;
      text.push(line);
    }
  }
  endText();
  return blocks;
}

/** File of a frame in short: the last folders of a path. */
export function shortFile(file: string): string {
  const parts = file.split("/");
  return parts.length > 4 ? `…/${parts.slice(-3).join("/")}` : file;
}
