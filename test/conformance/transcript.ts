/** Everything that agents were given, by run: each request for a turn as the model port received it. */
import type { TurnRequest } from "../../src/agent/model.ts";
import type { Model } from "../../src/host/models/create-model.ts";

const turns = new Map<string, TurnRequest[]>();

/** The same model, its requests written down. */
export function overheard(model: Model): Model {
  const { port } = model;
  return {
    ...model,
    port: {
      turn: (request, signal) => {
        const known = turns.get(request.run);
        const copy = structuredClone(request);
        if (known) known.push(copy);
        else turns.set(request.run, [copy]);
        return port.turn(request, signal);
      },
    },
  };
}

/** In the order in which they were asked for. */
export function turnsOf(run: string): readonly TurnRequest[] {
  return turns.get(run) ?? [];
}

export function forgetTurns(run: string): void {
  turns.delete(run);
}
