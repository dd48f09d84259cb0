// The reference pages in docs/ against the code: every legal key is named in its page, and every YAML block is what
// the word behind its fence says it is.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { PROVIDERS } from "../../src/app/deployment/agents.ts";
import { deploymentSchema } from "../../src/app/deployment/deployment-schema.ts";
import { readDeployment } from "../../src/app/deployment.ts";
import { createEngine } from "../../src/app/engine.ts";
import { type Json, type JsonObject, parseJson } from "../../src/base/json.ts";
import { BUILTIN_MANIFESTS } from "../../src/catalog/builtin-manifests.ts";
import { EFFECTS } from "../../src/catalog/manifest.ts";
import { ACTION_KEYS, MANIFEST_KEYS, readManifest } from "../../src/catalog/read-manifest.ts";
import { functionsText } from "../../src/cli/functions-text.ts";
import type { Diagnostic } from "../../src/errors/diagnostic.ts";
import { compile } from "../../src/expression/cel.ts";
import { stubOf } from "../../src/host/connectors/testing/stub-text.ts";
import { readScripted } from "../../src/host/models/read-scripted.ts";
import { OUTCOMES, SUSPEND_REASONS } from "../../src/journal/outcome.ts";
import { exitOf } from "../../src/journal/result.ts";
import { FIELD_TYPES } from "../../src/plan/field.ts";
import { diagnose } from "../../src/syntax/diagnose.ts";
import * as tables from "../../src/syntax/workfile/tables.ts";
import { SourceText, type TreeNode } from "../../src/text/tree.ts";
import { parseYaml } from "../../src/text/yaml.ts";

const root = resolve(import.meta.dirname, "../..");
const PAGES = ["workfile", "expressions", "deployment", "scripted-agents", "running"] as const;
type Page = (typeof PAGES)[number];
const MARKS = ["workfile", "fragment", "ambit.yaml", "manifest", "scripted", "stub"];

const texts = Object.fromEntries(
  PAGES.map((page) => [page, readFileSync(join(root, "docs", `${page}.md`), "utf8")]),
) as { [P in Page]: string };

interface Block {
  page: Page;
  line: number;
  mark: string;
  /** The name of the file that it stands for, if it says one. */
  file: string | null;
  text: string;
}

/** Fenced YAML: ```yaml MARK FILE. */
const blocks: Block[] = PAGES.flatMap((page) =>
  [...texts[page].matchAll(/^```yaml ?([^\n ]*) ?([^\n]*)\n([\s\S]*?)^```$/gm)].map((found) => ({
    page,
    line: texts[page].slice(0, found.index).split("\n").length,
    mark: found[1] ?? "",
    file: found[2] || null,
    text: found[3] ?? "",
  })),
);
const marked = (...marks: string[]): Block[] => blocks.filter((block) => marks.includes(block.mark));

