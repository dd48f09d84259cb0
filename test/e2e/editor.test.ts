/**
 * The schemas as editors use them: through the real YAML language server. One fault in a file is one message, in its
 * place, and a file without faults has none.
 */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { SCHEMAS } from "../../src/cli/commands/schema.ts";
import { diagnose } from "../../src/syntax/diagnose.ts";
import { SourceText, type TreeNode } from "../../src/text/tree.ts";
import { parseYaml } from "../../src/text/yaml.ts";

const root = resolve(import.meta.dirname, "../..");
const require = createRequire(import.meta.url);

interface Message {
  range: { start: { line: number; character: number }; end: { line: number; character: number } };
  message: string;
}

interface Service {
  configure(settings: object): void;
  doValidation(document: object, kubernetes: boolean): Promise<Message[]>;
}

interface Server {
  getLanguageService(options: object): Service;
}

function installed(): string | null {
  try {
    return require.resolve("yaml-language-server");
  } catch {
    return null;
  }
}

const server = installed();

type Create = (uri: string, language: string, version: number, text: string) => object;

class Editor {
  readonly #service: Service;
  readonly #make: Create;
  // The server keeps what it has parsed by address and version, for all its services together.
  static #opened = 0;

  constructor(path: string, schemas: { [name: string]: object }) {
    const { getLanguageService } = require(path) as Server;
    const beside = createRequire(path)("vscode-languageserver-textdocument") as {
      TextDocument: { create: Create };
    };
    this.#make = beside.TextDocument.create;
    this.#service = getLanguageService({
      schemaRequestService: async (uri: string) => readFileSync(fileURLToPath(uri), "utf8"),
      workspaceContext: {
        resolveRelativePath: (relative: string, resource: string) => new URL(relative, resource).href,
      },
      telemetry: { send() {}, sendError() {}, sendTrack() {} },
    });
    const associated = Object.entries(schemas).map(([name, schema]) => ({
      fileMatch: [`**/*.${name}.yaml`],
      uri: `schema://${name}`,
      schema,
    }));
    this.#service.configure({ validate: true, schemas: associated });
  }

  /** Each message with the words it stands at. The file is at `folder` of the checkout. */
  async says(text: string, kind = "workfile", folder = "examples/triage"): Promise<string[]> {
    const uri = `file://${join(root, folder)}/${Editor.#opened++}.${kind}.yaml`;
    const found = await this.#service.doValidation(this.#make(uri, "yaml", 1, text), false);
    const lines = text.split("\n");
    return found.map(({ range, message }) => {
      const words = lines[range.start.line]?.slice(range.start.character, range.end.character) ?? "";
      return `${range.start.line === range.end.line ? words : "(lines)"}: ${message}`;
    });
  }
}

const workfiles = ["conformance", "examples"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /^workflow\.yaml$|\.workfile\.yaml$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ file, text: readFileSync(file, "utf8") }))
    .filter(({ text }) => diagnose(text, "x.yaml").plan !== null),
);

/** Each key of a text with another one in its place. */
function* misspelt(text: string, node: TreeNode | null): Generator<{ key: string; text: string }> {
  if (node?.kind === "list") for (const item of node.items) yield* misspelt(text, item);
  if (node?.kind !== "map") return;
  for (const { key, keyStart, keyEnd, value } of node.entries) {
    const other = `${key}x`;
    yield { key: other, text: text.slice(0, keyStart) + other + text.slice(keyEnd) };
    yield* misspelt(text, value);
  }
}

const HEAD = 'workfile: "1"\nname: x\nsteps:\n';
const AGENT = "returns: { a: string }, budget: { steps: 1 }";

