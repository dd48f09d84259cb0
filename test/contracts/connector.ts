import { afterEach, describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../src/base/json.ts";
import type { CallRequest, CallResult, Connector } from "../../src/catalog/connector.ts";
import type { ActionManifest } from "../../src/catalog/manifest.ts";

/** An action manifest with what a test needs and nothing else. */
export function manifestOf(name: string, more: Partial<ActionManifest> = {}): ActionManifest {
  return {
    name,
    description: "",
    input: { type: "object" },
    output: {},
    effects: "read",
    idempotency: { kind: "natural" },
    retry: { attempts: 1, backoff: 0, on: [] },
    timeout: 10_000,
    dryRun: { kind: "execute" },
    scopes: [],
    requires: [],
    ambiguous: [],
    ...more,
  };
}

export function requestOf(name: string, args: JsonObject = {}, more: Partial<CallRequest> = {}): CallRequest {
  return {
    action: manifestOf(name),
    connection: "default",
    args,
    key: null,
    run: "run-1",
    position: "step",
    attempt: 1,
    timeout: 10_000,
    ...more,
  };
}

export const never = (): AbortSignal => new AbortController().signal;

/** The text of a result wherever the kind of connector puts it. */
export function textIn(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

export const CANARY = "canary-7f3a/ä+b";

export interface ContractSubject {
  connector: Connector;
  /** Name of the connector's one connection. */
  connection: string;
}

/**
 * What every connector does. The subject is called `demo` and offers `echo` (its text again), `refuse` (fails with
 * "none left"), `wait` (until its signal), `leak` (its connection's secret, which is CANARY).
 */
export function connectorContract(kind: string, make: () => Promise<ContractSubject>): void {
  describe(`the connector contract: ${kind}`, () => {
    const open: Connector[] = [];
    const subject = async (): Promise<ContractSubject> => {
      const made = await make();
      open.push(made.connector);
      return made;
    };
    afterEach(async () => {
      for (const connector of open.splice(0)) await connector.close();
    });
    const call = async (name: string, args: JsonObject = {}, signal = never()): Promise<CallResult> => {
      const { connector, connection } = await subject();
      await connector.connect(signal);
      return connector.call(requestOf(name, args, { connection }), signal);
    };

    test("offers what it has, and a second connect gives the same offer", async () => {
      const { connector } = await subject();
      const offer = await connector.connect(never());
      expect(Object.keys(offer.actions)).toEqual(expect.arrayContaining(["demo.echo", "demo.refuse", "demo.wait"]));
      expect(await connector.connect(never())).toEqual(offer);
    });

    test("gives a result as JSON", async () => {
      const result = await call("demo.echo", { text: "hé\n🎈" });
      expect(result).toEqual({ is: "ok", value: { text: "hé\n🎈" } });
    });

    test("a refusal is a definite failure with a registered code or one of its own", async () => {
      const result = await call("demo.refuse");
      expect(result).toMatchObject({ is: "failed", message: "none left" });
      expect(result.is === "failed" && /^(?:action|demo)\.[a-z_]+$/.test(result.code)).toBe(true);
    });

    test("WX-28: a secret of the connection never comes out, in no spelling", async () => {
      const result = await call("demo.leak");
      const said = JSON.stringify(result);
      expect(result.is).toBe("ok");
      expect(said).not.toContain(CANARY);
      expect(said).not.toContain(encodeURIComponent(CANARY));
      expect(said).not.toContain(Buffer.from(CANARY).toString("base64").slice(0, 12));
      expect(said).toContain("[redacted]");
    });

    test("HO-09: a call ends soon after its signal, without throwing and without a definite failure", async () => {
      const stop = new AbortController();
      const { connector, connection } = await subject();
      await connector.connect(never());
      const calling = connector.call(requestOf("demo.wait", {}, { connection }), stop.signal);
      await new Promise((resolve) => setTimeout(resolve, 50));
      stop.abort();
      expect(["ok", "ambiguous"]).toContain((await calling).is);
    });

    test("WX-42: only exact names are performed", async () => {
      const { connector, connection } = await subject();
      await connector.connect(never());
      for (const name of ["demo.ECHO", "demo.echo ", "demo.есho", "other.echo", "demo.__proto__", "demo.constructor"]) {
        const result = await connector.call(requestOf(name, { text: "x" }, { connection }), never());
        expect(result.is).toBe("failed");
      }
    });

    test("closing twice, and calling afterwards, does no harm", async () => {
      const { connector, connection } = await subject();
      await connector.connect(never());
      await connector.close();
      await connector.close();
      await connector.call(requestOf("demo.refuse", {}, { connection }), never());
      expect(connector.processes()).toEqual([]);
    });
  });
}
