// Which hosts may be spoken to, and at which addresses.
//
// I1: a host is compared exactly, after one normalisation that grants and URLs share: lower case, IDNA, no final dot.
// I2: what is connected to is what was checked: the URL is read once, its name resolved once.
// I3: a name leads to the public internet or nowhere: one that also resolves to an inner address is refused, unless
//     the operator named that address, `localhost`, or listed the name as one from inside.
import { BlockList, isIP, isIPv6 } from "node:net";
import { domainToASCII } from "node:url";

/** A host with its port; without one ports 80 and 443 are meant. */
export interface HostGrant {
  host: string;
  port: string | null;
}

/** Where connections to a host may lead. */
export type Reach = "public" | "anywhere";

const MAX_URL_LENGTH = 8_192;

/** `host` or `host:port`, an address of version 6 in brackets; null for anything else, wildcards included. */
export function readHostGrant(text: string): HostGrant | null {
  const match = /^(\[[0-9A-Fa-f:.]+\]|[^\s/?#@\\%*:[\]]+)(?::([1-9]\d{0,4}))?$/.exec(text);
  if (!match || Number(match[2] ?? "1") > 65_535) return null;
  const bare = match[1] ?? "";
  if (!bare.startsWith("[") && domainToASCII(bare) === "") return null;
  const url = `http://${bare}/`;
  if (!URL.canParse(url)) return null;
  const host = hostOf(new URL(url));
  return host === null ? null : { host, port: match[2] ?? null };
}

/** The hosts that an operator declared. */
export class HostList {
  readonly #grants: readonly HostGrant[];
  readonly #inside: readonly HostGrant[];

  /** Texts that are no grant are left out: whoever reads the deployment has reported them. */
  constructor(hosts: readonly string[], privateHosts: readonly string[] = []) {
    this.#grants = hosts.flatMap((text) => readHostGrant(text) ?? []);
    this.#inside = privateHosts.flatMap((text) => readHostGrant(text) ?? []);
  }

  get isEmpty(): boolean {
    return this.#grants.length + this.#inside.length === 0;
  }

  /** How far a URL may lead; null where its host is not declared. */
  reachOf(url: URL): Reach | null {
    if (this.#inside.some((grant) => grants(grant, url))) return "anywhere";
    if (!this.#grants.some((grant) => grants(grant, url))) return null;
    // An address cannot surprise the operator who wrote it down.
    const host = hostOf(url) ?? "";
    return host === "localhost" || isIP(unbracketed(host)) !== 0 ? "anywhere" : "public";
  }
}

/** Whether a grant covers the host and port of a URL. */
export function grants(grant: HostGrant, url: URL): boolean {
  if (hostOf(url) !== grant.host) return false;
  const port = url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port;
  return grant.port === null ? port === "80" || port === "443" : port === grant.port;
}

/** The host of a URL as it is compared; null for an IPv4 address that is dressed up as one of version 6. */
function hostOf(url: URL): string | null {
  const host = url.hostname.toLowerCase().replace(/\.$/, "");
  if (host === "" || host.startsWith("[::ffff:")) return null;
  return host;
}

export function unbracketed(host: string): string {
  return host.startsWith("[") ? host.slice(1, -1) : host;
}

/** A URL that a request may be made to, or why there is none: the end of a sentence about it. */
export function readTarget(text: string): { url: URL } | { problem: string } {
  if (text.length > MAX_URL_LENGTH) return { problem: `is longer than ${MAX_URL_LENGTH} characters` };
  // The parser would take these out or turn them, and somebody who looked at the text would have seen another URL.
  if (/[\s\\\p{Cc}]/u.test(text)) return { problem: "holds blanks, backslashes or control characters" };
  if (!/^https?:\/\/[^/]/i.test(text)) return { problem: "does not begin with http:// or https:// and a host" };
  if (!URL.canParse(text)) return { problem: "is no URL" };
  const url = new URL(text);
  if (/^https?:\/\/[^/?#]*@/i.test(text)) {
    return { problem: "holds a user name, which no request is made with" };
  }
  url.hash = "";
  return { url };
}

const INNER = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const) {
  INNER.addSubnet(network, prefix, "ipv4");
}
for (const [network, prefix] of [
  // Teredo, documentation and 6to4: they carry an address of version 4, or none.
  ["2001::", 32],
  ["2001:db8::", 32],
  ["2002::", 16],
] as const) {
  INNER.addSubnet(network, prefix, "ipv6");
}
const GLOBAL = new BlockList();
GLOBAL.addSubnet("2000::", 3, "ipv6");

/** Whether an address is one of the public internet: neither private, loopback, link-local, translated nor mapped. */
export function isPublicAddress(address: string): boolean {
  const bare = address.split("%")[0] ?? "";
  if (isIPv6(bare)) return GLOBAL.check(bare, "ipv6") && !INNER.check(bare, "ipv6");
  return isIP(bare) === 4 && !INNER.check(bare, "ipv4");
}
