import type { Json } from "../base/json.ts";
import type { Suppressed, Undetermined } from "../journal/outcome.ts";
import type { RunResult } from "../journal/result.ts";

/** One line of the report of a dry run. */
export interface DryRunLine {
  position: string;
  text: string;
  /** Arguments or a text, to be shown shortened. */
  detail: Json;
}

/** What a real run would have done, and where nobody can tell; both empty for any other run. */
export function dryRunReport(result: RunResult): { wouldDo: DryRunLine[]; open: DryRunLine[] } {
  return { wouldDo: (result.suppressed ?? []).map(wouldDo), open: (result.undetermined ?? []).map(open) };
}

const WHY: { readonly [because: string]: string } = {
  dry_run: "",
  reads_suppressed: ", with what an earlier step would have given",
  needs_approval: ", once somebody has approved it",
};

function wouldDo(entry: Suppressed): DryRunLine {
  const why = WHY[entry.because] ?? "";
  const simulated = entry.simulated === true ? " (went on with the result that its manifest simulates)" : "";
  return {
    position: entry.position,
    text: `${deed(entry)}${why}${simulated}`,
    detail: entry.args ?? entry.text ?? null,
  };
}

function deed({ what, action, effects, agent }: Suppressed): string {
  switch (what) {
    case "call":
      return `would call ${action ?? "?"}${effects === undefined ? "" : ` (${effects})`}`;
    case "agent":
      return `would ask the agent ${agent ?? "?"}`;
    case "ask":
      return "would ask a person";
    case "wait":
      return "would wait";
    case "notice":
      return "would give notice";
  }
}

function open({ position, could }: Undetermined): DryRunLine {
  const ways = could.map(({ branch, actions, agents }) => {
    const reached = [...actions, ...agents.map((agent) => `agent ${agent}`)];
    return reached.length === 0 ? branch : `${branch} (${reached.join(", ")})`;
  });
  return { position, text: `cannot be told: ${ways.join(" or ")}`, detail: null };
}
