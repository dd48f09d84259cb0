import { isObject } from "../../base/json.ts";
import type { CallResult } from "../../catalog/connector.ts";
import { BROKEN_FRAME, LOST } from "./broken-answer.ts";
import { messageOf } from "./guarded.ts";
import { neverSent } from "./never-sent.ts";

const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;

/** Whether an error says that the server does not know what it was asked for: worth a look at its list. */
export function mayLackTool(error: unknown): boolean {
  const code = codeOf(error);
  return code === METHOD_NOT_FOUND || code === INVALID_PARAMS;
}

/** What an error of the client means for a call that was not ended by our own signal. */
export function readMcpError(error: unknown): CallResult {
  const message = messageOf(error, "The call failed.");
  const status = statusOf(error);
  if (status !== null) return ofStatus(status, message);
  if (isObject(error) && error["data"] === BROKEN_FRAME) return { is: "unreadable", message };
  if (isObject(error) && error["data"] === LOST) return lost(message);
  if (error instanceof SyntaxError || (error instanceof Error && error.name.includes("ZodError"))) {
    return { is: "unreadable", message: "The server's answer is no message of the protocol." };
  }
  switch (codeOf(error)) {
    case "INVALID_RESULT":
    case "UNSUPPORTED_RESULT_TYPE":
    case "CLIENT_HTTP_UNEXPECTED_CONTENT":
      return { is: "unreadable", message };
    case "NOT_CONNECTED":
    case "NOT_INITIALIZED":
    case "SEND_FAILED":
    case "CAPABILITY_NOT_SUPPORTED":
    case "METHOD_NOT_SUPPORTED_BY_PROTOCOL_VERSION":
      return { is: "failed", code: "action.unavailable", message };
    case "CONNECTION_CLOSED":
    case "REQUEST_TIMEOUT":
      return lost(message);
    default:
  }
  if (error instanceof Error && error.name === "UnauthorizedError")
    return { is: "failed", code: "action.auth", message };
  if (typeof codeOf(error) === "number") return { is: "failed", code: "action.failed", message };
  const cause = neverSent(error);
  if (cause !== null) {
    return { is: "failed", code: "action.unavailable", message: `The server cannot be reached (${cause}).` };
  }
  return lost(message);
}

function ofStatus(status: number, message: string): CallResult {
  if (status === 401 || status === 403) return { is: "failed", code: "action.auth", message };
  if (status === 429) return { is: "failed", code: "action.rate_limited", message };
  if (status === 503 || status === 404) return { is: "failed", code: "action.unavailable", message };
  // A gateway that gave up says nothing about what the server behind it did.
  if (status === 502 || status === 504) return lost(message);
  return { is: "failed", code: "action.failed", message };
}

function lost(message: string): CallResult {
  return { is: "ambiguous", code: "connection_lost", message };
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

function statusOf(error: unknown): number | null {
  if (!(error instanceof Error)) return null;
  const data = "data" in error && isObject(error.data) ? error.data["status"] : undefined;
  const own = "status" in error ? error.status : undefined;
  const status = typeof own === "number" ? own : data;
  return typeof status === "number" && status >= 300 ? status : null;
}
