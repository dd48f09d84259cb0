/** Workspaces around the server of `ledger-server.mjs`, and around stubs of the same connector. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../built/built.ts";
import { linesOf, lives, Workspace } from "./workspace.ts";

export interface BookLine {
  pid: number;
  phase: "started" | "asked" | "done" | "deduplicated" | "answered" | "told to end";
  tool?: string;
  args?: { item: string };
  key?: string | null;
}

const shape = (fields: string): string =>
  `{ type: object, required: [item${fields}], additionalProperties: false, properties: { item: { type: string }${fields === "" ? "" : ", key: { type: string }"} } }`;

/** `look` reads, `charge` is keyed, `send` is a write that cannot be repeated. */
export const LEDGER_MANIFEST = `
connector: ledger
version: 1.0.0
actions:
  look:
    description: Looks something up.
    input: ${shape("")}
    output: { type: object }
    effects: read
    idempotency: natural
    timeout: 40s
  charge:
    description: Charges an account.
    input: ${shape(", key")}
    output: { type: object }
    effects: write
    idempotency: { keyed: key }
    timeout: 40s
  send:
    description: Sends a letter.
    input: ${shape("")}
    output: { type: object }
    effects: write
    idempotency: none
    timeout: 40s
`;

export const LEDGER_WORKFILE = `workfile: "1"
name: ledger
inputs:
  item: { type: string, required: true }
limits: { deadline: 5m }
steps:
  - settle:
      wf.agent: clerk
      goal: Settle {{ inputs.item }}.
      with: { item: "{{ inputs.item }}" }
      tools: [ledger.look, ledger.charge, ledger.send]
      returns: { said: { type: string, required: true } }
      budget: { steps: 8 }
outputs: { said: "{{ settle.said }}" }
`;

/** An agent that calls these tools one after the other and then says what the last one answered. */
export function clerk(...tools: string[]): string {
  const turns = tools.map(
    (tool) => `        - { call: ledger.${tool}, with: { item: "{{ context.item }}" }, tokens: 10 }\n`,
  );
  return `agents:\n  clerk:\n    - step: settle\n      turns:\n${turns.join("")}        - finish: { said: "{{ results[${tools.length - 1}].done }} of {{ results[${tools.length - 1}].of }}" }\n`;
}

/** A workspace whose agent calls these tools of a real server. */
export function serverSpace(tools: string[], command?: { command: string; args: string[] }): LedgerSpace {
  const space = new LedgerSpace();
  const script = join(root, "test/faults/ledger-server.mjs");
  const mcp = command ?? { command: "node", args: [script, space.folder] };
  space.write({
    "ledger.workfile.yaml": LEDGER_WORKFILE,
    "clerk.scripted.yaml": clerk(...tools),
    "manifest.yaml": LEDGER_MANIFEST,
    "ambit.yaml": `agents:
  clerk: { provider: scripted, script: ./clerk.scripted.yaml }
connectors:
  ledger:
    mcp: ${JSON.stringify(mcp)}
    manifest: ./manifest.yaml
`,
  });
  return space;
}

/** The same with scripted answers in the place of the server; `tools` is the text of a stub file. */
export function stubSpace(script: string, tools: string, workfile = LEDGER_WORKFILE, more = ""): LedgerSpace {
  const space = new LedgerSpace();
  space.write({
    "ledger.workfile.yaml": workfile,
    "clerk.scripted.yaml": script,
    "manifest.yaml": LEDGER_MANIFEST,
    "tools.yaml": `log: ./calls.jsonl\n${tools}`,
    "ambit.yaml": `agents:
  clerk: { provider: scripted, script: ./clerk.scripted.yaml }
connectors:
  ledger: { stub: ./tools.yaml, manifest: ./manifest.yaml }
${more}`,
  });
  return space;
}

export interface StubCall {
  at: string;
  action: string;
  args: { [name: string]: unknown };
  key: string | null;
  position: string;
  attempt: number;
  phase: "dispatched" | "done" | "deduplicated" | "aborted";
}

export class LedgerSpace extends Workspace {
  get book(): BookLine[] {
    return linesOf<BookLine>(this.path("book.jsonl"));
  }

  get calls(): StubCall[] {
    return linesOf<StubCall>(this.path("calls.jsonl"));
  }

  lines(phase: BookLine["phase"], tool?: string): BookLine[] {
    return this.book.filter((line) => line.phase === phase && (tool === undefined || line.tool === tool));
  }

  /** From now on the server does not answer calls of this tool. */
  hold(tool: string): void {
    writeFileSync(this.path(`hold-${tool}`), "");
  }

  /** It answers whatever it held. */
  letGo(): void {
    for (const tool of ["look", "charge", "send"]) rmSync(this.path(`hold-${tool}`), { force: true });
  }

  /** Has the effect before it holds a call / does not end on SIGTERM. */
  make(flag: "early" | "stubborn"): void {
    writeFileSync(this.path(flag), "");
  }

  /** Ends the servers that a killed engine has left behind. */
  override remove(): void {
    this.letGo();
    for (const pid of new Set(this.book.map((line) => line.pid))) if (lives(pid)) process.kill(pid, "SIGKILL");
    super.remove();
  }
}
