import { resolve } from "node:path";
import type { AgentConfig, SecretRef } from "../../admit/deployment.ts";
import { emptyObject } from "../../base/json.ts";
import { setOwn } from "../../plan/marked.ts";
import { itemPath } from "../../text/path.ts";
import { clip } from "../../text/reader.ts";
import type { TreeNode } from "../../text/tree.ts";
import { type Keys, keySpan, type Section } from "./section.ts";

export const PROVIDERS = ["anthropic", "openai", "openai-compatible", "google", "scripted"] as const;
const EFFORTS = ["low", "medium", "high", "xhigh", "max", "no"] as const;
const AGENT_KEYS = [
  "id",
  "default",
  "provider",
  "model",
  "api_key",
  "base_url",
  "effort",
  "temperature",
  "max_output_tokens",
  "tools",
  "token_method",
  "stall",
  "retries",
  "script",
] as const;
const MODEL_LEVELS = ["low", "medium", "high", "default"] as const;

const USUAL_KEYS: { readonly [provider: string]: SecretRef | undefined } = {
  anthropic: { env: "ANTHROPIC_API_KEY" },
  openai: { env: "OPENAI_API_KEY" },
  google: { env: "GOOGLE_GENERATIVE_AI_API_KEY" },
};

const MAX_CANDIDATES = 64;

/** `agents`: one configuration per name, or a list of candidates. */
export function readAgents(section: Section, top: Keys): { [name: string]: AgentConfig[] } {
  const agents = emptyObject<AgentConfig[]>();
  for (const { entry, path } of section.entries(top, "", "agents")) {
    if (entry.key === "" || entry.key.includes("{{")) {
      section.bad(keySpan(entry), path, `"${clip(entry.key)}" is no agent name.`);
      continue;
    }
    const single = entry.value.kind !== "list";
    const nodes = entry.value.kind === "list" ? entry.value.items : [entry.value];
    if (nodes.length === 0 || nodes.length > MAX_CANDIDATES) {
      section.bad(keySpan(entry), path, `The agent "${clip(entry.key)}" has ${nodes.length} configurations.`);
      continue;
    }
    const candidates = nodes.flatMap(
      (node, i) => readAgent(section, node, single ? path : itemPath(path, i), entry.key) ?? [],
    );
    for (const [i, candidate] of candidates.entries()) {
      if (candidates.findIndex((other) => other.id === candidate.id) < i) {
        section.bad(
          keySpan(entry),
          path,
          `Two configurations of the agent "${clip(entry.key)}" have the id "${clip(candidate.id)}".`,
          "Give each an id of its own.",
        );
      }
    }
    setOwn(agents, entry.key, candidates);
  }
  return agents;
}

/** One configuration. What it needs depends on the provider. */
export function readAgent(section: Section, node: TreeNode, path: string, name: string): AgentConfig | null {
  const keys = section.reader.closed(node, path, "the agent configuration", AGENT_KEYS, ["provider"]);
  if (!keys) return null;
  const provider = section.oneOf(keys, path, "provider", PROVIDERS);
  const model = section.text(keys, path, "model");
  const script = section.text(keys, path, "script");
  const baseUrl = section.text(keys, path, "base_url");
  const effort = section.oneOf(keys, path, "effort", EFFORTS);
  const temperature = section.number(keys, path, "temperature", { min: 0, max: 2 });
  const id = section.text(keys, path, "id");
  const key = section.secret(keys, path, "api_key") ?? (provider === undefined ? undefined : USUAL_KEYS[provider]);
  const config: AgentConfig = {
    name,
    id: id ?? model ?? provider ?? name,
    isDefault: section.boolean(keys, path, "default") ?? false,
    provider: provider ?? "scripted",
    model: model ?? "scripted",
    ...(key === undefined ? {} : { apiKey: key }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(effort === undefined || effort === "no" ? {} : { effort }),
    ...(temperature === undefined ? {} : { temperature }),
    maxOutputTokens: section.integer(keys, path, "max_output_tokens", { min: 1, max: 1_000_000 }) ?? 8_192,
    tools: section.boolean(keys, path, "tools") ?? true,
    tokenMethod: section.oneOf(keys, path, "token_method", ["reported", "none"] as const) ?? "reported",
    stall: section.duration(keys, path, "stall", { min: 1 }) ?? 120_000,
    retries: section.integer(keys, path, "retries", { min: 0, max: 10 }) ?? 2,
    ...(script === undefined ? {} : { script: resolve(section.folder, script) }),
  };
  if (provider === undefined) return null;
  const need = (key: "model" | "script" | "base_url"): void => {
    if (keys.has(key)) return;
    section.bad({ start: node.start, end: node.start + 1 }, path, `An agent of the provider ${provider} needs ${key}.`);
  };
  if (provider === "scripted") need("script");
  else need("model");
  if (provider === "openai-compatible") need("base_url");
  const stray = keys.get("script");
  if (stray && provider !== "scripted") {
    section.bad(keySpan(stray), `${path}.script`, "script goes with provider: scripted only.");
  }
  if (baseUrl !== undefined && !isHttpUrl(baseUrl)) {
    const entry = keys.get("base_url");
    if (entry) section.bad(entry.value, `${path}.base_url`, `base_url is no http URL: "${clip(baseUrl)}".`);
  }
  return config;
}

/** `models`: AWL levels; a text is a model id with an optional effort suffix and stays one. */
export function readModels(section: Section, top: Keys): { [level: string]: string | AgentConfig } {
  const models: { [level: string]: string | AgentConfig } = {};
  const keys = section.map(top, "", "models", MODEL_LEVELS);
  for (const [level, entry] of keys ?? []) {
    const path = `models.${level}`;
    if (entry.value.kind === "map") {
      const agent = readAgent(section, entry.value, path, level);
      if (agent) models[level] = agent;
    } else {
      const text = section.reader.text(entry.value, path, `the model ${level}`);
      if (text !== null) models[level] = text;
    }
  }
  return models;
}

export function isHttpUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && (url.protocol === "http:" || url.protocol === "https:");
}
