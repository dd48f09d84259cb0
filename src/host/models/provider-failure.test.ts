import { describe, expect, it } from "vitest";
import { LONGEST_MESSAGE, readFailure, retryAfter } from "./provider-failure.ts";

describe("reading a failed model call", () => {
  it.each([
    [{ type: "overloaded_error", message: "x" }, true],
    [{ data: { error: { code: "rate_limit_exceeded", message: "x" } } }, true],
    [{ error: { status: "RESOURCE_EXHAUSTED", message: "x" } }, true],
    [{ statusCode: 503, message: "x" }, true],
    [{ statusCode: 500, message: "x" }, false],
    [{ statusCode: 429, data: { error: { type: "insufficient_quota" } } }, false],
    [new TypeError("fetch failed"), false],
    ["terminated", false],
    [null, false],
    [
      {
        get message() {
          return 7;
        },
      },
      false,
    ],
  ])("%# says whether trying again can help", (error, retry) => {
    expect(readFailure(error, "", 0)).toMatchObject({ retry, outcome: { code: "agent.unavailable" } });
  });

  it.each([400, 413, 422])("makes status %i a refusal of the content", (statusCode) => {
    expect(readFailure({ statusCode, message: "x" }, "", 0).outcome.code).toBe("agent.rejected");
  });

  it("cuts the key out of a message, and a message down to one short line", () => {
    const message = `key sk-1234567 is\n\u001b[31mbad${"!".repeat(5_000)}`;
    const { outcome } = readFailure({ statusCode: 500, message }, "sk-1234567", 0);
    expect(outcome.message).not.toContain("sk-1234567");
    expect(outcome.message).toContain("key *** is [31mbad");
    expect(outcome.message.length).toBeLessThan(LONGEST_MESSAGE + 100);
  });

  it("keeps nothing of the request", () => {
    const error = { statusCode: 500, message: "x", requestBodyValues: { prompt: "canary" }, url: "http://canary" };
    expect(JSON.stringify(readFailure(error, "", 0))).not.toContain("canary");
  });

  it("does not follow an error that contains itself", () => {
    const error: { error?: unknown } = {};
    error.error = { error };
    expect(readFailure(error, "", 0).outcome.message).toContain("no reason");
  });
});

describe("the pause that a service asks for", () => {
  it.each([
    [{ "retry-after": "2" }, 2_000],
    [{ "retry-after": "0.25" }, 250],
    [{ "retry-after-ms": "12.5", "retry-after": "9" }, 13],
    [{ "retry-after": "Thu, 01 Jan 1970 00:00:10 GMT" }, 9_000],
    [{ "retry-after": "Thu, 01 Jan 1970 00:00:00 GMT" }, 0],
    [{ "retry-after": "soon" }, null],
    [{ "retry-after": "-5" }, null],
    [{ "retry-after": 5 }, null],
    [{}, null],
  ])("%o is %s ms", (headers, ms) => {
    expect(retryAfter(headers, 1_000)).toBe(ms);
  });
});
