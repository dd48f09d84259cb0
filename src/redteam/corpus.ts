import type { Attack } from "./attack.ts";
import { BOUND_ATTACKS } from "./attacks/bounds.ts";
import { INPUT_ATTACKS } from "./attacks/inputs.ts";
import { NAME_ATTACKS } from "./attacks/names.ts";
import { RESULT_ATTACKS } from "./attacks/results.ts";
import { callAll, result } from "./attacks/says.ts";

/** Every way to misbehave that we know of: what `ambit redteam` plays and what our own tests play. */
export const ATTACKS: readonly Attack[] = [...NAME_ATTACKS, ...INPUT_ATTACKS, ...BOUND_ATTACKS, ...RESULT_ATTACKS];

/** An agent that does what it should: what it is given then is what the file means to give. */
export const CALM: Attack = {
  id: "calm",
  title: "calls each of its tools once and returns",
  rules: ["WX-26", "WX-27"],
  says: (scene) => (scene.request.turn === 0 ? { calls: callAll(scene) } : result(scene)),
  ends: ["result", "no_progress", "no_result"],
};
