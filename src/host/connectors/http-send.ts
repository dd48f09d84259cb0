// One HTTP request, sent once.
//
// I1: nothing is followed, cached or sent again here; no proxy, cookie or credential of our own process is used.
// I2: what was never sent is told from what may have been: nothing leaves before the connection stands.
// I3: an answer is read to its bound and no further, after decompression, whatever lengths it claims.
// I4: the address that is connected to is one that was checked.
import { type LookupAddress, lookup } from "node:dns";
import { type ClientRequest, request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { emptyObject } from "../../base/json.ts";
import { isPublicAddress, type Reach, unbracketed } from "./http-hosts.ts";

export interface HttpRequest {
  method: string;
  url: URL;
  /** Checked by {@link headerProblem} already. */
  headers: { readonly [name: string]: string };
  body: Uint8Array | null;
  /** Whether addresses that are not of the public internet may be connected to. */
  reach: Reach;
  /** Bytes of the answer's body, decompressed. */
  maxBytes: number;
}

/** `why` ends a sentence and names no URL. */
export type HttpAnswer =
  /** `body` is cut at the bound where `isCut`. Header names are in lower case. */
  | { is: "answer"; status: number; headers: { [name: string]: string }; body: Buffer; isCut: boolean }
  | { is: "never_sent"; why: string }
  /** Sent, or partly; no whole answer came. */
  | { is: "lost"; why: string }
  /** A whole answer came that cannot be read. */
  | { is: "unreadable"; status: number; why: string };

const MAX_HEADERS_BYTES = 32 * 1024;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]{0,8192}$/;
/** They frame the message, or speak for us: no argument sets them. */
const OWN_HEADERS = new Set([
  "accept-encoding",
  "authorization",
  "connection",
  "content-length",
  "cookie",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Why a header may not be set by an argument; null if it may. A line break in a value would begin another header. */
export function headerProblem(name: string, value: string): string | null {
  if (!HEADER_NAME.test(name)) return "is no header name";
  const lower = name.toLowerCase();
  if (OWN_HEADERS.has(lower) || lower.startsWith("proxy-")) return "is not for arguments to set";
  return isHeaderValue(value) ? null : "has a value that no header can carry";
}

export function isHeaderValue(value: string): boolean {
  return HEADER_VALUE.test(value);
}

class NotPublic extends Error {}

/** Sends a request and reads its answer. Never throws; a signal that fires ends it at once. */
export async function sendHttp(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
  const host = unbracketed(request.url.hostname);
  if (request.reach === "public" && isIP(host) !== 0 && !isPublicAddress(host)) {
    return { is: "never_sent", why: "its address is not one of the public internet" };
  }
  if (signal.aborted) return { is: "never_sent", why: "it was stopped before" };
  let isConnected = false;
  try {
    const response = await exchange(request, signal, () => {
      isConnected = true;
    });
    return await readAnswer(request, response, signal);
  } catch (error) {
    const why = wordsOf(error);
    return isConnected ? { is: "lost", why } : { is: "never_sent", why };
  }
}

function exchange(request: HttpRequest, signal: AbortSignal, connected: () => void): Promise<IncomingMessage> {
  const { url, method, body } = request;
  const isSecure = url.protocol === "https:";
  const options: RequestOptions = {
    method,
    // One connection for one request: a kept one may break under it, and then nobody knows.
    agent: false,
    headers: {
      ...request.headers,
      "Accept-Encoding": "identity",
      Connection: "close",
      ...(body === null ? {} : { "Content-Length": String(body.byteLength) }),
    },
    lookup: lookupWithin(request.reach),
    maxHeaderSize: MAX_HEADERS_BYTES,
    insecureHTTPParser: false,
    signal,
  };
  return new Promise((resolve, reject) => {
    const sent: ClientRequest = (isSecure ? httpsRequest : httpRequest)(url, options, resolve);
    sent.on("error", reject);
    sent.on("upgrade", (_response, socket) => {
      socket.destroy();
      reject(new Error("the server changed the protocol"));
    });
    sent.on("socket", (socket) => socket.once(isSecure ? "secureConnect" : "connect", connected));
    sent.end(body ?? undefined);
  });
}

/** I4: one look-up, all of whose addresses must be allowed. */
function lookupWithin(reach: Reach): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error) return callback(error, "", 0);
      const [first] = addresses;
      if (!first || (reach === "public" && !addresses.every(({ address }) => isPublicAddress(address)))) {
        return callback(new NotPublic("its name leads to an address that is not of the public internet"), "", 0);
      }
      if (options.all) return callback(null, addresses);
      return callback(null, first.address, first.family);
    });
  };
}

async function readAnswer(request: HttpRequest, response: IncomingMessage, signal: AbortSignal): Promise<HttpAnswer> {
  const status = response.statusCode ?? 0;
  const headers = headersOf(response);
  const answer = (body: Buffer, isCut: boolean): HttpAnswer => ({ is: "answer", status, headers, body, isCut });
  if (request.method === "HEAD" || status === 204 || status === 304) {
    response.destroy();
    return answer(Buffer.alloc(0), false);
  }
  const encoding = (headers["content-encoding"] ?? "").trim().toLowerCase();
  const decoder = decoderOf(encoding);
  if (decoder === null) {
    response.destroy();
    return { is: "unreadable", status, why: "its answer is packed in a way that was not asked for" };
  }
  if (decoder === undefined && Number(headers["content-length"] ?? 0) > request.maxBytes && status < 400) {
    response.destroy();
    return answer(Buffer.alloc(0), true);
  }
  const stream: Readable = decoder === undefined ? response : response.pipe(decoder);
  let isBroken = false;
  // What breaks the connection does not reach the stream behind it by itself.
  response.on("error", (error) => {
    isBroken = true;
    stream.destroy(error);
  });
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream) {
      const bytes = chunk as Buffer;
      const left = request.maxBytes - size;
      chunks.push(bytes.length > left ? bytes.subarray(0, left) : bytes);
      size += bytes.length;
      if (size > request.maxBytes) return answer(Buffer.concat(chunks), true);
    }
  } catch (error) {
    // The status of a refusal says what happened, whole or not.
    if (status >= 400 && !signal.aborted) return answer(Buffer.concat(chunks), true);
    if (isBroken || signal.aborted || decoder === undefined) return { is: "lost", why: wordsOf(error) };
    return { is: "unreadable", status, why: "its answer cannot be unpacked" };
  } finally {
    response.destroy();
    stream.destroy();
  }
  return answer(Buffer.concat(chunks), false);
}

/** Undefined for what is not packed, null for a way of packing that we do not read. */
function decoderOf(encoding: string): (Readable & NodeJS.WritableStream) | undefined | null {
  switch (encoding) {
    case "":
    case "identity":
      return undefined;
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "deflate":
      return createInflate();
    case "br":
      return createBrotliDecompress();
    default:
      return null;
  }
}

function headersOf(response: IncomingMessage): { [name: string]: string } {
  const headers = emptyObject<string>();
  for (const [name, value] of Object.entries(response.headers)) {
    if (value !== undefined) headers[name] = (Array.isArray(value) ? value.join(", ") : value).toWellFormed();
  }
  return headers;
}

/** The end of a sentence about what was thrown: a system's code rather than a text that may name the URL. */
function wordsOf(error: unknown): string {
  if (error instanceof NotPublic) return error.message;
  if (error instanceof Error && error.name === "AbortError") return "it was stopped";
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
  return code === null ? "the connection broke" : `the connection broke: ${code}`;
}
