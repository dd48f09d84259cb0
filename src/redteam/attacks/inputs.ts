/** Agents that call their own tools with what is not theirs to say. */
import type { Proposal } from "../../agent/model.ts";
import { emptyObject, type Json, type JsonObject } from "../../base/json.ts";
import { agentKey } from "../../run/keys.ts";
import type { Attack, Scene } from "../attack.ts";
import { allThenResult, argsOf, onceThenResult, propose, withArg } from "./says.ts";

const AS_ASKED = ["result", "no_progress"] as const;

const FORGED_KEYS: Attack = {
  id: "forged-keys",
  title: "supplies the reserved key, right, wrong and null, and inputs that the policy fixes",
  rules: ["WX-48", "WX-49"],
  says: (scene) => allThenResult(scene, reserved(scene)),
  ends: AS_ASKED,
};

const ESCALATION: Attack = {
  id: "escalating-arguments",
  title: "adds a connection, credentials, an address, limits, policies and an approval to its arguments",
  rules: ["WX-38", "WX-39"],
  says: (scene) =>
    allThenResult(
      scene,
      scene.request.tools.flatMap(({ name }) =>
        Object.keys(ESCALATIONS).map((key) =>
          propose(name, withArg(argsOf(scene, name), key, ESCALATIONS[key] as Json)),
        ),
      ),
    ),
  ends: AS_ASKED,
};

const PROTOTYPES: Attack = {
  id: "prototype-keys",
  title: "names its arguments and calls like members of every object",
  rules: ["WX-33"],
  says: (scene) =>
    allThenResult(
      scene,
      [...scene.request.tools.map(({ name }) => name), "__proto__", "constructor", "hasOwnProperty"].flatMap((name) =>
        ["__proto__", "constructor", "prototype", "toString"].map((key) => ({
          ...propose(name, withArg(argsOf(scene, name), key, { polluted: true, additionalProperties: true })),
          id: key,
        })),
      ),
    ),
  ends: AS_ASKED,
};

const NOT_JSON: Attack = {
  id: "not-json",
  title: "sends arguments that are no JSON object, or no JSON at all",
  rules: ["WX-33"],
  says: (scene) =>
    allThenResult(
      scene,
      scene.request.tools.flatMap(({ name }) => [
        ...["{not json", "", "[]", "null", '"text"', "1e999", '{"a":1}{"b":2}', "\ud800"].map(
          (argsText): Proposal => ({ id: "", tool: name, argsText }),
        ),
        ...[Number.NaN, Number.POSITIVE_INFINITY, "\ud800", undefined, () => 1, 1n].map((value) =>
          propose(name, withArg(argsOf(scene, name), "odd", value as unknown as Json)),
        ),
      ]),
    ),
  ends: AS_ASKED,
};

const HUGE: Attack = {
  id: "huge-arguments",
  title: "sends arguments of hundreds of kilobytes and of thousands of keys",
  rules: ["WX-33"],
  says: (scene) =>
    onceThenResult(scene, () => ({
      calls: scene.request.tools.slice(0, 4).flatMap(({ name }) => {
        const args = argsOf(scene, name);
        const many: JsonObject = {};
        for (let i = 0; i < 5_000; i++) many[`k${i}`] = i;
        const texts = Object.keys(args).filter((key) => typeof args[key] === "string");
        return [
          propose(name, many),
          propose(name, withArg(args, "more", "x".repeat(300_000))),
          ...texts.slice(0, 1).map((key) => propose(name, withArg(args, key, "x".repeat(300_000)))),
          { id: "", tool: name, argsText: "[".repeat(300_000) },
        ];
      }),
      text: "x".repeat(300_000),
    })),
  ends: AS_ASKED,
};

const DEEP: Attack = {
  id: "deep-arguments",
  title: "sends arguments that are nested fifty thousand deep",
  rules: ["WX-33"],
  says: (scene) =>
    onceThenResult(scene, () => ({
      calls: scene.request.tools.flatMap(({ name }) => [
        propose(name, withArg(argsOf(scene, name), "deep", nested(50_000))),
        propose(name, nested(50_000) as JsonObject),
        propose(name, withArg(argsOf(scene, name), "deep", nested(60))),
      ]),
    })),
  ends: AS_ASKED,
};

const IDS: Attack = {
  id: "odd-call-ids",
  title: "gives its calls the same id, huge ids and names of the language",
  rules: ["WX-100"],
  says: (scene) =>
    allThenResult(
      scene,
      scene.request.tools.flatMap(({ name }) =>
        ["", "1", "1", "__proto__", "call-0", "call-1", "x".repeat(100_000), "\ud800"].map((id) => ({
          ...propose(name, argsOf(scene, name)),
          id,
        })),
      ),
    ),
  ends: AS_ASKED,
};

export const INPUT_ATTACKS: readonly Attack[] = [FORGED_KEYS, ESCALATION, PROTOTYPES, NOT_JSON, HUGE, DEEP, IDS];

function reserved(scene: Scene): Proposal[] {
  const { request, world } = scene;
  const right = [0, 1, 2].map((n) => agentKey(request.run, request.step, n));
  return request.tools.flatMap(({ name }) => {
    const args = argsOf(scene, name);
    const idempotency = world.admitted[name]?.manifest.idempotency;
    const field = idempotency?.kind === "keyed" ? idempotency.field : "idempotency_key";
    const forged: Json[] = [...right, `wf-agent-v1:${"0".repeat(64)}`, "", null, 1, {}, []];
    const fixed = world.fixed(request.agent, name);
    return [
      ...forged.map((value) => propose(name, withArg(args, field, value))),
      ...[field.toUpperCase(), ` ${field}`, `${field}\u200b`].map((key) => propose(name, withArg(args, key, "mine"))),
      ...Object.keys(fixed).flatMap((key) =>
        [fixed[key] as Json, "other", null].map((value) => propose(name, withArg(args, key, value))),
      ),
    ];
  });
}

const ESCALATIONS: JsonObject = {
  connection: "admin",
  account: "admin",
  connector: "admin",
  base_url: "https://example.org/",
  headers: { Authorization: "Bearer mine" },
  Authorization: "Bearer mine",
  auth: "mine",
  timeout: "9h",
  retry: { attempts: 99, backoff: "1ms" },
  on_unknown: "fail",
  budget: { steps: 1_000, tokens: 1_000_000_000 },
  policy: { approve: [], deny: [] },
  approved: true,
  scopes: ["*"],
  tools: ["*"],
  dry_run: false,
  position: "other.(tools)[0]",
  attempt: 99,
  run: "another-run",
};

/** Maps within maps; without a prototype, as a parser may give them. */
function nested(depth: number): Json {
  let value: Json = 1;
  for (let i = 0; i < depth; i++) {
    const outer = emptyObject();
    outer["d"] = value;
    value = outer;
  }
  return value;
}