const folder = mkdtempSync(join(tmpdir(), "ambit-docs-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const put = (file: string, text: string): void => {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
};
for (const { file, text } of blocks) if (file !== null) put(file, text);
put("weather.mjs", "export {};\n");
put("triage.workfile.yaml", "");

const said = (diagnostics: readonly Diagnostic[]): string[] =>
  diagnostics.map(({ code, line, message }) => `${code} in line ${line}: ${message}`);
const nodeOf = (text: string): { source: SourceText; node: TreeNode } => {
  const source = new SourceText("a.yaml", text);
  return { source, node: parseYaml(source).root as TreeNode };
};

/** The words that a page shows as code: in spans, and as keys of its YAML. */
function codeWords(page: Page): Set<string> {
  const spans = [...texts[page].replace(/^```[\s\S]*?^```$/gm, "").matchAll(/`([^`\n]+)`/g)].map((span) => span[1]);
  const keys = blocks
    .filter((block) => block.page === page)
    .flatMap(({ text }) => [...text.matchAll(/([A-Za-z_][\w.]*):(?=\s)/g)].map((key) => key[1]));
  return new Set([...spans, ...keys].flatMap((text) => [text ?? "", ...(text ?? "").split(/[^\w-]+/)]));
}

const unnamed = (page: Page, words: Iterable<string>): string[] => {
  const named = codeWords(page);
  return [...new Set(words)].filter((word) => !named.has(word)).sort();
};

describe("the blocks of the reference pages", () => {
  test("each says what it is", () => {
    expect(blocks.filter(({ mark }) => !MARKS.includes(mark)).map(({ page, line }) => `${page}.md:${line}`)).toEqual(
      [],
    );
    expect(blocks.filter(({ mark, text }) => (mark === "workfile") !== text.startsWith('workfile: "1"'))).toEqual([]);
    for (const mark of MARKS) expect(marked(mark).length, mark).toBeGreaterThan(0);
  });

  test.each(marked("workfile"))("$page.md:$line is a Workfile", ({ text }) => {
    const { plan, diagnostics } = diagnose(text, "a.workfile.yaml");
    expect(said(diagnostics)).toEqual([]);
    expect(plan).not.toBeNull();
  });

  test.each(marked("fragment"))("$page.md:$line is YAML", ({ text }) => {
    expect(said(parseYaml(new SourceText("a.yaml", text)).diagnostics)).toEqual([]);
  });

  test.each(marked("ambit.yaml"))("$page.md:$line is a deployment", async ({ text }) => {
    const { source, node } = nodeOf(text);
    const { deployment, diagnostics } = await readDeployment(source, node, { file: null, folder }, {});
    expect(said(diagnostics)).toEqual([]);
    expect(deployment).not.toBeNull();
  });

  test.each(marked("manifest"))("$page.md:$line is a manifest", ({ text }) => {
    const { source, node } = nodeOf(text);
    const { manifest, diagnostics } = readManifest(source, node);
    expect(said(diagnostics)).toEqual([]);
    expect(manifest).not.toBeNull();
  });

  test.each(marked("scripted"))("$page.md:$line is a script", ({ text }) => {
    const { script, diagnostics } = readScripted(new SourceText("a.scripted.yaml", text));
    expect(said(diagnostics)).toEqual([]);
    expect(script).not.toBeNull();
  });

  test.each(marked("stub"))("$page.md:$line is a stub file", ({ text }) => {
    expect(said(stubOf(new SourceText("tools.yaml", text), folder).diagnostics)).toEqual([]);
  });
});

/** Names of all properties of a JSON Schema, where the schema itself names them; pasted servers have any. */
function propertiesOf(schema: Json): string[] {
  if (Array.isArray(schema)) return schema.flatMap(propertiesOf);
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) => {
    if (key === "pasted-server") return [];
    if (key !== "properties" && key !== "definitions") return propertiesOf(value as Json);
    const inner = value as JsonObject;
    const own = key === "properties" ? Object.keys(inner) : [];
    return [
      ...own,
      ...Object.entries(inner).flatMap(([name, part]) => (name === "pasted-server" ? [] : propertiesOf(part as Json))),
    ];
  });
}

/** What a reader lists as legal where it is given a key that is none. */
function legalKeys(diagnostics: readonly Diagnostic[]): string[] {
  const help = diagnostics.find((entry) => entry.help.includes("Legal keys:"))?.help ?? "";
  const keys = /Legal keys: ([^.]+)\./.exec(help)?.[1]?.split(", ") ?? [];
  expect(keys.length, help).toBeGreaterThan(0);
  return keys;
}

describe("every legal key is named", () => {
  test("of Workfiles", () => {
    const { SUBJECT_TABLE, ...lists } = tables;
    const words = Object.values(lists).flatMap((value) => (Array.isArray(value) ? (value as string[]) : []));
    const taken: readonly string[] = [...tables.SUBJECTS, ...tables.TAKEN_CONNECTORS, ...tables.LANGUAGES];
    const keys = words.filter((word) => !taken.includes(word));
    for (const key of ["workfile", "on_unknown", "reply"]) expect(keys).toContain(key);
    const subjects = Object.values(SUBJECT_TABLE).flatMap((row) => [...row.keys, ...row.config]);
    expect(unnamed("workfile", [...keys, ...subjects, ...FIELD_TYPES])).toEqual([]);
  });

  test.each(Object.entries(tables.SUBJECT_TABLE))("of the subject %s, in its row with its modifiers", (_, row) => {
    const name = row.keys[0] ?? "connector.action";
    const found = texts.workfile.split("\n").find((line) => line.startsWith(`| \`${name}\``));
    const [, own = "", , modifiers = ""] = (found ?? "").split(" |");
    const words = (cell: string): string[] => [...cell.matchAll(/`(\w+)`/g)].map((word) => word[1] ?? "");
    expect(words(modifiers)).toEqual([...row.modifiers]);
    expect(
      words(own)
        .filter((word) => row.config.includes(word))
        .sort(),
    ).toEqual([...row.config].sort());
    expect([...own.matchAll(/\*\*`(\w+)`\*\*/g)].map((word) => word[1]).sort()).toEqual([...row.required].sort());
  });

  test("of ambit.yaml", () => {
    const keys = propertiesOf(deploymentSchema() as Json);
    for (const key of ["agents", "drain_grace", "webhook_secret", "base_url"]) expect(keys).toContain(key);
    expect(unnamed("deployment", [...keys, ...PROVIDERS])).toEqual([]);
  });

  test("of manifests, and every built-in action", () => {
    const actions = Object.values(BUILTIN_MANIFESTS).flatMap((manifest) =>
      Object.values(manifest.actions).flatMap(({ name, input }) => [
        name,
        ...Object.keys(input["properties"] as JsonObject),
      ]),
    );
    const words = [...MANIFEST_KEYS, ...ACTION_KEYS, ...EFFECTS, "keyed", "natural", "simulate", "attempts", "backoff"];
    expect(unnamed("deployment", [...words, ...actions])).toEqual([]);
  });

  test.each([
    "x: 1",
    "agents: { a: [ { x: 1, turns: [] } ] }",
    "agents: { a: [ { turns: [ { x: 1 } ] } ] }",
    "agents: { a: [ { turns: [ { calls: [ { tool: t, x: 1 } ] } ] } ] }",
    "agents: { a: [ { turns: [ { error: { code: c, x: 1 } } ] } ] }",
    "agents: { a: [ { turns: [ { when: { x: 1 } } ] } ] }",
    "agents: { a: [ { turns: [ { tokens: { x: 1 } } ] } ] }",
  ])("of scripts: %s", (text) => {
    const keys = legalKeys(readScripted(new SourceText("a.yaml", text)).diagnostics);
    expect(unnamed("scripted-agents", keys)).toEqual([]);
  });

  test.each([
    "x: 1",
    "actions: { a.b: [ { return: 1, x: 1 } ] }",
    "actions: { a.b: [ { fail: { code: c, x: 1 } } ] }",
    "actions: { a.b: [ { hang: { x: 1 } } ] }",
    "offers: { a: { x: 1 } }",
  ])("of stubs: %s", (text) => {
    const keys = legalKeys(stubOf(new SourceText("a.yaml", text), folder).diagnostics);
    expect(unnamed("scripted-agents", keys)).toEqual([]);
  });
});

