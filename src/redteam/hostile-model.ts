import type { ModelPort, TurnOutcome } from "../agent/model.ts";
import type { Clock } from "../base/clock.ts";
import { reportedUsage } from "../run/usage.ts";
import type { Attack, World } from "./attack.ts";
import type { Observed } from "./observed.ts";

/** A model that plays an attack; what it is given is noted first. */
export function hostileModel(attack: Attack, world: World, observed: Observed, clock: Clock): ModelPort {
  return {
    async turn(request): Promise<TurnOutcome> {
      observed.asked(request, clock.now());
      const said = attack.says({ request, world });
      if (said === "silence") return new Promise<never>(() => {});
      const turn = {
        is: "turn" as const,
        text: "",
        calls: [],
        results: [],
        giveUp: null,
        usage: { input: 5, output: 5 },
        finish: "stop",
        ...said,
      };
      const usage = reportedUsage(turn.usage);
      const { calls, results } = turn;
      const tokens = usage === null ? null : usage.input + usage.output;
      observed.said({ step: request.step, turn: request.turn, tokens, calls, results });
      return turn;
    },
  };
}
