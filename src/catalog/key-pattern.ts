// Whether a pattern takes every key that the engine may make for an agent's call: `wf-agent-v1:` and 64
// lowercase hex digits (WX-52, WX-53).
//
// I1: decided by automaton, not by trying keys: the sets of places in the pattern that the keys can lead to are
//     followed sign by sign; if one that does not match is left at the end, its key is named.
// I2: what the reader below does not know (look-around, \b, classes by Unicode property, huge repetitions) is
//     not decided, and the action is incompatible.
import { type PatternNode, parsePattern } from "./pattern-tree.ts";

export const AGENT_KEY_PREFIX = "wf-agent-v1:";
const HEX = "0123456789abcdef";
const DIGITS = 64;
export const AGENT_KEY_LENGTH = AGENT_KEY_PREFIX.length + DIGITS;

const MAX_STATES = 8_000;
const MAX_SETS = 2_000;
/** Looks at one way out of one state: some 50 ms at most. */
const MAX_WORK = 1_000_000;

export type KeyInclusion = { is: "all" } | { is: "not_all"; example: string } | { is: "undecided"; reason: string };

/** Whether the pattern, found anywhere in the text, matches all agent keys. */
export function admitsAllKeys(pattern: string): KeyInclusion {
  const parsed = parsePattern(pattern);
  if ("error" in parsed) return { is: "undecided", reason: parsed.error };
  const automaton = new Automaton();
  const accept = automaton.state();
  const start = automaton.state();
  if (!automaton.build(parsed.node, start, accept)) return { is: "undecided", reason: "it repeats too much" };
  return follow(automaton, start, accept);
}

type Edge =
  | { on: "sign"; takes: (sign: string) => boolean; to: number }
  | { on: "nothing" | "begin" | "end"; to: number };

class Automaton {
  readonly edges: Edge[][] = [];

  state(): number {
    this.edges.push([]);
    return this.edges.length - 1;
  }

  #edge(from: number, edge: Edge): void {
    this.edges[from]?.push(edge);
  }

  /** Puts the ways that match `node` between two states; false if it grows too large. */
  build(node: PatternNode, from: number, to: number): boolean {
    if (this.edges.length > MAX_STATES) return false;
    switch (node.is) {
      case "signs":
        this.#edge(from, { on: "sign", takes: node.takes, to });
        return true;
      case "empty":
      case "begin":
      case "end":
        this.#edge(from, { on: node.is === "empty" ? "nothing" : node.is, to });
        return true;
      case "either":
        return node.of.every((part) => this.build(part, from, to));
      case "sequence": {
        let at = from;
        for (const part of node.of) {
          const next = this.state();
          if (!this.build(part, at, next)) return false;
          at = next;
        }
        this.#edge(at, { on: "nothing", to });
        return true;
      }
      case "repeat":
        return this.#repeat(node, from, to);
    }
  }

  #repeat(node: Extract<PatternNode, { is: "repeat" }>, from: number, to: number): boolean {
    let at = from;
    for (let i = 0; i < node.min; i++) {
      const next = this.state();
      if (!this.build(node.of, at, next)) return false;
      at = next;
    }
    if (node.max === null) {
      const loop = this.state();
      this.#edge(at, { on: "nothing", to: loop });
      if (!this.build(node.of, loop, loop)) return false;
      this.#edge(loop, { on: "nothing", to });
      return true;
    }
    for (let i = node.min; i < node.max; i++) {
      this.#edge(at, { on: "nothing", to });
      const next = this.state();
      if (!this.build(node.of, at, next)) return false;
      at = next;
    }
    this.#edge(at, { on: "nothing", to });
    return true;
  }
}

function follow(automaton: Automaton, start: number, accept: number): KeyInclusion {
  let work = 0;
  const closure = (states: Iterable<number>, position: number): Set<number> => {
    const closed = new Set(states);
    for (const state of closed) {
      for (const edge of automaton.edges[state] ?? []) {
        work++;
        const open =
          edge.on === "nothing" ||
          (edge.on === "begin" && position === 0) ||
          (edge.on === "end" && position === AGENT_KEY_LENGTH);
        if (open) closed.add(edge.to);
      }
    }
    return closed;
  };
  let sets = new Map<string, { states: Set<number>; key: string }>();
  const keep = (into: typeof sets, states: Set<number>, key: string): void => {
    // Found somewhere is found: whatever follows does not matter.
    if (!states.has(accept)) into.set([...states].sort((a, b) => a - b).join(), { states, key });
  };
  keep(sets, closure([start], 0), "");
  for (let position = 0; position < AGENT_KEY_LENGTH; position++) {
    const next: typeof sets = new Map();
    const signs = AGENT_KEY_PREFIX[position] ?? HEX;
    for (const { states, key } of sets.values()) {
      for (const sign of signs) {
        const moved = new Set([start]);
        for (const state of states) {
          for (const edge of automaton.edges[state] ?? []) {
            work++;
            if (edge.on === "sign" && edge.takes(sign)) moved.add(edge.to);
          }
        }
        keep(next, closure(moved, position + 1), key + sign);
      }
      if (next.size > MAX_SETS || work > MAX_WORK) return { is: "undecided", reason: "it has too many ways to match" };
    }
    sets = next;
  }
  const [left] = sets.values();
  return left ? { is: "not_all", example: left.key } : { is: "all" };
}