describe.skipIf(server === null)("an editor with the YAML language server", { timeout: 120_000 }, () => {
  let editor: Editor;

  beforeAll(async () => {
    const schemas: { [name: string]: object } = {};
    for (const [name, make] of Object.entries(SCHEMAS)) schemas[name] = await make();
    editor = new Editor(server ?? "", schemas);
  });

  test("has nothing to say of the Workfiles of cases and examples", async () => {
    expect(workfiles.length).toBeGreaterThan(100);
    for (const { file, text } of workfiles) expect(await editor.says(text), file).toEqual([]);
  });

  test("of a misspelt key it says one thing, at that key", async () => {
    let seen = 0;
    // Each tenth is enough: their keys are much the same.
    for (const { file, text } of workfiles.filter((_, i) => i % 10 === 0)) {
      const { root: tree } = parseYaml(new SourceText(file, text));
      for (const one of misspelt(text, tree)) {
        const { diagnostics } = diagnose(one.text, "x.yaml");
        const unknown = diagnostics.some(
          ({ code, path }) => code === "workfile.unknown_key" && path.includes(one.key) && !path.startsWith("triggers"),
        );
        if (!unknown) continue;
        seen++;
        expect(await editor.says(one.text), `${file}: ${one.key}`).toEqual([
          `${one.key}: Property ${one.key} is not allowed.`,
        ]);
      }
    }
    expect(seen).toBeGreaterThan(100);
  });

  test.each([
    [`- a: { wf.agnet: b, goal: c, ${AGENT} }`, "wf.agnet: Property wf.agnet is not allowed."],
    [`- a: { wf.agent: b, gaol: c, ${AGENT} }`, "gaol: Property gaol is not allowed."],
    [`- a: { agent: b, goal: c, ${AGENT}, on_exhuasted: [] }`, "on_exhuasted: Property on_exhuasted is not allowed."],
    ["- a: { wf.agent: b, goal: c, returns: { a: strin }, budget: { steps: 1 } }", /^strin: Value is not accepted\./],
    ["- a: { run: ruby, code: x }", 'ruby: Value is not accepted. Valid values: "python", "javascript".'],
    ["- a: { wf.if: inputs.x, then: [] }", /^inputs\.x: A condition is an expression in quotes/],
    ["- a: { crm.search: {}, timeout: 30 }", '30: Incorrect type. Expected "string".'],
    ["- a: { crm.search: {}, timeout: 30 s }", "30 s: A duration has units: 500ms, 30s, 5m, 1h30m, 2d."],
    [
      "- a: { wf.if: true, then: [ { b: { wf.each: [1], steps: [ { c: { crm.x: {}, iff: true } } ] } } ] }",
      "iff: Property iff is not allowed.",
    ],
    ["- a: { if: true }", /^a: The step does not say what it does/],
    ["- a: { wf.notify: x, wf.stop: }", "wf.stop: Property wf.stop is not allowed."],
    ["- a: { crm.x: {}, catch: [ { codes: ['*'] } ] }", /: A handler needs `steps`, `value` or both\.$/],
    ["- a: { crm.x: {}, cleanup: [ { on: failur, steps: [] } ] }", /^failur: Value is not accepted\./],
    ["- crm.search: { query: x }", /^crm\.search: An id has letters/],
    ["- inputs: { wf.notify: x }", /^inputs: An id has letters/],
  ])("says one thing of %s", async (step, message) => {
    const said = await editor.says(`${HEAD}  ${step}\n`);
    expect(said).toEqual([typeof message === "string" ? message : expect.stringMatching(message)]);
  });

  test.each([
    ["connecters: {}", "connecters: Property connecters is not allowed."],
    ["agents: { a: { provider: anthropic, modle: m } }", "modle: Property modle is not allowed."],
    ["agents: { a: { provider: antropic, model: m } }", /^antropic: Value is not accepted\./],
    ["connectors: { crm: { mcp: { comand: node } } }", "comand: Property comand is not allowed."],
    ["connectors: { files: { rot: . } }", "rot: Property rot is not allowed."],
    ["agents: { a: { provider: openai, model: m, api_key: sk-1 } }", /: A secret is a reference: \{ env: NAME \}/],
    ["limits: { deadline: 60 }", '60: Incorrect type. Expected "string".'],
  ])("says one thing of the deployment %s", async (text, message) => {
    const said = await editor.says(`${text}\n`, "deployment");
    expect(said).toEqual([typeof message === "string" ? message : expect.stringMatching(message)]);
  });

  test("says one thing of a misspelt key of a manifest", async () => {
    const text = "connector: crm\nversion: 1.0.0\nactions:\n  find: { input: {}, efects: read }\n";
    expect(await editor.says(text, "manifest")).toEqual(["efects: Property efects is not allowed."]);
    expect(await editor.says(text.replace("efects", "effects"), "manifest")).toEqual([]);
  });

  test("finds the schema that a first line names", async () => {
    const bare = new Editor(server ?? "", {});
    const text =
      '# yaml-language-server: $schema=../../schema/workfile.schema.json\nworkfile: "1"\nname: x\nstep: []\n';
    expect(await bare.says(text)).toEqual(["step: Property step is not allowed."]);
  });
});
