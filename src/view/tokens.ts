import type { RunRecord } from "../journal/event.ts";
import { mapIn, numberIn, textIn } from "../journal/members.ts";
import type { Position } from "../plan/position.ts";

/** What the models of a run used, by agent step. */
export interface TokenLine {
  position: Position;
  agent: string;
  model: string;
  turns: number;
  input: number;
  output: number;
  /** Turns for which the provider reported no usage: the sums are then a lower bound. */
  unreported: number;
}

/** Lines in the order in which the agents started. */
export function tokensOf(records: Iterable<RunRecord>): TokenLine[] {
  const lines = new Map<Position, TokenLine>();
  for (const record of records) {
    if (record.kind === "agent.started") {
      const agent = mapIn(record.body, "agent");
      const line = lineOf(lines, record.position);
      line.agent = textIn(agent, "name") ?? "";
      line.model = textIn(agent, "model") ?? "";
    } else if (record.kind === "agent.turn") {
      const line = lineOf(lines, record.position.replace(/\.?\((?:turns|extract|evaluate)\)(?:\[\d+\])?$/, ""));
      const usage = mapIn(record.body, "usage");
      line.turns++;
      if (usage === null) line.unreported++;
      line.input += numberIn(usage, "input");
      line.output += numberIn(usage, "output");
    }
  }
  return [...lines.values()];
}

function lineOf(lines: Map<Position, TokenLine>, position: Position): TokenLine {
  let line = lines.get(position);
  if (!line) {
    line = { position, agent: "", model: "", turns: 0, input: 0, output: 0, unreported: 0 };
    lines.set(position, line);
  }
  return line;
}
