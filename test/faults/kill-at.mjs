// Runs a workflow through the library and ends its own process with SIGKILL in the moment that record N is on
// disk, before anything that follows from it can happen: `node kill-at.mjs N RUN_ID FILE [name=value ...]`.
import { createEngine } from "../../dist/app/engine.js";
import { Feed } from "../../dist/app/feed.js";

/** `name=value`: a list or a map as JSON, anything else as text. */
function read(pair) {
  const [name, ...rest] = pair.split("=");
  const value = rest.join("=");
  return [name, /^[[{]/.test(value) ? JSON.parse(value) : value];
}

const [at, runId, file, ...pairs] = process.argv.slice(2);
const push = Feed.prototype.push;
let resumed = false;
Feed.prototype.push = function (record) {
  if (!resumed && record.seq === Number(at)) process.kill(process.pid, "SIGKILL");
  push.call(this, record);
};

const engine = await createEngine({ say: () => {} });
const inputs = Object.fromEntries(pairs.map(read));
const run = await engine.start(file, { runId, inputs });
const result = await run.result();
resumed = true;
await engine.close();
process.stdout.write(`${JSON.stringify(result)}\n`);
