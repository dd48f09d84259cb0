import type { TreeNode } from "../../text/tree.ts";

/** What a file is that was taken for a Workfile, and what is done with such a file. */
interface OtherFile {
  is: string;
  help: string;
}

const MANIFEST: OtherFile = {
  is: "the manifest of a connector",
  help: "Name it as `manifest` of a connector in ambit.yaml; `ambit connectors check` holds it against the connector.",
};
const OPENAPI: OtherFile = {
  is: "an OpenAPI document",
  help: "Name it as `openapi` of a connector in ambit.yaml; `ambit connectors import` writes a manifest from it.",
};
const STUB: OtherFile = {
  is: "what a stub answers",
  help: "Name it as `stub` of a connector in ambit.yaml: a run with that connector reads it.",
};
const DEPLOYMENT: OtherFile = {
  is: "a deployment (ambit.yaml)",
  help: "`ambit plan FILE` holds a workflow against it, and `ambit doctor` looks at what it needs.",
};
const SCRIPT: OtherFile = {
  is: "a script of agents",
  help: "Play it with `ambit run FILE --scripted SCRIPT`, or name it as `script` of an agent in ambit.yaml.",
};

/** Keys of a deployment that mean nothing at the top of a Workfile. */
const DEPLOYMENT_ONLY: ReadonlySet<string> = new Set([
  "agents",
  "models",
  "mcpServers",
  "connectors",
  "settings",
  "policy",
  "capabilities",
  "store",
  "notify",
]);

/** What a tree without `workfile` and `steps` is, if it is a file of ours or one that goes with them. */
export function otherFile(root: TreeNode): OtherFile | null {
  if (root.kind !== "map") return null;
  const keys = new Set(root.entries.map((entry) => entry.key));
  if (keys.has("workfile") || keys.has("steps")) return null;
  if (keys.has("connector") && keys.has("actions")) return MANIFEST;
  if (keys.has("openapi") || keys.has("swagger")) return OPENAPI;
  if (keys.has("actions") && !keys.has("connectors")) return STUB;
  const [first] = root.entries;
  if (keys.size === 1 && first?.key === "agents" && isScript(first.value)) return SCRIPT;
  return [...keys].some((key) => DEPLOYMENT_ONLY.has(key)) ? DEPLOYMENT : null;
}

/** A script has a list for each agent; a deployment has settings. */
function isScript(agents: TreeNode): boolean {
  return agents.kind === "map" && agents.entries.length > 0 && agents.entries.every(({ value }) => isParts(value));
}

function isParts(value: TreeNode): boolean {
  return (
    value.kind === "list" &&
    value.items.every((item) => item.kind === "map" && item.entries.some(({ key }) => key === "turns"))
  );
}
