import { isObject, type JsonObject, parseJson } from "../../base/json.ts";
import type { CallRequest, CallResult, Connector, Offer } from "../../catalog/connector.ts";
import type { ResolveSecret, SecretReference } from "./connection.ts";
import { unavailable } from "./connection.ts";
import { guardedCall } from "./guarded.ts";
import { neverSent } from "./never-sent.ts";
import { Scrubber } from "./scrubber.ts";

export interface MessagingOptions {
  name: string;
  /** Where posts go: our standard error, or a webhook whose URL is a secret. */
  post: { to: "console"; say: (line: string) => void } | { to: "webhook"; url: SecretReference };
  resolveSecret: ResolveSecret;
}

const MAX_ANSWER_BYTES = 64 * 1024;

/** `messaging.post`. */
export class MessagingConnector implements Connector {
  readonly name: string;
  readonly #options: MessagingOptions;
  readonly #scrubber = new Scrubber();

  constructor(options: MessagingOptions) {
    this.name = options.name;
    this.#options = options;
  }

  async connect(_signal: AbortSignal): Promise<Offer> {
    if (this.#options.post.to === "webhook" && (await this.#url()) === null) {
      throw unavailable(this.name, "its webhook is no http URL");
    }
    return { actions: { [`${this.name}.post`]: { pin: null } } };
  }

  async call(request: CallRequest, signal: AbortSignal): Promise<CallResult> {
    const channel = String(request.args["channel"] ?? "");
    const text = String(request.args["text"] ?? "");
    const { post } = this.#options;
    return guardedCall(request, signal, this.#scrubber, async () => {
      if (post.to === "console") {
        for (const line of printable(text).split("\n"))
          post.say(`[${printable(channel).replaceAll("\n", " ")}] ${line}`);
        return { is: "ok", value: { ok: true, id: null } };
      }
      const url = await this.#url();
      if (url === null) return { is: "failed", code: "action.unavailable", message: "The webhook is no http URL." };
      return send(url, { channel, text }, signal);
    });
  }

  async #url(): Promise<string | null> {
    const { post, resolveSecret } = this.#options;
    if (post.to !== "webhook") return null;
    const text = await resolveSecret(post.url);
    this.#scrubber.addSecrets([text]);
    const url = URL.canParse(text) ? new URL(text) : null;
    return url !== null && ["http:", "https:"].includes(url.protocol) ? text : null;
  }

  processes(): { pid: number; startTime: string }[] {
    return [];
  }

  async close(): Promise<void> {}
}

async function send(url: string, message: JsonObject, signal: AbortSignal): Promise<CallResult> {
  let response: Response;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(message),
      // A redirect would carry the message to somebody the operator has not named.
      redirect: "error",
      signal,
    });
  } catch (error) {
    const cause = neverSent(error);
    if (cause !== null) {
      return { is: "failed", code: "action.unavailable", message: `The webhook cannot be reached (${cause}).` };
    }
    return { is: "ambiguous", code: "connection_lost", message: "The webhook did not answer." };
  }
  const body = await shortText(response);
  const { status } = response;
  if (status >= 200 && status < 300) {
    const parsed = parseJson(body);
    const id =
      parsed.ok && isObject(parsed.value) && typeof parsed.value["id"] === "string" ? parsed.value["id"] : null;
    return { is: "ok", value: { ok: true, id } };
  }
  const details = { status };
  const said = `The webhook answered ${status}.`;
  if (status === 401 || status === 403) return { is: "failed", code: "action.auth", message: said, details };
  if (status === 429) {
    const seconds = Number(response.headers.get("retry-after"));
    const wait = Number.isFinite(seconds) && seconds > 0 ? { retryAfter: Math.min(seconds, 3_600) * 1_000 } : {};
    return { is: "failed", code: "action.rate_limited", message: said, details, ...wait };
  }
  if (status === 503) return { is: "failed", code: "action.unavailable", message: said, details };
  if (status === 502 || status === 504) return { is: "ambiguous", code: "connection_lost", message: said, details };
  return { is: "failed", code: "action.failed", message: said, details };
}

/** At most 64 KiB of an answer; the rest is left unread. */
async function shortText(response: Response): Promise<string> {
  if (response.body === null) return "";
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of response.body) {
      size += chunk.byteLength;
      if (size > MAX_ANSWER_BYTES) break;
      chunks.push(chunk);
    }
  } catch {
    // The status has come, and it says what happened.
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Without the control characters that would let a message repaint the terminal. */
function printable(text: string): string {
  return text.replaceAll(/(?![\n\t])\p{Cc}/gu, " ");
}
