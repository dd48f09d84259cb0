import type { DeploymentLimits, PolicyConfig } from "../../admit/deployment.ts";
import { DEFAULT_LIMITS } from "../../admit/deployment.ts";
import { emptyObject } from "../../base/json.ts";
import { splitActionName } from "../../catalog/names.ts";
import { setOwn } from "../../plan/marked.ts";
import { itemPath, keyPath } from "../../text/path.ts";
import { clip } from "../../text/reader.ts";
import { type Keys, keySpan, type Section } from "./section.ts";

const ALL_OF_CONNECTOR = /^[A-Za-z_][A-Za-z0-9_-]*\.\*$/;

export function readPolicy(section: Section, top: Keys): PolicyConfig {
  const keys: Keys = section.map(top, "", "policy", ["deny", "approve", "agents", "ceiling"]) ?? new Map();
  return {
    deny: readActionPatterns(section, keys, "policy", "deny"),
    approve: readActionPatterns(section, keys, "policy", "approve"),
    agents: readAgentPolicies(section, keys),
    ceiling: readCeiling(section, keys),
  };
}

/** A list of `connector.action` and `connector.*`. */
function readActionPatterns(section: Section, keys: Keys, base: string, key: string): string[] {
  const entry = keys.get(key);
  const texts = section.texts(keys, base, key) ?? [];
  if (entry?.value.kind !== "list") return texts;
  for (const [i, item] of entry.value.items.entries()) {
    const text = item.kind === "scalar" ? item.value : null;
    if (typeof text !== "string" || splitActionName(text) || ALL_OF_CONNECTOR.test(text)) continue;
    const path = itemPath(keyPath(base, key), i);
    section.bad(item, path, `"${clip(text)}" names no action.`, "Write connector.action or connector.*.");
  }
  return texts;
}

function readAgentPolicies(section: Section, keys: Keys): PolicyConfig["agents"] {
  const agents = emptyObject<PolicyConfig["agents"][string]>();
  for (const agent of section.entries(keys, "policy", "agents")) {
    const tools = emptyObject<PolicyConfig["agents"][string][string]>();
    for (const tool of section.reader.open(agent.entry.value, agent.path, "the agent's policy") ?? []) {
      const path = keyPath(agent.path, tool.key);
      if (!splitActionName(tool.key)) {
        section.bad(keySpan(tool), path, `"${clip(tool.key)}" names no action.`, "Write connector.action.");
        continue;
      }
      const rule = section.reader.closed(tool.value, path, "the tool's policy", ["max", "fix"]);
      if (!rule) continue;
      const max = section.integer(rule, path, "max", { min: 1 });
      const fix = section.jsonMap(rule, path, "fix");
      setOwn(tools, tool.key, { ...(max === undefined ? {} : { max }), ...(fix === undefined ? {} : { fix }) });
    }
    setOwn(agents, agent.entry.key, tools);
  }
  return agents;
}

function readCeiling(section: Section, keys: Keys): PolicyConfig["ceiling"] {
  const base = "policy.ceiling";
  const ceiling = section.map(keys, "policy", "ceiling", ["tool_attempts", "tokens", "duration", "depth", "width"]);
  if (!ceiling) return {};
  const toolAttempts = section.integer(ceiling, base, "tool_attempts", { min: 0 });
  const tokens = section.integer(ceiling, base, "tokens", { min: 0 });
  const duration = section.duration(ceiling, base, "duration", { min: 1 });
  const depth = section.integer(ceiling, base, "depth", { min: 0 });
  const width = section.integer(ceiling, base, "width", { min: 1 });
  return {
    ...(toolAttempts === undefined ? {} : { toolAttempts }),
    ...(tokens === undefined ? {} : { tokens }),
    ...(duration === undefined ? {} : { duration }),
    ...(depth === undefined ? {} : { depth }),
    ...(width === undefined ? {} : { width }),
  };
}

export function readLimits(section: Section, top: Keys): DeploymentLimits {
  const legal = ["deadline", "steps", "depth", "wait", "concurrency", "drain_grace", "cleanup_grace"];
  const keys = section.map(top, "", "limits", legal);
  if (!keys) return { ...DEFAULT_LIMITS };
  const base = "limits";
  return {
    deadline: section.duration(keys, base, "deadline", { min: 1 }) ?? DEFAULT_LIMITS.deadline,
    steps: section.integer(keys, base, "steps", { min: 1, max: 1_000_000 }) ?? DEFAULT_LIMITS.steps,
    depth: section.integer(keys, base, "depth", { min: 0, max: 64 }) ?? DEFAULT_LIMITS.depth,
    wait: section.duration(keys, base, "wait", { min: 1 }) ?? DEFAULT_LIMITS.wait,
    concurrency: section.integer(keys, base, "concurrency", { min: 1, max: 1_000 }) ?? DEFAULT_LIMITS.concurrency,
    drainGrace: section.duration(keys, base, "drain_grace", {}) ?? DEFAULT_LIMITS.drainGrace,
    cleanupGrace: section.duration(keys, base, "cleanup_grace", { min: 1 }) ?? DEFAULT_LIMITS.cleanupGrace,
  };
}
