/** The engine with agents behind real HTTP: the triage example, its servers, and a model service on loopback. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createEngine } from "../../src/app/engine.ts";
import {
  CHAT_DONE,
  chunk,
  event,
  type ModelServer,
  messageEnd,
  messageStart,
  modelServer,
  toolBlock,
} from "../contracts/model-server.ts";

const TRIAGE = fileURLToPath(new URL("../../examples/triage/", import.meta.url));
const KEY = "sk-canary-7d10";
const TOKEN = "token-canary-93aa";

interface Call {
  id: string;
  name: string;
  args: string;
}

/** Turns with calls in the words of each service. */
const SERVICES = {
  anthropic: {
    model: "claude-sonnet-4-6",
    say: (...calls: Call[]) =>
      messageStart({ input_tokens: 100, output_tokens: 1 }) +
      calls.map(({ id, name, args }, i) => toolBlock(i, id, name, args)).join("") +
      messageEnd("tool_use", { output_tokens: 20 }),
  },
  "openai-compatible": {
    model: "qwen3",
    say: (...calls: Call[]) =>
      calls
        .map(({ id, name, args }, index) => ({ index, id, type: "function", function: { name, arguments: args } }))
        .map((call) => chunk({ tool_calls: [call] }))
        .join("") +
      chunk({}, "tool_calls", { usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } }) +
      CHAT_DONE,
  },
  openai: {
    model: "gpt-5.2",
    say: (...calls: Call[]) => {
      const response = { id: "r", object: "response", created_at: 1, model: "m", output: [] };
      const items = calls.map(({ id, name, args }, i) => {
        const item = { type: "function_call", id: `fc_${id}`, call_id: id, name };
        return (
          event({ type: "response.output_item.added", output_index: i, item: { ...item, arguments: "" } }) +
          event({
            type: "response.output_item.done",
            output_index: i,
            item: { ...item, arguments: args, status: "completed" },
          })
        );
      });
      const usage = { input_tokens: 100, output_tokens: 20, total_tokens: 120 };
      const end = event({ type: "response.completed", response: { ...response, status: "completed", usage } });
      return event({ type: "response.created", response }) + items.join("") + end;
    },
  },
} as const;

let server: ModelServer;
let folder: string;

beforeEach(async () => {
  server = await modelServer();
  folder = mkdtempSync(join(tmpdir(), "ambit-models-"));
});
afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

function write(provider: keyof typeof SERVICES, more: object = {}): string {
  const connector = (name: string) => ({
    mcp: { command: "node", args: [join(TRIAGE, "servers", `${name}.mjs`)] },
    manifest: join(TRIAGE, "manifests", `${name}.yaml`),
    connections: { main: { default: true, env: { TOKEN: { env: "CRM_TOKEN" } } } },
  });
  const deployment = {
    agents: {
      triage_assistant: {
        provider,
        model: SERVICES[provider].model,
        base_url: `${server.url}/v1`,
        api_key: { env: "MODEL_KEY" },
        retries: 0,
        ...more,
      },
    },
    connectors: { crm: connector("crm"), billing: connector("billing") },
    settings: { hidden: "settings-canary-11" },
  };
  // JSON is YAML.
  writeFileSync(join(folder, "ambit.yaml"), JSON.stringify(deployment));
  const workflow = join(folder, "triage.workfile.yaml");
  writeFileSync(workflow, readFileSync(join(TRIAGE, "triage.workfile.yaml"), "utf8"));
  return workflow;
}

async function run(workflow: string) {
  const env = { PATH: process.env["PATH"], MODEL_KEY: KEY, CRM_TOKEN: TOKEN };
  const engine = await createEngine({ cwd: folder, store: "memory", env, say: () => {} });
  try {
    const started = await engine.start(workflow, { inputs: { sender: "ana@example.org" }, runId: "run-canary-22" });
    const records: object[] = [];
    for await (const record of started.events()) records.push(record);
    return { result: await started.result(), records: JSON.stringify(records) };
  } finally {
    await engine.close();
  }
}

const call = (id: string, name: string, args: string): Call => ({ id, name, args });

describe.each(Object.keys(SERVICES) as (keyof typeof SERVICES)[])(
  "an agent behind %s",
  { timeout: 30_000 },
  (provider) => {
    const { say } = SERVICES[provider];

    it("is told what is wrong with a call, gets real answers, and returns a typed result", async () => {
      server.answer(
        {
          pieces: [
            say(
              call("t1", "crm__search", '{"items": [1]}'),
              call("t2", "crm__search", '{"query"'),
              call("t3", "erp__search", "{}"),
            ),
          ],
        },
        { pieces: [say(call("t4", "crm__search", '{"query": "ana@example.org"}'))] },
        { pieces: [say(call("t5", "billing__lookup", '{"id": "acc-201"}'))] },
        { pieces: [say(call("t6", "return_result", '{"account_id": "B-7342-KX"}'))] },
      );
      const { result, records } = await run(write(provider));
      expect(result).toMatchObject({ status: "completed", outputs: { account_id: "B-7342-KX" } });
      expect(result.counts).toMatchObject({ tokens: 480, agent_turns: 4, tool_attempts: 3 });
      const sent = server.seen.map(({ body }) => JSON.stringify(body));
      // Which field is missing, which one has no place, that the text was no JSON, that a tool is none (HO-03, WX-32).
      for (const word of ["query", "items", "no JSON object", "erp.search"]) expect(sent[1]).toContain(word);
      expect(sent[2]).toContain("Harbour Pumps");
      expect(sent[3]).toContain("B-7342-KX");
      // Nothing of the run beside goal and context, no secret of any kind (WX-26 to 28).
      for (const hidden of ["canary", "messaging", "operations", "triage_assistant"]) {
        for (const text of sent) expect(text).not.toContain(hidden);
      }
      for (const secret of [KEY, TOKEN]) expect(records).not.toContain(secret);
      // The identity record (WX-05).
      for (const word of [provider, SERVICES[provider].model, "tools/1", "max_output_tokens"])
        expect(records).toContain(word);
    });

    it("fails the step with a registered code where the service is down or does not take the request (WX-92)", async () => {
      for (const [status, code] of [
        [500, "agent.unavailable"],
        [400, "agent.rejected"],
      ] as const) {
        server.answer({ status, pieces: [{ error: { message: `no ${KEY}`, type: "x" } }] });
        const { result, records } = await run(write(provider));
        expect(result).toMatchObject({ status: "failed", error: { code, position: "resolve" } });
        expect(records).not.toContain(KEY);
      }
    });

    it("is given a turn's tokens as what is left of the budget", async () => {
      server.answer(
        { pieces: [say(call("t1", "crm__search", '{"query": "ana@example.org"}'))] },
        { pieces: [say(call("t2", "give_up", '{"reason": "enough"}'))] },
      );
      const { result } = await run(write(provider, { max_output_tokens: 30_000 }));
      expect(result).toMatchObject({ status: "failed", error: { code: "agent.gave_up" } });
      const limits = server.seen.map(({ body }) => body["max_tokens"] ?? body["max_output_tokens"]);
      expect(limits).toEqual([20_000, 19_880]);
    });
  },
);
