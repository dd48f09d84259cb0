import type { Message, Proposal, TurnRequest } from "../agent/model.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { Position } from "../plan/position.ts";

/** A dispatch as the connector saw it. */
export interface Dispatch {
  action: string;
  connector: string;
  connection: string;
  args: JsonObject;
  key: string | null;
  position: Position;
  attempt: number;
  /** Milliseconds since 1970 UTC. */
  at: number;
}

/** What happened outside of the engine, in order. */
export type Seen =
  /** `given`: what the turn was given that those before it were not, as JSON. */
  | { what: "asked"; step: Position; turn: number; at: number; given: string }
  | {
      what: "said";
      step: Position;
      turn: number;
      tokens: number | null;
      calls: readonly Proposal[];
      results: readonly Json[];
    }
  | ({ what: "dispatched" } & Dispatch);

/** The outside of one run: what its models and connectors were given. */
export class Observed {
  readonly seen: Seen[] = [];
  /** Calls that were under way at one moment, at most. */
  width = 0;
  #underWay = 0;
  readonly #given = new Map<Position, { messages: ReadonlySet<Message>; terms: string }>();

  asked({ step, turn, messages, tools, result }: TurnRequest, at: number): void {
    const before = this.#given.get(step);
    const terms = JSON.stringify({ tools, result });
    // A turn is given all that was said before: noted whole, a long conversation would not fit into memory.
    const given = JSON.stringify(messages.filter((message) => before?.messages.has(message) !== true));
    this.#given.set(step, { messages: new Set(messages), terms });
    this.seen.push({ what: "asked", step, turn, at, given: before?.terms === terms ? given : given + terms });
  }

  said(said: Omit<Extract<Seen, { what: "said" }>, "what">): void {
    this.seen.push({ what: "said", ...said });
  }

  dispatched(dispatch: Dispatch): void {
    this.#underWay++;
    this.width = Math.max(this.width, this.#underWay);
    this.seen.push({ what: "dispatched", ...dispatch });
  }

  settled(): void {
    this.#underWay--;
  }

  get dispatches(): Dispatch[] {
    return this.seen.filter((entry) => entry.what === "dispatched");
  }
}
