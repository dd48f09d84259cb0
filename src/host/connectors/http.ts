// `http.get` and `http.request`: hosts that the deployment declares, and no others.
//
// I1: each hop is checked like the first: host, scheme, address; what a host is given goes to that host alone.
// I2: a write is never sent on to another place: a redirect of one is its answer.
// I3: secret headers go over TLS, or to a host that the operator named as one from inside.
// I4: no argument sets a header that frames the message, speaks for us, or stands in the deployment.
import type { Clock } from "../../base/clock.ts";
import { isObject, type Json, type JsonObject } from "../../base/json.ts";
import type { CallRequest, CallResult, Connector, Offer } from "../../catalog/connector.ts";
import { type ConnectionSettings, openConnection, type ResolveSecret, unavailable } from "./connection.ts";
import { guardedCall } from "./guarded.ts";
import { bodyOf, MAX_ANSWER_BYTES, refusal, tooLarge, withoutAnswer } from "./http-answer.ts";
import { grants, type HostList, readHostGrant, readTarget } from "./http-hosts.ts";
import { headerProblem, isHeaderValue, sendHttp } from "./http-send.ts";
import { Scrubber } from "./scrubber.ts";

export interface HttpOptions {
  name: string;
  hosts: HostList;
  /** By host (`api.example.org`, `localhost:8080`). */
  headers: { readonly [host: string]: ConnectionSettings["headers"] };
  resolveSecret: ResolveSecret;
  clock: Clock;
}

const METHODS = ["POST", "PUT", "PATCH", "DELETE"];
const MAX_BODY_BYTES = 16 * 1024 * 1024;
const MAX_HOPS = 5;
const MAX_HEADERS = 64;

interface Prepared {
  method: string;
  url: URL;
  headers: { [name: string]: string };
  body: Buffer | null;
}

/** Thrown where the arguments ask for what may not be: nothing has been sent. */
class NotAllowed extends Error {}

export class HttpConnector implements Connector {
  readonly name: string;
  readonly #options: HttpOptions;
  readonly #scrubber = new Scrubber();

  constructor(options: HttpOptions) {
    this.name = options.name;
    this.#options = options;
  }

