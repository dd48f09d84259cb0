import { expect, test } from "vitest";
import { foldRecords, toResult } from "../journal/fold.ts";
import { did, History } from "../journal/testing/history.ts";
import { dryRunLines } from "./dry-run-lines.ts";
import { paint } from "./terminal.ts";

const ESC = String.fromCharCode(27);
const could = [
  { branch: "then", steps: ["b.x"], actions: ["crm.write"], agents: ["helper"] },
  { branch: "else", steps: [], actions: [], agents: [] },
];

function lines(dryRun: boolean): string[] {
  const history = new History()
    .accepted({ dry_run: dryRun })
    .started()
    .call(`a${ESC}[2J`, 1, { outcome: "suppressed", effect: "suppressed", because: "needs_approval", args: { n: 1 } })
    .call(
      "z",
      1,
      {},
      { trail: [did("b", "undetermined", could), did("q", "suppressed", { what: "ask", because: "dry_run" })] },
    );
  return dryRunLines(toResult(foldRecords(history.records)), paint(false));
}

test("the report of a dry run says what would be done and what cannot be told, also while it is under way", () => {
  const [title, ...entries] = lines(true);
  expect(title).toBe("A real run:");
  expect(entries).toHaveLength(3);
  expect(entries[0]).toContain("once somebody has approved it");
  expect(entries.join("\n")).not.toContain(ESC);
  expect(entries[1]).toBe("  q  would ask a person");
  expect(entries[2]).toBe("  b  cannot be told: then (crm.write, agent helper) or else");
});

test("any other run has none", () => {
  expect(lines(false)).toEqual([]);
});
