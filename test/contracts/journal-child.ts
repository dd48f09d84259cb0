/** A process of its own on a shared store: `node --import <loader> journal-child.ts PATH RUN COUNT`. */
import { systemClock } from "../../src/base/clock.ts";
import { ownOwner } from "../../src/host/processes/process-identity.ts";
import { openSqliteJournal } from "../../src/host/stores/sqlite.ts";
import { History } from "../../src/journal/testing/history.ts";

const [path = "", run = "", count = "0"] = process.argv.slice(2);
const journal = await openSqliteJournal({ path, durability: "full", clock: systemClock });
const history = new History(run).accepted().started();
const lease = await journal.create(history.records, ownOwner(run, `child ${run}`));
for (let i = 0; i < Number(count); i++) {
  history.call(`s${i}`, { i });
  await journal.append(lease, history.records.slice(-1));
  // Only what was acknowledged is said.
  process.stdout.write(`${history.records.length}\n`);
}
await journal.release(lease);
await journal.close();
