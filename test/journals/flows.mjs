// What the recorded histories are histories of: between them all kinds of records that this version writes.
const shape = (key) =>
  `{ type: object, required: [item${key ? ", key" : ""}], additionalProperties: false, properties: { item: { type: any }${key ? ", key: { type: string }" : ""} } }`.replace(
    "{ type: any }",
    "{}",
  );

const MANIFEST = `connector: shop
version: 1.0.0
actions:
  look: { description: Looks it up., input: ${shape(false)}, output: { type: object }, effects: read, idempotency: natural, retry: { attempts: 3, backoff: 10ms, on: [unavailable] } }
  charge: { description: Charges., input: ${shape(true)}, output: { type: object }, effects: write, idempotency: { keyed: key } }
  send: { description: Sends., input: ${shape(false)}, output: { type: object }, effects: write, idempotency: none }
`;

const DEPLOYMENT = `agents:
  clerk: { provider: scripted, script: ./clerk.scripted.yaml }
connectors:
  shop: { stub: ./tools.yaml, manifest: ./manifest.yaml }
`;

const ANSWERS = `log: ./calls.jsonl
actions:
  shop.look:
    - { when: { item: flaky }, times: 1, fail: { code: unavailable, message: not yet } }
    - { when: { item: never }, fail: { code: unavailable, message: never } }
    - { when: { item: slow }, hang: true }
    - { return: { of: "{{ args.item }}" } }
  shop.charge: [ { return: { paid: "{{ args.item }}" } } ]
  shop.send:
    - { when: { item: lost }, ambiguous: connection_lost }
    - { return: { sent: "{{ args.item }}" } }
`;

function flow(steps, script = "agents: { clerk: [] }\n", outputs = "{}") {
  return {
    "ambit.yaml": DEPLOYMENT,
    "manifest.yaml": MANIFEST,
    "tools.yaml": ANSWERS,
    "clerk.scripted.yaml": script,
    "flow.workfile.yaml": `workfile: "1"
name: flow
inputs:
  items: { type: array, default: [a, b, c], items: { type: string } }
limits: { deadline: 5m }
steps:
${steps}outputs: ${outputs}
`,
  };
}

const AGENT = `  - settle:
      wf.agent: clerk
      goal: Settle {{ inputs.items[0] }}.
      with: { item: "{{ inputs.items[0] }}" }
      tools: [shop.look, shop.charge]
      returns: { said: { type: string, required: true } }
      budget: { steps: 3, tokens: 5000 }
`;

const TURNS = `agents:
  clerk:
    - step: settle
      turns:
        - { say: Looking., call: shop.look, with: { item: "{{ context.item }}" }, tokens: 100 }
        - { call: shop.refund, with: { item: x } }
        - { calls: [ { tool: shop.look, with: {} }, { tool: shop.charge, with: { item: "{{ results[0].of }}" } } ], tokens: 50 }
        - finish: { said: "{{ results[0].of }} is paid" }
`;

export const FLOWS = {
  agent: {
    files: flow(`${AGENT}  - letter: { shop.send: { item: "{{ settle.said }}" } }\n`, TURNS, '{ said: "{{ settle.said }}" }'),
    args: [],
    end: "completed",
  },
  exhausted: {
    files: flow(
      `${AGENT}      on_exhausted:\n        - tell: { shop.send: { item: too much } }\n`,
      "agents: { clerk: [ { step: settle, turns: [ { call: shop.look, with: { item: a }, repeat: forever } ] } ] }\n",
    ),
    args: [],
    end: "failed",
  },
  loop: {
    files: flow(
      `  - rounds:
      wf.each: "{{ inputs.items }}"
      as: item
      max: 2
      concurrency: 2
      on_item_failure: skip
      steps:
        - seen: { shop.look: { item: "{{ item == 'a' ? 'flaky' : 'never' }}" } }
        - odd:
            wf.if: "{{ index == 0 }}"
            then: [ { paid: { shop.charge: { item: "{{ seen.of }}" } } } ]
      yield: "{{ seen.of }}"
`,
      undefined,
      '{ rounds: "{{ rounds }}" }',
    ),
    args: [],
    end: "completed",
  },
  resumed: {
    files: flow(`${AGENT}  - letter: { shop.send: { item: "{{ settle.said }}" } }\n`, TURNS, '{ said: "{{ settle.said }}" }'),
    args: [],
    kill: 6,
    end: "completed",
  },
  unknown: {
    files: flow("  - letter: { shop.send: { item: lost } }\n  - after: { shop.look: { item: a } }\n"),
    args: [],
    end: "failed",
  },
  late: {
    files: flow("  - slow: { shop.look: { item: slow }, timeout: 200ms }\n"),
    args: [],
    end: "timed_out",
  },
  deadline: {
    files: flow("  - slow: { shop.look: { item: slow } }\n"),
    args: ["--deadline", "300ms"],
    end: "timed_out",
  },
};
