import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { exportLine } from "../../src/journal/export.ts";
import { play } from "./played.ts";

const RUNS = 20;

/** The same list in another order, the order hanging on `n` alone. */
function shuffled<T>(list: readonly T[], n: number): T[] {
  const left = [...list];
  const out: T[] = [];
  for (let rest = n; left.length > 0; rest = Math.floor(rest / 7) + 3) out.push(...left.splice(rest % left.length, 1));
  return out;
}

test("HO-07: of twenty runs with connectors in any order, all have one history", { timeout: 120_000 }, async () => {
  const histories = new Set<string>();
  const orders = new Set<string>();
  for (let n = 0; n < RUNS; n++) {
    const played = await play("HO-07-two-connectors-one-name", (folder) => {
      const deployment = parse(readFileSync(`${folder.path}/ambit.yaml`, "utf8")) as { connectors: object };
      const connectors = shuffled(Object.entries(deployment.connectors), n);
      orders.add(connectors.map(([name]) => name).join(" "));
      folder.write("ambit.yaml", stringify({ ...deployment, connectors: Object.fromEntries(connectors) }));
      // So that the other connector of that tool is started too.
      const text = readFileSync(`${folder.path}/workflow.yaml`, "utf8");
      folder.write("workflow.yaml", `${text}  - orders: { erp.search: { query: b } }\n`);
    });
    const actions = played.folder.dispatches().map((line) => line.action);
    expect(actions.sort()).toEqual(["crm.search", "erp.search", "mail.send"]);
    // The first record holds what is drawn for each run (its seed), all others are the same to the byte.
    histories.add(`${played.result.digest}\n${played.records.slice(1).map(exportLine).join("")}`);
    await played.end();
  }
  expect(orders.size).toBeGreaterThan(3);
  expect([...histories]).toHaveLength(1);
});
