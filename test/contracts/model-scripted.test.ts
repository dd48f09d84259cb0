import { readScripted } from "../../src/host/models/read-scripted.ts";
import { createScriptedModel } from "../../src/host/models/scripted.ts";
import { SourceText } from "../../src/text/tree.ts";
import { modelContract, type Reply } from "./model.ts";
import { breath, manualClock } from "./model-clock.ts";

const STALL = 10_000;

/** The reply as a turn of a script. */
function asTurn(reply: Reply): { [key: string]: unknown } {
  const { text, calls, result, giveUp, usage, error, silent } = reply;
  return {
    ...(text === undefined ? {} : { say: text }),
    ...(calls === undefined
      ? {}
      : {
          calls: calls.map(({ tool, args, argsText }) =>
            argsText === undefined ? { tool, with: args } : { tool, args_text: argsText },
          ),
        }),
    ...(result === undefined ? {} : { finish: result }),
    ...(giveUp === undefined ? {} : { give_up: giveUp }),
    ...(usage === undefined ? {} : { tokens: usage ?? "none" }),
    ...(error === undefined ? {} : { error: { code: error } }),
    ...(silent === undefined ? {} : { stall: "1h" }),
  };
}

modelContract("scripted", {
  brokenArguments: true,
  missingUsage: true,
  async make(reply) {
    const clock = manualClock();
    const file = new SourceText(
      "x.scripted.yaml",
      JSON.stringify({ agents: { triage: [{ turns: [asTurn(reply)] }] } }),
    );
    const { script, diagnostics } = readScripted(file);
    if (script === null) throw new Error(JSON.stringify(diagnostics));
    return { port: createScriptedModel(script, { clock, stall: STALL }), clock, stall: STALL, waits: breath };
  },
  close: async () => {},
});
