import { SourceText } from "../tree.ts";

/** A source whose text between `«` and `»` is the place a test expects; the marks are taken out. */
export function markedText(text: string, file = "test.yaml"): { source: SourceText; places: [number, number][] } {
  const places: [number, number][] = [];
  let out = "";
  const open: number[] = [];
  for (const char of text) {
    if (char === "«") open.push(out.length);
    else if (char === "»") places.push([open.pop() ?? 0, out.length]);
    else out += char;
  }
  places.sort((a, b) => a[0] - b[0]);
  return { source: new SourceText(file, out), places };
}
