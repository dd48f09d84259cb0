// A connector of your own, in one file: what it offers and how each action is done.
import { defineConnector, failure } from "ambit";

const TOWNS = { Oslo: { degrees: 4, wind: "north" }, Porto: { degrees: 17, wind: "west" } };

export const weather = defineConnector({
  manifest: {
    connector: "weather",
    version: "1.0.0",
    actions: {
      now: {
        description: "The weather in a town.",
        input: {
          type: "object",
          required: ["town"],
          additionalProperties: false,
          properties: { town: { type: "string" } },
        },
        output: {
          type: "object",
          required: ["degrees", "wind"],
          properties: { degrees: { type: "number" }, wind: { type: "string" } },
        },
        effects: "read",
        idempotency: "natural",
      },
    },
  },
  actions: {
    now: ({ town }) => {
      const found = TOWNS[town];
      // A definite failure with a code of the connector's own: a `catch` can take it as weather.unknown_town.
      if (!found) throw failure("unknown_town", `There is no weather for ${town}.`);
      return found;
    },
  },
});
