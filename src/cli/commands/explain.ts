import { nearestName } from "../../base/nearest.ts";
import { CODES, isRegistered } from "../../errors/codes.ts";
import { type CommonOptions, terminalOf, usage } from "../options.ts";
import { printRefusal } from "../refusal.ts";
import { jsonText } from "../terminal.ts";

/** The page of a code, or a table; offline. */
export async function explainCommand(topic: string | undefined, options: CommonOptions): Promise<number> {
  const terminal = terminalOf(options);
  const { color } = terminal;
  try {
    if (topic === undefined) {
      if (terminal.json) terminal.out(`${jsonText(CODES)}\n`);
      else for (const [code, page] of Object.entries(CODES)) terminal.out(`${code.padEnd(32)} ${page.summary}\n`);
      return 0;
    }
    if (topic === "functions") {
      const { functionsText } = await import("../functions-text.ts");
      terminal.out(functionsText(terminal.json));
      return 0;
    }
    if (!isRegistered(topic)) {
      const near = nearestName(topic, Object.keys(CODES));
      throw usage(
        `There is no code ${JSON.stringify(topic)}.${near === null ? "" : ` Did you mean ${near}?`} ambit explain lists all.`,
      );
    }
    const page = CODES[topic];
    if (terminal.json) {
      terminal.out(`${jsonText({ code: topic, ...page })}\n`);
      return 0;
    }
    const part = (title: string, text: string): string =>
      text === "" ? "" : `\n${color.bold(title)}\n${indent(text)}\n`;
    terminal.out(
      `${color.bold(topic)} (since ${page.since})\n${indent(page.summary)}\n${part("Why", page.cause)}${part("What to do", page.fix)}${part("Example", page.example)}`,
    );
    return 0;
  } catch (error) {
    return printRefusal(terminal, error);
  }
}

function indent(text: string): string {
  return text
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n");
}
