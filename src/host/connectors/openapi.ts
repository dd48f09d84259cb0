// Operations of an HTTP service, as its OpenAPI document describes them.
//
// I1: requests go to the base URL that the operator named, or that the document names and the operator declared.
// I2: the credential of a connection goes to the origin of the base URL and to no other.
// I3: a read follows redirects to declared hosts, a write follows none.
// I4: what the document says is data: it decides neither where a request goes nor what an action may do.
import type { Clock } from "../../base/clock.ts";
import type { JsonObject } from "../../base/json.ts";
import type { CallRequest, CallResult, Connector, Offer } from "../../catalog/connector.ts";
import {
  type ConnectionSettings,
  connectionNamed,
  defaultConnection,
  openConnection,
  type ResolveSecret,
  unavailable,
} from "./connection.ts";
import type { ConnectionValues } from "./define-connector.ts";
import { guardedCall } from "./guarded.ts";
import { bodyOf, MAX_ANSWER_BYTES, refusal, tooLarge, withoutAnswer } from "./http-answer.ts";
import { HostList, type Reach, readTarget } from "./http-hosts.ts";
import { type HttpAnswer, isHeaderValue, sendHttp } from "./http-send.ts";
import { Once } from "./once.ts";
import { type OpenApiDocument, type Operation, readOpenApi } from "./openapi-document.ts";
import { type BuiltRequest, buildRequest } from "./openapi-request.ts";
import { Scrubber } from "./scrubber.ts";

export interface OpenApiOptions {
  name: string;
  /** Absolute path of the document. */
  file: string;
  /** Null: the document's first server, if its host is among `hosts`. */
  baseUrl: string | null;
  /** Hosts that the document's server, and redirects of reads, may lead to. */
  hosts: readonly string[];
  /** Short names of the manifest's actions, and the operationId where it differs. */
  actions: readonly { name: string; tool?: string }[];
  connections: readonly ConnectionSettings[];
  resolveSecret: ResolveSecret;
  clock: Clock;
}

interface Service {
  document: OpenApiDocument;
  base: URL;
}

interface Opened {
  values: ConnectionValues;
  /** Whether the secret was written with what stands before it (`Bearer `). */
  isWhole: boolean;
}

const MAX_HOPS = 5;
const READS = ["get", "head", "options"];

export class OpenApiConnector implements Connector {
  readonly name: string;
  readonly #options: OpenApiOptions;
  readonly #hosts: HostList;
  readonly #scrubber = new Scrubber();
  readonly #service = new Once<Service>();
  readonly #opened = new Map<string, Once<Opened>>();

  constructor(options: OpenApiOptions) {
    this.name = options.name;
    this.#options = options;
    this.#hosts = new HostList(options.hosts);
  }

  async connect(_signal: AbortSignal): Promise<Offer> {
    const { document } = await this.#load();
    await this.#open(defaultConnection(this.#options.connections));
    const offer: Offer = { actions: {} };
    for (const { name, tool } of this.#options.actions) {
      const found = document.operations.get(tool ?? name);
      if (found) offer.actions[`${this.name}.${name}`] = { pin: found.pin };
    }
    return offer;
  }

