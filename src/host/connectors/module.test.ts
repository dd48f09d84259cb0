import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import type { Json } from "../../base/json.ts";
import type { CallRequest, CallResult } from "../../catalog/connector.ts";
import { type ActionFunction, defineConnector, failure, unknownOutcome } from "./define-connector.ts";
import { loadConnectorModule } from "./load-module.ts";
import { ModuleConnector } from "./module.ts";

const folder = mkdtempSync(join(tmpdir(), "ambit-module-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const signal = new AbortController().signal;

const OPTIONS = { name: "store", connections: [], resolveSecret: async () => "" };

/** What a function throws. */
function caught(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

function perform(action: ActionFunction, until: AbortSignal = signal): Promise<CallResult> {
  const module = defineConnector({ actions: { act: action } });
  const connector = new ModuleConnector({ name: "store", module, connections: [], resolveSecret: async () => "" });
  const request = { action: { name: "store.act" }, connection: "default", args: { n: 1 }, key: "k", attempt: 2 };
  return connector.call(request as unknown as CallRequest, until);
}

describe("what an action does is what came of it", () => {
  test("a value, with arguments and context", async () => {
    expect(await perform((args, { key, attempt }) => ({ ...args, key, attempt }))).toEqual({
      is: "ok",
      value: { n: 1, key: "k", attempt: 2 },
    });
  });

  test("nothing returned is null", async () => {
    expect(await perform((() => undefined) as unknown as ActionFunction)).toEqual({ is: "ok", value: null });
  });

  test("failures of its own, short or registered", async () => {
    const throwing = (error: Error) => perform(() => Promise.reject(error));
    expect(await throwing(failure("out_of_stock", "none", { details: { left: 0 } }))).toEqual({
      is: "failed",
      code: "store.out_of_stock",
      message: "none",
      details: { left: 0 },
    });
    expect(await throwing(failure("rate_limited", "slow", { retryAfter: 500 }))).toMatchObject({
      code: "action.rate_limited",
      retryAfter: 500,
    });
    expect(await throwing(unknownOutcome("unsure", "no answer"))).toMatchObject({
      is: "ambiguous",
      code: "store.unsure",
    });
  });

  test.each([
    ["at once", () => process.exit(0)],
    ["later", () => new Promise<Json>((_, reject) => setImmediate(() => reject(caught(() => process.exit(0)))))],
    [
      "and hides it",
      () => {
        caught(() => process.exit(0));
        return { done: true };
      },
    ],
  ])(
    "no-exit I1: an action that ends the process %s ends nothing, and nobody knows what it did",
    async (_when, act) => {
      expect(await perform(act)).toMatchObject({
        is: "ambiguous",
        code: "executor_lost",
        message: expect.stringContaining("process.exit(0)"),
      });
    },
  );

  test("anything else thrown is action.failed, without a stack", async () => {
    const result = await perform(() => {
      throw new TypeError("x is undefined");
    });
    expect(result).toEqual({ is: "failed", code: "action.failed", message: "x is undefined" });
    expect(await perform(() => Promise.reject("plain"))).toMatchObject({ code: "action.failed", message: "plain" });
  });

  describe("once the signal has fired", () => {
    const stopped = async (action: ActionFunction): Promise<CallResult> => {
      const stop = new AbortController();
      const calling = perform(action, stop.signal);
      await new Promise((resolve) => setImmediate(resolve));
      stop.abort();
      return calling;
    };
    const fired = (context: { signal: AbortSignal }): Promise<void> =>
      new Promise((resolve) => context.signal.addEventListener("abort", () => resolve(), { once: true }));

    test("a request that it tore off may have done its work: nobody knows", async () => {
      const result = await stopped(async (_args, context) => {
        await fired(context);
        context.signal.throwIfAborted();
        return null;
      });
      expect(result).toMatchObject({ is: "ambiguous", code: "connection_lost" });
    });

    test("so may anything else that throws then", async () => {
      const result = await stopped(async (_args, context) => {
        await fired(context);
        throw new TypeError("the socket is closed");
      });
      expect(result).toEqual({ is: "ambiguous", code: "connection_lost", message: "the socket is closed" });
    });

    test("only an action that says so has definitely failed", async () => {
      const result = await stopped(async (_args, context) => {
        await fired(context);
        throw failure("out_of_stock", "none");
      });
      expect(result).toEqual({ is: "failed", code: "store.out_of_stock", message: "none" });
    });
  });

  test.each([
    ["a function", () => () => 1],
    ["a number that is none", () => Number.NaN],
    ["an object of a class", () => new Date(0)],
    [
      "a circle",
      () => {
        const a: { [key: string]: unknown } = {};
        a["a"] = a;
        return a;
      },
    ],
  ])("%s cannot be read", async (_name, make) => {
    expect((await perform(make as unknown as () => Json)).is).toBe("unreadable");
  });
});

describe("loading", () => {
  const load = (name: string, text: string) => {
    const file = join(folder, name);
    writeFileSync(file, text);
    return loadConnectorModule(pathToFileURL(file).href);
  };
  // A module of an author brings its own copy of the package: the brand is all they have in common.
  const define = 'const D = Symbol.for("ambit.connector"); const define = (d) => ({ ...d, [D]: true });\n';

  test("finds the default export, one called connector, or the only one", async () => {
    expect((await load("a.mjs", `${define}export default define({ actions: {} });`)).ok).toBe(true);
    expect(
      (
        await load(
          "b.mjs",
          `${define}export const connector = define({ actions: {} }); export const x = define({ actions: {} });`,
        )
      ).ok,
    ).toBe(true);
    expect((await load("c.mjs", `${define}export const mine = define({ actions: {} });`)).ok).toBe(true);
  });

  test.each([
    ["none", "export const a = 1;", /nothing made by defineConnector/],
    ["several", `${define}export const a = define({}), b = define({});`, /several/],
    ["broken", "export default {", /cannot be loaded/],
    ["throwing", 'throw new Error("at the top")', /at the top/],
  ])("says why not: %s", async (name, text, message) => {
    const loaded = await load(`${name}.mjs`, text);
    expect(!loaded.ok && loaded.message).toMatch(message);
  });

  test("a definition with something else than functions is refused where it is made", () => {
    expect(() => defineConnector({ actions: { a: 1 as unknown as ActionFunction } })).toThrow(TypeError);
  });

  test("one whose top level never ends is left at its deadline, and at a signal", async () => {
    const endless = join(folder, "endless.mjs");
    writeFileSync(endless, "await new Promise(() => {});");
    const url = pathToFileURL(endless).href;
    const late = await loadConnectorModule(url, { deadline: 20 });
    expect(late).toEqual({ ok: false, message: "The module cannot be loaded: it was not loaded within 20ms." });
    const stop = new AbortController();
    const stopped = loadConnectorModule(url, { signal: stop.signal });
    stop.abort();
    expect(await stopped).toMatchObject({ ok: false, message: expect.stringContaining("stopped") });
    const connector = new ModuleConnector({ ...OPTIONS, module: endless, deadline: 20 });
    await expect(connector.connect(signal)).rejects.toMatchObject({ code: "catalog.unavailable" });
  });

  test("a folder, a pipe and nothing at all are no module", async () => {
    const pipe = join(folder, "pipe.mjs");
    execFileSync("mkfifo", [pipe]);
    for (const path of [folder, pipe, join(folder, "absent.mjs")]) {
      expect(await loadConnectorModule(pathToFileURL(path).href)).toMatchObject({
        ok: false,
        message: expect.stringMatching(/cannot be loaded: (it is|there is no)/),
      });
    }
  });

  test.each([
    ["at once", "process.exit(0);"],
    ["later on its top level", "await new Promise((r) => setTimeout(r, 1)); process.exit(0);"],
    ["and hides it", "try { process.exit(0); } catch {}"],
    ["in what it imports", 'import "./exits.mjs";'],
    ["by an abort", "process.abort();"],
  ])("one that ends the process %s is refused, and nothing ends", async (_when, text) => {
    writeFileSync(join(folder, "exits.mjs"), "process.exit(0);");
    const loaded = await load(`exit-${text.length}.mjs`, `${define}${text}\nexport default define({ actions: {} });`);
    expect(loaded).toMatchObject({
      ok: false,
      message: expect.stringMatching(/it called process\.(exit\(0\)|abort\(\))/),
    });
  });

  test("connecting and closing have a deadline, too, and end no process", async () => {
    const hangs = defineConnector({
      actions: {},
      connect: () => new Promise(() => {}),
      close: () => new Promise(() => {}),
    });
    const hanging = new ModuleConnector({ ...OPTIONS, module: hangs, deadline: 20 });
    await expect(hanging.connect(signal)).rejects.toMatchObject({
      code: "catalog.unavailable",
      message: expect.stringContaining("was not connected within 20ms"),
    });
    await hanging.close();
    const exits = defineConnector({ actions: {}, connect: () => process.exit(0), close: () => process.exit(0) });
    const exiting = new ModuleConnector({ ...OPTIONS, module: exits });
    await expect(exiting.connect(signal)).rejects.toMatchObject({ code: "catalog.unavailable" });
    await exiting.close();
  });

  test("a module that refuses to connect refuses the run", async () => {
    const module = defineConnector({ actions: {}, connect: () => Promise.reject(new Error("no licence")) });
    const connector = new ModuleConnector({ name: "store", module, connections: [], resolveSecret: async () => "" });
    await expect(connector.connect(signal)).rejects.toMatchObject({
      code: "catalog.unavailable",
      message: expect.stringContaining("no licence"),
    });
  });
});
