import type { Proposal } from "../../agent/model.ts";
import type { Json, JsonObject } from "../../base/json.ts";
import type { ActionManifest } from "../../catalog/manifest.ts";
import { setOwn } from "../../plan/marked.ts";
import type { Said, Scene } from "../attack.ts";
import { sample } from "../sample.ts";
import { canary } from "../texts.ts";

/** Proposals of one turn; more are refused as one. */
const AT_ONCE = 60;

export function propose(tool: string, args: JsonObject): Proposal {
  return { id: "", tool, args };
}

/** Arguments as the agent is told to make them; `{}` where none were found that fit. */
export function argsOf(scene: Scene, tool: string): JsonObject {
  const input = scene.request.tools.find(({ name }) => name === tool)?.input;
  const made = input === undefined ? undefined : sample(input, "a", false);
  return isMap(made) ? made : {};
}

/** Arguments that would do for an action that the agent was not given. */
export function argsFor(manifest: ActionManifest | undefined): JsonObject {
  const made = manifest === undefined ? { id: "1" } : sample(manifest.input, "a", false);
  return isMap(made) ? made : { id: "1" };
}

export function withArg(args: JsonObject, name: string, value: Json): JsonObject {
  const out: JsonObject = {};
  for (const key of Object.keys(args)) setOwn(out, key, args[key] as Json);
  setOwn(out, name, value);
  return out;
}

/** The typed result that fits, its texts being one that can be found again. */
export function result(scene: Scene): Said {
  const made = sample(scene.request.result, canary("result of an agent"), true) ?? {};
  return { results: [made] };
}

/** All proposals over as many turns as it takes, then the result. */
export function allThenResult(scene: Scene, proposals: readonly Proposal[]): Said {
  const from = scene.request.turn * AT_ONCE;
  return from < proposals.length ? { calls: proposals.slice(from, from + AT_ONCE) } : result(scene);
}

/** One turn of proposals, then the result. */
export function onceThenResult(scene: Scene, said: () => Said): Said {
  return scene.request.turn === 0 ? said() : result(scene);
}

/** A valid call of every tool: what all results are seen by. */
export function callAll(scene: Scene): Proposal[] {
  return scene.request.tools.map(({ name }) => propose(name, argsOf(scene, name)));
}

function isMap(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
