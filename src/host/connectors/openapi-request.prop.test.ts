import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject } from "../../base/json.ts";
import { isHeaderValue } from "./http-send.ts";
import { parseOpenApi } from "./openapi-document.ts";
import { buildRequest } from "./openapi-request.ts";

const text = { type: "string" };
const document = parseOpenApi(
  JSON.stringify({
    openapi: "3.1.0",
    paths: {
      "/of/{a}-{b}/end": {
        get: {
          operationId: "op",
          parameters: [
            ...["a", "b"].map((name) => ({ name, in: "path", required: true, schema: text })),
            { name: "q", in: "query", schema: text },
            { name: "X-H", in: "header", schema: text },
          ],
        },
      },
    },
  }),
  "t",
);
if ("problem" in document) throw new Error(document.problem);
const operation = document.operations.get("op");
if (!operation) throw new Error("no operation");

/** Texts that are fond of the places where URLs and headers come apart. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "..",
        ".",
        "/",
        "\\",
        "//",
        "%2e",
        "%2F",
        "%5c",
        "%25",
        "@",
        ":",
        "?",
        "#",
        ";",
        "\r\n",
        "\u0000",
      ),
      fc.constantFrom("http:", "evil.example", "[::1]", "\t", " ", "\ud800", "ü", "\u2028", "\uff0f", "\uff0e"),
      fc.string({ maxLength: 4 }),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((parts) => parts.join(""));

test("whatever the arguments are, a request goes below the base URL, with them in their places, or not at all", () => {
  const base = new URL("https://api.example.org/v1/");
  let sent = 0;
  fc.assert(
    fc.property(hostile, hostile, hostile, hostile, (a, b, q, header) => {
      const built = buildRequest(operation, base, { a, b, q, "X-H": header } as JsonObject);
      if ("problem" in built) return;
      sent++;
      const { url, headers } = built;
      expect([url.protocol, url.host, url.username, url.password, url.hash]).toEqual([
        "https:",
        "api.example.org",
        "",
        "",
        "",
      ]);
      // What is sent is read again as the same: nothing in it moves.
      expect(new URL(url.href).href).toBe(url.href);
      const steps = url.pathname.split("/");
      expect([steps.length, steps[1], steps[2], steps[4]]).toEqual([5, "v1", "of", "end"]);
      expect(decodeURIComponent(steps[3] ?? "")).toBe(`${a.toWellFormed()}-${b.toWellFormed()}`);
      expect([...url.searchParams]).toEqual([["q", q.toWellFormed()]]);
      expect(Object.keys(headers)).toEqual(["Accept", "X-H"]);
      expect(isHeaderValue(headers["X-H"] ?? "")).toBe(true);
      expect(headers["X-H"]).not.toMatch(/[\r\n]/);
    }),
    { numRuns: 3_000 },
  );
  // The property says nothing if all is refused.
  expect(sent).toBeGreaterThan(100);
});
