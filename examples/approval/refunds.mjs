// Stands for a payment provider: it keeps nothing and answers at once.
import { defineConnector } from "ambit";

const amounts = { Ana: 30, Ben: 12 };

export const refunds = defineConnector({
  manifest: {
    connector: "refunds",
    version: "1.0.0",
    actions: {
      due: {
        description: "What a guest has paid too much.",
        input: {
          type: "object",
          required: ["guest"],
          additionalProperties: false,
          properties: { guest: { type: "string" } },
        },
        output: { type: "object", required: ["amount"], properties: { amount: { type: "integer" } } },
        effects: "read",
        idempotency: "natural",
      },
      pay: {
        description: "Pays money back to a guest.",
        input: {
          type: "object",
          required: ["guest", "amount"],
          additionalProperties: false,
          properties: { guest: { type: "string" }, amount: { type: "integer", minimum: 1, maximum: 500 } },
        },
        output: { type: "object", required: ["paid"], properties: { paid: { type: "integer" } } },
        effects: "write",
        idempotency: "none",
      },
    },
  },
  actions: {
    due: ({ guest }) => ({ amount: amounts[guest] ?? 5 }),
    pay: ({ amount }) => ({ paid: amount }),
  },
});
