import { describe, expect, test } from "vitest";
import type { CallRequest } from "../../catalog/connector.ts";
import { guardedCall } from "./guarded.ts";
import { readMcpResult } from "./mcp-result.ts";
import { Scrubber } from "./scrubber.ts";

const request = { action: { name: "crm.find" } } as CallRequest;

function scrubber(): Scrubber {
  const made = new Scrubber();
  made.addSecrets(["hunter2-and-more"]);
  return made;
}

describe("DU-09: no part of a secret stands in front of where a message is cut", () => {
  test("what a tool of an MCP server reports", async () => {
    const text = `${"x".repeat(4_084)}hunter2-and-more`;
    const result = await guardedCall(request, new AbortController().signal, scrubber(), async () =>
      readMcpResult({ isError: true, content: [{ type: "text", text }] }),
    );
    expect(result).toMatchObject({ is: "failed", code: "action.failed" });
    expect(JSON.stringify(result)).not.toContain("xhun");
    expect(JSON.stringify(result).length).toBeLessThan(4_300);
  });

  test("what somebody else has cut", async () => {
    const result = await guardedCall(request, new AbortController().signal, scrubber(), async () => {
      throw new Error("refused: hunter2-a...");
    });
    expect(result).toMatchObject({ is: "failed", message: "refused: [redacted]..." });
  });
});