  async connect(_signal: AbortSignal): Promise<Offer> {
    if (this.#options.hosts.isEmpty) {
      throw unavailable(this.name, "ambit.yaml declares no host (http: { hosts: [api.example.org] })");
    }
    for (const headers of Object.values(this.#options.headers)) await this.#open(headers);
    return {
      actions: Object.fromEntries(["get", "request"].map((action) => [`${this.name}.${action}`, { pin: null }])),
    };
  }

  call(request: CallRequest, signal: AbortSignal): Promise<CallResult> {
    return guardedCall(request, signal, this.#scrubber, async () => {
      try {
        return await this.#call(request, signal);
      } catch (error) {
        if (!(error instanceof NotAllowed)) throw error;
        return { is: "failed", code: "action.invalid_input", message: error.message };
      }
    });
  }

  async #call(request: CallRequest, signal: AbortSignal): Promise<CallResult> {
    const action = request.action.name.slice(this.name.length + 1);
    if (request.action.name !== `${this.name}.${action}` || !["get", "request"].includes(action)) {
      return { is: "failed", code: "action.unavailable", message: `There is no action ${request.action.name}.` };
    }
    const isRead = action === "get";
    let next = prepare(request.args, isRead);
    for (let hops = 0; ; hops++) {
      const answer = await this.#send(next, signal);
      if (answer.is !== "answer") return withoutAnswer(answer);
      const { status } = answer;
      const to = answer.headers["location"];
      if (isRead && to !== undefined && [301, 302, 303, 307, 308].includes(status)) {
        if (hops === MAX_HOPS) return sentOn(status, "once more");
        const followed = follow(next, to, this.#options.hosts);
        if ("problem" in followed) return sentOn(status, followed.problem);
        next = followed;
        continue;
      }
      if (status >= 400)
        return refusal(answer, { auth: "http.status", other: "http.status" }, this.#options.clock, this.#scrubber);
      if (answer.isCut) return tooLarge(answer, isRead);
      const body = bodyOf(answer);
      if (!body.ok) return { is: "unreadable", message: body.why };
      const { "set-cookie": _ours, ...headers } = answer.headers;
      return { is: "ok", value: { status, headers: { ...headers }, body: body.value } };
    }
  }

  async #send({ method, url, headers, body }: Prepared, signal: AbortSignal): ReturnType<typeof sendHttp> {
    const reach = this.#options.hosts.reachOf(url);
    if (reach === null) {
      throw new NotAllowed(
        `The host ${url.host} is not declared in ambit.yaml (http: { hosts: [...] }, names from inside in private_hosts).`,
      );
    }
    const secret = await this.#headersOf(url);
    if (Object.keys(secret).length > 0 && url.protocol === "http:" && reach === "public") {
      throw new NotAllowed(`${url.host} has headers in ambit.yaml, which are sent over https only.`);
    }
    const own = new Set(Object.keys(secret).map((name) => name.toLowerCase()));
    for (const name of Object.keys(headers)) {
      if (own.has(name.toLowerCase())) throw new NotAllowed(`The header ${name} is set in ambit.yaml for ${url.host}.`);
    }
    return sendHttp(
      { method, url, headers: { ...headers, ...secret }, body, reach, maxBytes: MAX_ANSWER_BYTES },
      signal,
    );
  }

  async #headersOf(url: URL): Promise<{ [name: string]: string }> {
    const all: { [name: string]: string } = {};
    for (const [host, headers] of Object.entries(this.#options.headers)) {
      const grant = readHostGrant(host);
      if (grant === null || !grants(grant, url)) continue;
      Object.assign(all, await this.#open(headers));
    }
    return all;
  }

  /** I3 of connectors: the secrets are resolved now and kept by the scrubber alone. */
  async #open(headers: ConnectionSettings["headers"]): Promise<{ readonly [name: string]: string }> {
    const settings: ConnectionSettings = { name: "default", isDefault: true, env: {}, headers };
    const { values, secrets, fields } = await openConnection(settings, this.#options.resolveSecret);
    this.#scrubber.addSecrets(secrets);
    this.#scrubber.addFields(fields);
    for (const [name, value] of Object.entries(values.headers)) {
      if (!isHeaderValue(value)) throw unavailable(this.name, `the value of its header ${name} cannot be sent`);
    }
    return values.headers;
  }

  processes(): { pid: number; startTime: string }[] {
    return [];
  }

  async close(): Promise<void> {}
}

function prepare(args: JsonObject, isRead: boolean): Prepared {
  const given = args["method"];
  const method = isRead ? "GET" : typeof given === "string" ? given : "";
  if (!isRead && !METHODS.includes(method)) throw new NotAllowed(`The method is one of ${METHODS.join(", ")}.`);
  const target = readTarget(typeof args["url"] === "string" ? args["url"] : "");
  if ("problem" in target) throw new NotAllowed(`The url ${target.problem}.`);
  const { url } = target;
  for (const [name, value] of Object.entries(mapOf(args["query"], "query"))) {
    for (const one of Array.isArray(value) ? value : [value])
      url.searchParams.append(name, scalar(one, `query.${name}`));
  }
  const headers: { [name: string]: string } = {};
  for (const [name, value] of Object.entries(mapOf(args["headers"], "headers"))) {
    const text = scalar(value, `headers.${name}`);
    const problem = headerProblem(name, text);
    // The name as given may itself hold a line break.
    if (problem !== null) throw new NotAllowed(`The header ${JSON.stringify(name.slice(0, 80))} ${problem}.`);
    headers[name] = text;
  }
  if (Object.keys(headers).length > MAX_HEADERS) throw new NotAllowed(`At most ${MAX_HEADERS} headers are sent.`);
  const body = isRead ? null : bodyBytes(args["body"], headers);
  return { method, url, headers, body };
}

/** A text as it stands, anything else as JSON. */
function bodyBytes(body: Json | undefined, headers: { [name: string]: string }): Buffer | null {
  if (body === undefined) return null;
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body), "utf8");
  if (bytes.length > MAX_BODY_BYTES) throw new NotAllowed("The body has more than 16 MiB.");
  const isNamed = Object.keys(headers).some((name) => name.toLowerCase() === "content-type");
  if (!isNamed) headers["Content-Type"] = typeof body === "string" ? "text/plain; charset=utf-8" : "application/json";
  return bytes;
}

function mapOf(value: Json | undefined, what: string): JsonObject {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw new NotAllowed(`${what} must be a map.`);
  return value as JsonObject;
}

function scalar(value: Json | undefined, what: string): string {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  throw new NotAllowed(`${what} must be a text, a number or a boolean.`);
}

/** The next hop of a read, or why it is not gone. */
function follow(from: Prepared, location: string, hosts: HostList): Prepared | { problem: string } {
  if (!URL.canParse(location, from.url.href)) return { problem: "to no URL" };
  const target = readTarget(new URL(location, from.url.href).href);
  if ("problem" in target) return { problem: `to a URL that ${target.problem}` };
  const { url } = target;
  if (from.url.protocol === "https:" && url.protocol === "http:") return { problem: "from https to http" };
  if (hosts.reachOf(url) === null) return { problem: `to ${url.host}, which is not declared in ambit.yaml` };
  // What was said to one host is not for another.
  return { ...from, url, headers: url.origin === from.url.origin ? from.headers : {} };
}

function sentOn(status: number, where: string): CallResult {
  return { is: "failed", code: "action.failed", message: `The service answered ${status} and sends on ${where}.` };
}
