import { describe, expect, it } from "vitest";
import type { SdkPart, SdkStream } from "./provider-sdk.ts";
import { collect, readTurn } from "./provider-stream.ts";
import { wireNames } from "./tool-names.ts";

const USAGE = {
  inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 4, text: 4, reasoning: 0 },
};
const finish: SdkPart = { type: "finish", usage: USAGE, finishReason: { unified: "stop", raw: "stop" } };

/** A stream that gives these parts and then ends, or says nothing more for ever. */
function stream(parts: Iterable<SdkPart>, ends = true): SdkStream {
  const left = parts[Symbol.iterator]();
  return new ReadableStream<SdkPart>({
    async pull(controller) {
      const next = left.next();
      if (!next.done) controller.enqueue(next.value);
      else if (ends) controller.close();
      else await new Promise<void>(() => {});
    },
  });
}

const running = () => new AbortController().signal;
const ignore = (): void => {};
const names = wireNames([]);
const call = (toolCallId: string, more: object = {}): SdkPart => ({
  type: "tool-call",
  toolCallId,
  toolName: "crm__search",
  input: "{}",
  ...more,
});

describe("reading a stream", () => {
  it("ends when the signal fires, also where the package below goes on waiting", async () => {
    const stop = new AbortController();
    const reading = collect(stream([{ type: "text-delta", id: "1", delta: "hel" }], false), stop.signal, ignore);
    await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    expect(await reading).toMatchObject({ text: "hel", finish: null });
  });

  it("reads nothing when the signal has fired before", async () => {
    expect(await collect(stream([], false), AbortSignal.abort(), ignore)).toMatchObject({ text: "", finish: null });
  });

  it("calls out at every part, whatever it is", async () => {
    let seen = 0;
    await collect(
      stream([{ type: "raw", rawValue: {} }, { type: "stream-start", warnings: [] }, finish]),
      running(),
      () => {
        seen++;
      },
    );
    expect(seen).toBe(3);
  });

  it("stops at a turn that has no end", async () => {
    function* endless(): Generator<SdkPart> {
      while (true) yield { type: "text-delta", id: "1", delta: "x".repeat(65_536) };
    }
    const found = await collect(stream(endless()), running(), ignore);
    expect(found.tooLong).toBe(true);
    expect(found.text.length).toBeLessThan(5 * 1024 * 1024);
  });

  it("keeps a bounded number of calls, and none that the service carries out itself", async () => {
    const many = Array.from({ length: 1_500 }, (_, i) => call(`t-${i}`));
    const found = await collect(stream([call("own", { providerExecuted: true }), ...many]), running(), ignore);
    expect(found.calls.map((each) => each.id)).toEqual(many.slice(0, 1_000).map((_, i) => `t-${i}`));
  });

  it("keeps the first error, and what a stream throws", async () => {
    const twice: SdkPart[] = [
      { type: "error", error: "first" },
      { type: "error", error: "second" },
    ];
    expect((await collect(stream(twice), running(), ignore)).error).toBe("first");
    const broken = new ReadableStream<SdkPart>({ pull: (controller) => controller.error(new Error("reset")) });
    expect((await collect(broken, running(), ignore)).error).toEqual(new Error("reset"));
  });
});

describe("the turn that a stream amounts to", () => {
  it("gives ids of their own to calls without one, or with one that was there before", async () => {
    const found = await collect(stream([call("same"), call("same"), call(""), finish]), running(), ignore);
    expect(readTurn(found, 3, names).calls.map((each) => each.id)).toEqual(["same", "call_3_1", "call_3_2"]);
  });

  it("takes the first reason for giving up, in whatever form it came", async () => {
    const give = (input: string): SdkPart => call("x", { toolName: "give_up", input });
    for (const [input, reason] of [
      ['{"reason": "a"}', "a"],
      ["", ""],
      ['{"reason": {"b": 1}}', '{"b":1}'],
      ["{broken", "{broken"],
    ] as const) {
      const found = await collect(stream([give(input), give('{"reason": "late"}'), finish]), running(), ignore);
      expect(readTurn(found, 0, names).giveUp).toBe(reason);
    }
  });
});
