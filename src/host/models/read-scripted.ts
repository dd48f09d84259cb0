import { sha256 } from "../../base/hash.ts";
import { type Diagnostic, hasErrors, sortDiagnostics } from "../../errors/diagnostic.ts";
import { itemPath, keyPath } from "../../text/path.ts";
import { Reader } from "../../text/reader.ts";
import type { MapEntry, SourceText, TreeNode } from "../../text/tree.ts";
import { parseYaml } from "../../text/yaml.ts";
import type { Script, ScriptCall, ScriptCondition, ScriptError, ScriptPart, ScriptTurn } from "./script.ts";
import { compileTemplate, type ValueTemplate } from "./script-template.ts";

const TURN_KEYS = [
  "say",
  "call",
  "with",
  "args_text",
  "calls",
  "finish",
  "give_up",
  "error",
  "wait",
  "stall",
  "tokens",
  "when",
  "repeat",
  "forever",
] as const;

const CODE = "deployment.invalid";

/**
 * Reads a `*.scripted.yaml`. All findings come at once, with the code `deployment.invalid` (or a `yaml.*` one where
 * the text is no YAML of ours); `script` is null if one of them is an error.
 */
export function readScripted(source: SourceText): { script: Script | null; diagnostics: Diagnostic[] } {
  const tree = parseYaml(source);
  if (tree.root === null) return { script: null, diagnostics: tree.diagnostics };
  const reading = new ScriptReader(source);
  const agents = reading.agents(tree.root);
  const diagnostics = sortDiagnostics([...tree.diagnostics, ...reading.reader.diagnostics]);
  return { script: hasErrors(diagnostics) ? null : { agents, digest: `sha256:${sha256(source.text)}` }, diagnostics };
}

class ScriptReader {
  readonly reader: Reader;

  constructor(source: SourceText) {
    this.reader = new Reader(source, { unknownKey: CODE, missingKey: CODE, wrongType: CODE, badValue: CODE });
  }

  agents(root: TreeNode): Map<string, ScriptPart[]> {
    const agents = new Map<string, ScriptPart[]>();
    const top = this.reader.closed(root, "", "a scripted agent file", ["agents"], ["agents"])?.get("agents");
    if (top === undefined) return agents;
    for (const entry of this.reader.open(top.value, "agents", "`agents`") ?? []) {
      const path = keyPath("agents", entry.key);
      const parts = this.reader.list(entry.value, path, "the script of an agent") ?? [];
      agents.set(
        entry.key,
        parts.map((part, i) => this.#part(part, itemPath(path, i))),
      );
    }
    return agents;
  }

  #part(node: TreeNode, path: string): ScriptPart {
    const keys = this.reader.closed(node, path, "an entry of a script", ["step", "turns"], ["turns"]);
    const step = keys?.get("step");
    const turns = keys?.get("turns");
    const turnsPath = keyPath(path, "turns");
    return {
      step: step === undefined ? null : this.reader.text(step.value, keyPath(path, "step"), "the step"),
      turns: (turns === undefined ? [] : (this.reader.list(turns.value, turnsPath, "the turns") ?? [])).map((turn, i) =>
        this.#turn(turn, itemPath(turnsPath, i)),
      ),
    };
  }

