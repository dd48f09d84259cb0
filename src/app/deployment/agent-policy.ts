import type { Deployment } from "../../admit/deployment.ts";
import type { Json, JsonObject } from "../../base/json.ts";
import { didYouMean } from "../../base/nearest.ts";
import { Catalog } from "../../catalog/catalog.ts";
import type { ActionManifest } from "../../catalog/manifest.ts";
import { sayProblems } from "../../catalog/value-problem.ts";
import { checkValue } from "../../catalog/value-schema.ts";
import { setOwn } from "../../plan/marked.ts";
import { itemPath, keyPath } from "../../text/path.ts";
import { clip } from "../../text/reader.ts";
import { type MapEntry, toJson } from "../../text/tree.ts";
import { type Keys, keySpan, type Section } from "./section.ts";

/**
 * Holds `policy.agents` against the agents and manifests of the file: a slip in a name would bound nothing, and a
 * value that does not fit would refuse every call. `deployment.invalid`, each at its key.
 */
export function checkAgentPolicies(
  section: Section,
  top: Keys,
  { agents, connectors }: Pick<Deployment, "agents" | "connectors">,
): void {
  const policy = top.get("policy");
  const catalog = new Catalog(Object.values(connectors));
  const names = Object.keys(agents);
  for (const entry of entriesIn(policy && entriesIn(policy).find(({ key }) => key === "agents"))) {
    const path = keyPath("policy.agents", entry.key);
    // Without agents of its own the file is for those that a script plays.
    if (names.length > 0 && !names.includes(entry.key)) {
      const message = `No agent is called "${clip(entry.key)}".`;
      section.bad(keySpan(entry), path, message, didYouMean(entry.key, names) || `Agents: ${names.join(", ")}.`);
    }
    for (const tool of entriesIn(entry)) checkTool(section, catalog, tool, keyPath(path, tool.key));
  }
}

/** What `deny` and `approve` name and nothing is called: a slip there would protect nothing (`deployment.no_effect`). */
export function warnOfPolicyLists(section: Section, top: Keys, connectors: Deployment["connectors"]): void {
  const policy = top.get("policy");
  const catalog = new Catalog(Object.values(connectors));
  for (const key of ["deny", "approve"]) {
    const list = (policy && entriesIn(policy).find((entry) => entry.key === key))?.value;
    if (list?.kind !== "list") continue;
    for (const [i, item] of list.items.entries()) {
      const name = item.kind === "scalar" ? item.value : null;
      if (typeof name !== "string") continue;
      const unknown = unknownIn(catalog, name);
      if (unknown === null) continue;
      const path = itemPath(keyPath("policy", key), i);
      section.reader.report(
        "deployment.no_effect",
        item,
        path,
        `${path} covers nothing: ${unknown.message}`,
        unknown.help,
        "warning",
      );
    }
  }
}

function unknownIn(catalog: Catalog, name: string): { message: string; help: string } | null {
  if (name.endsWith(".*") && catalog.connector(name.slice(0, -2)) !== undefined) return null;
  const found = catalog.find(name);
  return found.ok ? null : found;
}

function checkTool(section: Section, catalog: Catalog, tool: MapEntry, path: string): void {
  const found = catalog.find(tool.key);
  if (!found.ok) {
    section.bad(keySpan(tool), path, found.message, found.help);
    return;
  }
  for (const entry of entriesIn(entriesIn(tool).find(({ key }) => key === "fix"))) {
    const problem = problemOf(found.action, entry.key, toJson(entry.value));
    if (problem === null) continue;
    section.bad(keySpan(entry), keyPath(keyPath(path, "fix"), entry.key), problem.message, problem.help);
  }
}

function problemOf(action: ActionManifest, name: string, value: Json): { message: string; help: string } | null {
  const { idempotency, input } = action;
  if (idempotency.kind === "keyed" && idempotency.field === name) {
    return { message: `${name} is the key of ${action.name}, which the engine makes.`, help: "Leave it out." };
  }
  const given: JsonObject = {};
  setOwn(given, name, value);
  const own = checkValue({ ...input, required: [] }, given).filter(
    ({ path, unexpected }) => unexpected === name || path === name || /^[.[]/.test(path.slice(name.length)),
  );
  if (own.length === 0) return null;
  const { properties } = input;
  const inputs = typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
  return {
    message: `${action.name}: ${sayProblems(own)}`,
    help: didYouMean(name, inputs) || `Its inputs: ${inputs.join(", ") || "none"}.`,
  };
}

/** What is no map has been reported by whoever reads it. */
function entriesIn(entry: MapEntry | undefined): MapEntry[] {
  return entry?.value.kind === "map" ? entry.value.entries : [];
}
