import type { Settlement, UnknownOutcome } from "../../app/engine.ts";
import type { Json } from "../../base/json.ts";
import { withEngine } from "../engine-command.ts";
import { type CommonOptions, readDocument, usage, userName } from "../options.ts";
import { jsonText, oneLine, type Paint } from "../terminal.ts";
import { resolveLine, resumeLine } from "../waiting-text.ts";
import { sayFate } from "./fate.ts";

/** Lists effects of which nobody knows whether they happened. */
export function unknownsCommand(options: CommonOptions): Promise<number> {
  return withEngine(options, "ambit unknowns", async (engine, terminal) => {
    const unknowns = await engine.unknowns();
    if (terminal.json) terminal.out(`${jsonText({ unknowns })}\n`);
    else if (unknowns.length === 0) terminal.err("No effect has an unknown outcome.\n");
    else for (const effect of unknowns) terminal.out(effectText(effect, terminal.color, options));
    return 0;
  });
}

function effectText(effect: UnknownOutcome, color: Paint, options: CommonOptions): string {
  const { run, name, status, position, action, code, key, settled } = effect;
  const about = [`${oneLine(name, 40)}, ${oneLine(status)}`, ...(key === null ? [] : [`key ${oneLine(key)}`])];
  const lines = [
    `${color.bold(oneLine(run))}  ${oneLine(position, 80)}  ${oneLine(action)} ${color.yellow(oneLine(code))}  ${color.dim(about.join(" · "))}`,
  ];
  if (settled === null) lines.push(`  ${color.dim(resolveLine(run, position, options, status === "suspended"))}`);
  else {
    lines.push(`  ${oneLine(`settled by ${settled.by} at ${settled.at}: ${settled.how}`)}; not taken by the run yet`);
    lines.push(`  ${color.dim(resumeLine(run, options))}`);
  }
  return `${lines.join("\n")}\n`;
}

export interface ResolveOptions extends CommonOptions {
  succeeded?: string;
  failed?: string;
  retry?: boolean;
  comment?: string;
}

export function resolveCommand(run: string, position: string, options: ResolveOptions): Promise<number> {
  return withEngine(options, "ambit resolve", async (engine, terminal) => {
    const settlement: Settlement = { ...settlementOf(options), comment: options.comment ?? null, by: userName() };
    const receipt = await engine.settle(run, position, settlement);
    const { how, by } = settlement;
    const word = how === "retry" ? "to be done again" : `settled as ${how}`;
    return sayFate(terminal, receipt, await engine.fateOf(receipt), options, { type: "settlement", how, by }, word);
  });
}

type Said = { how: "succeeded"; value: Json } | { how: "failed"; code: string } | { how: "retry" };

function settlementOf({ succeeded, failed, retry }: ResolveOptions): Said {
  const given = [succeeded, failed, retry].filter((option) => option !== undefined);
  if (given.length !== 1) throw usage("Say one of --succeeded JSON, --failed CODE and --retry.");
  if (succeeded !== undefined) return { how: "succeeded", value: readDocument(succeeded, "--succeeded") };
  return failed === undefined ? { how: "retry" } : { how: "failed", code: failed };
}