  #load(): Promise<Service> {
    return this.#service.get(async () => {
      const wanted = new Set(this.#options.actions.map(({ name, tool }) => tool ?? name));
      const document = readOpenApi(this.#options.file, wanted);
      if ("problem" in document) throw unavailable(this.name, `its OpenAPI document ${document.problem}`);
      const text = this.#options.baseUrl ?? document.server;
      if (text === null) throw unavailable(this.name, "neither ambit.yaml (base_url) nor its document names a server");
      const target = readTarget(text);
      if ("problem" in target) throw unavailable(this.name, `its base URL ${target.problem}`);
      if (this.#options.baseUrl === null && this.#hosts.reachOf(target.url) === null) {
        throw unavailable(
          this.name,
          `its document names the server ${target.url.host}, which ambit.yaml does not declare`,
        );
      }
      return { document, base: target.url };
    });
  }

  call(request: CallRequest, signal: AbortSignal): Promise<CallResult> {
    return guardedCall(request, signal, this.#scrubber, () => this.#call(request, signal));
  }

  async #call(request: CallRequest, signal: AbortSignal): Promise<CallResult> {
    const { document, base } = await this.#load();
    const action = this.#options.actions.find(({ name }) => `${this.name}.${name}` === request.action.name);
    const operation = action && document.operations.get(action.tool ?? action.name);
    const settings = connectionNamed(this.#options.connections, request.connection);
    if (!operation || !settings) {
      return { is: "failed", code: "action.unavailable", message: `${request.action.name} is not offered.` };
    }
    const { args, key } = keyOf(request, operation);
    const built = buildRequest(operation, base, args);
    if ("problem" in built) return { is: "failed", code: "action.invalid_input", message: built.problem };
    if (key !== null) built.headers["Idempotency-Key"] = key;
    const problem = credentials(built, operation, await this.#open(settings));
    if (problem !== null) return { is: "failed", code: "action.invalid_input", message: problem };
    const isRead = READS.includes(operation.method);
    const answer = await this.#send(operation, built, base, isRead, signal);
    return this.#resultOf(answer, isRead);
  }

  /** I2, I3 */
  async #send(
    operation: Operation,
    built: BuiltRequest,
    base: URL,
    isRead: boolean,
    signal: AbortSignal,
  ): Promise<HttpAnswer | CallResult> {
    let { url, headers, body } = built;
    for (let hops = 0; ; hops++) {
      const reach: Reach | null = url.origin === base.origin ? this.#reachOfBase(base) : this.#hosts.reachOf(url);
      if (reach === null) return sentOn("to a host that is not declared");
      const answer = await sendHttp(
        { method: operation.method.toUpperCase(), url, headers, body, reach, maxBytes: MAX_ANSWER_BYTES },
        signal,
      );
      const to =
        answer.is === "answer" && answer.status >= 300 && answer.status < 400 ? answer.headers["location"] : undefined;
      if (!isRead || to === undefined) return answer;
      if (hops === MAX_HOPS) return sentOn("once more");
      if (!URL.canParse(to, url.href)) return sentOn("to no URL");
      const target = readTarget(new URL(to, url.href).href);
      if ("problem" in target) return sentOn(`to a URL that ${target.problem}`);
      if (url.protocol === "https:" && target.url.protocol === "http:") return sentOn("from https to http");
      if (target.url.origin !== url.origin) headers = { Accept: headers["Accept"] ?? "*/*" };
      ({ url } = target);
      body = null;
    }
  }

  /** The operator wrote the base URL, so it may lead inside; one of the document may not, unless it is declared so. */
  #reachOfBase(base: URL): Reach {
    return this.#options.baseUrl === null ? (this.#hosts.reachOf(base) ?? "public") : "anywhere";
  }

  #resultOf(answer: HttpAnswer | CallResult, isRead: boolean): CallResult {
    if (answer.is !== "answer") return isResult(answer) ? answer : withoutAnswer(answer);
    if (answer.status >= 400) {
      return refusal(answer, { auth: "action.auth", other: "action.failed" }, this.#options.clock, this.#scrubber);
    }
    if (answer.status >= 300 && answer.status !== 304) {
      const message = `The service answered ${answer.status} and sends on to another place, which is not followed.`;
      // 307 and 308 ask for the request to be made again elsewhere; with the others it may have been done.
      return isRead || answer.status >= 307
        ? { is: "failed", code: "action.failed", message }
        : { is: "unreadable", message };
    }
    if (answer.isCut) return tooLarge(answer, isRead);
    const body = bodyOf(answer);
    return body.ok ? { is: "ok", value: body.value } : { is: "unreadable", message: body.why };
  }

  #open(settings: ConnectionSettings): Promise<Opened> {
    const opened = this.#opened.get(settings.name) ?? new Once();
    this.#opened.set(settings.name, opened);
    return opened.get(async () => {
      const { values, secrets, fields } = await openConnection(settings, this.#options.resolveSecret);
      this.#scrubber.addSecrets(secrets);
      this.#scrubber.addFields(fields);
      if (values.auth !== null) {
        this.#scrubber.addSecrets([Buffer.from(values.auth, "utf8").toString("base64")]);
      }
      for (const [name, value] of Object.entries(values.headers)) {
        if (!isHeaderValue(value)) throw unavailable(this.name, `the value of its header ${name} cannot be sent`);
      }
      return { values, isWhole: settings.auth?.prefix !== undefined };
    });
  }

  processes(): { pid: number; startTime: string }[] {
    return [];
  }

  async close(): Promise<void> {}
}

/** The arguments without a key that the operation has no parameter for: that one goes as the usual header. */
function keyOf(request: CallRequest, operation: Operation): { args: JsonObject; key: string | null } {
  const { idempotency } = request.action;
  if (idempotency.kind !== "keyed" || request.key === null) return { args: request.args, key: null };
  const { field } = idempotency;
  if (operation.parameters.some(({ argument }) => argument === field)) return { args: request.args, key: null };
  const { [field]: _key, ...args } = request.args;
  return { args, key: request.key };
}

/** Adds what speaks for us, which no argument may have set; a sentence where that cannot be. */
function credentials(built: BuiltRequest, operation: Operation, { values, isWhole }: Opened): string | null {
  const given = new Set(Object.keys(built.headers).map((name) => name.toLowerCase()));
  for (const [name, value] of Object.entries(values.headers)) {
    const isOurs = name.toLowerCase() === "accept";
    if (given.has(name.toLowerCase()) && !isOurs) return `The header ${name} is set by the connection.`;
    if (isOurs) delete built.headers["Accept"];
    built.headers[name] = value;
  }
  const { auth } = values;
  if (auth === null || operation.credential === null) return null;
  const where = operation.credential ?? { kind: "bearer" };
  switch (where.kind) {
    case "bearer":
      return setHeader(built, "Authorization", isWhole ? auth : `Bearer ${auth}`);
    case "basic":
      return setHeader(
        built,
        "Authorization",
        isWhole ? auth : `Basic ${Buffer.from(auth, "utf8").toString("base64")}`,
      );
    case "header":
      return setHeader(built, where.name, auth);
    case "cookie":
      return setHeader(built, "Cookie", `${where.name}=${encodeURIComponent(auth)}`);
    case "query":
      built.url.searchParams.set(where.name, auth);
      return null;
  }
}

function setHeader(built: BuiltRequest, name: string, value: string): string | null {
  if (!isHeaderValue(value)) return "The secret of the connection cannot be sent in a header.";
  for (const other of Object.keys(built.headers)) {
    if (other.toLowerCase() === name.toLowerCase()) delete built.headers[other];
  }
  built.headers[name] = value;
  return null;
}

function isResult(answer: Exclude<HttpAnswer, { is: "answer" }> | CallResult): answer is CallResult {
  return "code" in answer || answer.is === "ok" || (answer.is === "unreadable" && "message" in answer);
}

function sentOn(where: string): CallResult {
  return { is: "failed", code: "action.failed", message: `The service sends on ${where}.` };
}
