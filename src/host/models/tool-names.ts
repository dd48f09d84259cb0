import type { ToolSpec } from "../../agent/model.ts";

/** The tool that takes the typed result. A declared tool has `__` in its name on the wire, so none can be this. */
export const RETURN_RESULT = "return_result";
/** The tool for ending without a result. */
export const GIVE_UP = "give_up";

/** Providers take `[a-zA-Z0-9_-]` up to this many characters. */
const LONGEST_WIRE_NAME = 64;

/**
 * Names on the wire and back for the tools of one turn. A name that comes back and was not declared is
 * translated by the same rule, so that its refusal speaks of the name as people write it.
 */
export interface WireNames {
  toWire(name: string): string;
  fromWire(wire: string): string;
}

export function wireNames(tools: readonly ToolSpec[]): WireNames {
  const byName = new Map<string, string>();
  const byWire = new Map<string, string>();
  for (const { name } of tools) {
    let wire = spell(name);
    // `a_.b` and `a._b` are spelt alike: the later one gets a number, the same in every turn.
    for (let n = 2; byWire.has(wire); n++) wire = `${spell(name).slice(0, LONGEST_WIRE_NAME - 4)}__${n}`;
    byName.set(name, wire);
    byWire.set(wire, name);
  }
  return {
    toWire: (name) => byName.get(name) ?? spell(name),
    fromWire: (wire) => byWire.get(wire) ?? wire.replace("__", "."),
  };
}

/** A name that was proposed without being declared may hold anything: what providers refuse becomes `_`. */
function spell(name: string): string {
  const plain = name.replace(".", "__").replaceAll(/[^a-zA-Z0-9_-]/g, "_");
  return plain.slice(0, LONGEST_WIRE_NAME) || "_";
}