describe("the page of expressions", () => {
  test("holds what explain functions prints", () => {
    expect(texts.expressions).toContain(`\`\`\`text\n${functionsText(false)}\`\`\``);
  });

  const order = parseJson(/`order` is `(\{.*\})`/.exec(texts.expressions)?.[1] ?? "");
  const table = texts.expressions.slice(texts.expressions.indexOf("| expression | gives |")).split("\n\n")[0] ?? "";
  const rows = [...table.matchAll(/^\| `([^`]+)` \| `([^`]+)` \|$/gm)].map(
    (row) => [row[1] ?? "", row[2] ?? ""] as const,
  );

  test("shows expressions", () => {
    expect(order.ok).toBe(true);
    expect(rows.length).toBe(table.split("\n").length - 2);
  });

  test.each(rows)("%s gives %s", (source, gives) => {
    const compiled = compile(source);
    if (!compiled.ok || !order.ok) throw new Error(source);
    const result = compiled.expr.evaluate({ read: (name) => (name === "order" ? order.value : undefined) });
    expect(result).toMatchObject({ ok: true, value: JSON.parse(gives) as Json });
  });
});

describe("the page of running", () => {
  test("names every end with its exit code, and what a run waits for", () => {
    for (const status of OUTCOMES) {
      const row = texts.running.split("\n").find((line) => line.startsWith(`| \`${status}\``)) ?? "";
      expect(row.split("|").at(-2) ?? "", status).toContain(String(exitOf({ status, error: null, unknown: [] })));
    }
    // `queued` belongs to `single`, which is refused.
    expect(
      unnamed(
        "running",
        SUSPEND_REASONS.filter((reason) => reason !== "queued"),
      ),
    ).toEqual([]);
  });
});

test("the example of scripted agents runs, and gives what its page says", async () => {
  for (const { page, mark, text } of blocks)
    if (page === "scripted-agents" && mark === "ambit.yaml") put("ambit.yaml", text);
  const engine = await createEngine({ cwd: folder, store: "memory", env: {} });
  try {
    const end = async (sender: string) => (await engine.start("lookup.workfile.yaml", { inputs: { sender } })).result();
    const found = await end("ana@example.org");
    expect(found).toMatchObject({ status: "completed", counts: { tokens: 400, tool_attempts: 1 } });
    expect(texts["scripted-agents"]).toContain(`gives \`{"account": "a-1"}\``);
    expect(found.outputs).toEqual({ account: "a-1" });
    for (const key of Object.keys(found)) if (key !== "type") expect(unnamed("running", [key])).toEqual([]);
    expect(await end("bo@example.org")).toMatchObject({ status: "failed", error: { code: "agent.gave_up" } });
  } finally {
    await engine.close();
  }
});

test("links of the pages lead somewhere, and the README leads to every page", () => {
  const slug = (title: string): string =>
    title
      .toLowerCase()
      .replace(/[^\w\- ]/g, "")
      .replaceAll(" ", "-");
  const pages = readdirSync(join(root, "docs")).filter((file) => file.endsWith(".md"));
  const anchors = new Map(
    pages.map((file) => {
      const text = readFileSync(join(root, "docs", file), "utf8");
      return [file, [...text.matchAll(/^#+ (.+)$/gm)].map((title) => slug(title[1] ?? ""))] as const;
    }),
  );
  const lost = PAGES.flatMap((page) =>
    [...texts[page].matchAll(/\]\(([^)]*)\)/g)].flatMap(([, link = ""]) => {
      const [file = "", anchor] = link.split("#");
      const known = anchors.get(file === "" ? `${page}.md` : file);
      return known !== undefined && (anchor === undefined || known.includes(anchor)) ? [] : [`${page}.md: ${link}`];
    }),
  );
  expect(lost).toEqual([]);
  const readme = readFileSync(join(root, "README.md"), "utf8");
  expect(pages.filter((file) => !readme.includes(`docs/${file}`))).toEqual([]);
});