  #turn(node: TreeNode, path: string): ScriptTurn {
    const keys = this.reader.closed(node, path, "a turn", TURN_KEYS) ?? new Map<string, MapEntry>();
    const at = (key: (typeof TURN_KEYS)[number]): TreeNode | undefined => keys.get(key)?.value;
    const template = (key: (typeof TURN_KEYS)[number]): ValueTemplate | null => {
      const found = at(key);
      return found === undefined ? null : this.#template(found, keyPath(path, key));
    };
    const duration = (key: "wait" | "stall"): number => {
      const found = at(key);
      return found === undefined ? 0 : (this.reader.duration(found, keyPath(path, key), `\`${key}\``, { min: 0 }) ?? 0);
    };
    const error = at("error");
    const when = at("when");
    return {
      say: template("say"),
      calls: this.#calls(keys, path),
      finish: this.#finish(at("finish"), keyPath(path, "finish")),
      giveUp: template("give_up"),
      error: error === undefined ? null : this.#error(error, keyPath(path, "error")),
      wait: duration("wait"),
      stall: duration("stall"),
      tokens: this.#tokens(at("tokens"), keyPath(path, "tokens")),
      when: when === undefined ? null : this.#condition(when, keyPath(path, "when")),
      times: this.#times(at("repeat"), at("forever"), path),
    };
  }

  #calls(keys: Map<string, MapEntry>, path: string): ScriptCall[] {
    const call = keys.get("call");
    const calls = keys.get("calls");
    if (call !== undefined && calls !== undefined) {
      this.reader.report(
        CODE,
        key(calls),
        keyPath(path, "calls"),
        "A turn has either `call` or `calls`.",
        "Put all of them into `calls`.",
      );
    }
    if (call !== undefined) return this.#call(call, keys.get("with"), keys.get("args_text"), path);
    for (const name of ["with", "args_text"]) {
      const loose = keys.get(name);
      if (loose === undefined) continue;
      const help = `Write \`calls: [{ tool: ..., ${name}: ... }]\`, or \`call: ...\` beside it.`;
      this.reader.report(
        CODE,
        key(loose),
        keyPath(path, name),
        `\`${name}\` belongs to a \`call\`, and this turn has none.`,
        help,
      );
    }
    if (calls === undefined) return [];
    const callsPath = keyPath(path, "calls");
    return (this.reader.list(calls.value, callsPath, "`calls`") ?? []).flatMap((item, i) => {
      const itemAt = itemPath(callsPath, i);
      const parts = this.reader.closed(item, itemAt, "a call", ["tool", "with", "args_text"], ["tool"]);
      const tool = parts?.get("tool");
      return tool === undefined ? [] : this.#call(tool, parts?.get("with"), parts?.get("args_text"), itemAt);
    });
  }

  #call(tool: MapEntry, args: MapEntry | undefined, raw: MapEntry | undefined, path: string): ScriptCall[] {
    const name = this.reader.text(tool.value, keyPath(path, tool.key), "the name of a tool");
    if (args !== undefined && raw !== undefined) {
      const message = "A call has either `with` or `args_text`.";
      this.reader.report(
        CODE,
        key(raw),
        keyPath(path, "args_text"),
        message,
        "`args_text` is the whole argument text, sent as it is.",
      );
    }
    if (name === null) return [];
    if (raw !== undefined) {
      const argsText = this.reader.text(raw.value, keyPath(path, "args_text"), "`args_text`");
      return argsText === null ? [] : [{ tool: name, argsText }];
    }
    return [{ tool: name, with: args === undefined ? { map: [] } : this.#template(args.value, keyPath(path, "with")) }];
  }

  /** A list is several offers; anything else is one. */
  #finish(node: TreeNode | undefined, path: string): ValueTemplate[] {
    if (node === undefined) return [];
    if (node.kind === "list") return node.items.map((item, i) => this.#template(item, itemPath(path, i)));
    return [this.#template(node, path)];
  }

  #error(node: TreeNode, path: string): ScriptError {
    const keys = this.reader.closed(node, path, "`error`", ["code", "message", "retry_after"], ["code"]);
    const [code, message, after] = [keys?.get("code"), keys?.get("message"), keys?.get("retry_after")];
    return {
      code: code === undefined ? "" : (this.reader.text(code.value, keyPath(path, "code"), "the code") ?? ""),
      message: message === undefined ? null : this.#template(message.value, keyPath(path, "message")),
      retryAfter:
        after === undefined
          ? null
          : this.reader.duration(after.value, keyPath(path, "retry_after"), "`retry_after`", { min: 0 }),
    };
  }

  #tokens(node: TreeNode | undefined, path: string): ScriptTurn["tokens"] {
    if (node === undefined) return { input: 0, output: 0 };
    if (node.kind === "scalar" && node.value === "none") return null;
    const bounds = { min: 0 };
    if (node.kind === "map") {
      const keys = this.reader.closed(node, path, "`tokens`", ["input", "output"]);
      const [input, output] = (["input", "output"] as const).map((name) => {
        const found = keys?.get(name);
        return found === undefined
          ? 0
          : (this.reader.integer(found.value, keyPath(path, name), `\`${name}\``, bounds) ?? 0);
      });
      return { input: input ?? 0, output: output ?? 0 };
    }
    if (node.kind === "scalar" && typeof node.value === "number") {
      return { input: 0, output: this.reader.integer(node, path, "`tokens`", bounds) ?? 0 };
    }
    this.reader.wrong(node, path, "`tokens`", "a whole number, { input, output } or none");
    return null;
  }

  #condition(node: TreeNode, path: string): ScriptCondition {
    const keys = this.reader.closed(node, path, "`when`", ["tool", "ok", "error", "contains"]);
    const [tool, ok, error, contains] = [keys?.get("tool"), keys?.get("ok"), keys?.get("error"), keys?.get("contains")];
    return {
      tool: tool === undefined ? null : this.reader.text(tool.value, keyPath(path, "tool"), "the name of a tool"),
      ok: ok === undefined ? null : this.reader.boolean(ok.value, keyPath(path, "ok"), "`ok`"),
      error: error === undefined ? null : this.#template(error.value, keyPath(path, "error")),
      contains: contains === undefined ? null : this.#template(contains.value, keyPath(path, "contains")),
    };
  }

  #times(repeat: TreeNode | undefined, forever: TreeNode | undefined, path: string): number {
    if (forever !== undefined) {
      if (this.reader.boolean(forever, keyPath(path, "forever"), "`forever`") === true) return Number.POSITIVE_INFINITY;
    }
    if (repeat === undefined) return 1;
    if (repeat.kind === "scalar" && repeat.value === "forever") return Number.POSITIVE_INFINITY;
    return this.reader.integer(repeat, keyPath(path, "repeat"), "`repeat`", { min: 1 }) ?? 1;
  }

  #template(node: TreeNode, path: string): ValueTemplate {
    return compileTemplate(node, ({ message, help, start, end }) => {
      this.reader.report(CODE, { start, end }, path, message, help);
    });
  }
}

/** Where the key of an entry stands. */
function key(entry: MapEntry): { start: number; end: number } {
  return { start: entry.keyStart, end: entry.keyEnd };
}
