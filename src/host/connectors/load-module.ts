import { isObject } from "../../base/json.ts";
import { type DefinedConnector, isDefinedConnector } from "./define-connector.ts";

/**
 * Imports the module of a connector by URL and finds what `defineConnector` made: the default export, one
 * called `connector`, or the only one there is. Its top level runs; nothing else does.
 */
export async function loadConnectorModule(
  url: string,
): Promise<{ ok: true; definition: DefinedConnector } | { ok: false; message: string }> {
  let loaded: unknown;
  try {
    loaded = await import(url);
  } catch (error) {
    return { ok: false, message: `The module cannot be loaded: ${reason(error)}` };
  }
  if (!isObject(loaded) && typeof loaded !== "object") return { ok: false, message: "The module exports nothing." };
  const exported = loaded as { [name: string]: unknown };
  for (const name of ["default", "connector"]) {
    const value = exported[name];
    if (isDefinedConnector(value)) return { ok: true, definition: value };
  }
  const found = Object.values(exported).filter(isDefinedConnector);
  const [only] = found;
  if (found.length === 1 && only) return { ok: true, definition: only };
  const message =
    found.length === 0
      ? "The module exports nothing made by defineConnector."
      : "The module exports several connectors: make one of them the default export.";
  return { ok: false, message };
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return "it threw something that is no error.";
  const text = error.message.split("\n")[0] ?? "";
  const typescript = /Unknown file extension "\.(ts|mts)"/.test(text);
  const hint = typescript ? " This version of Node loads no TypeScript: compile it first." : "";
  return `${text.slice(0, 300)}.${hint}`;
}
