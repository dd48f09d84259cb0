/**
 * Sealed texts (DU-09): AES-256-GCM, `1.KEY.PLACE.NONCE.TEXT` in base64url.
 *
 * I1: a text opens with the key that sealed it and at the place that it was sealed for, or not at all.
 * I2: which of these is not so is told apart: names of key and place stand in front, and are authenticated as well.
 * I3: each sealing takes a nonce of its own from the system's generator.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { hashJson } from "../../base/hash.ts";
import type { Json } from "../../base/json.ts";
import type { Sealer, Unsealed } from "../../run/sealer.ts";

const VERSION = "1";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Signs of the hashes by which key and place are named in front. */
const NAME_SIGNS = 16;

/** Where the key comes from: asked when something is opened or sealed for the first time. */
export interface KeySource {
  /** The text of the key; null where there is none that can be used. */
  find(): string | null;
  /** The same, made where there is none. `store.unavailable`. */
  make(): string;
}

/** A new key, of a store that does not outlive its process. */
export function newKey(): KeySource {
  const text = randomKey();
  return { find: () => text, make: () => text };
}

/** 32 random bytes as base64. */
export function randomKey(): string {
  return randomBytes(KEY_BYTES).toString("base64");
}

interface Key {
  bytes: Buffer;
  name: string;
}

export function openSealer(source: KeySource): Sealer {
  let known: Key | null = null;
  const found = (): Key | null => {
    const text = known === null ? source.find() : null;
    if (text !== null) known = keyOf(text);
    return known;
  };
  return {
    seal: (place, text) => {
      known ??= keyOf(source.make());
      return seal(known, place, text);
    },
    open: (place, sealed) => {
      const key = found();
      return key === null ? { is: "shut", why: "no_key" } : open(key, place, sealed);
    },
  };
}

function keyOf(text: string): Key {
  const derived = (what: string, bytes: number): Buffer =>
    Buffer.from(hkdfSync("sha256", text, "ambit store", what, bytes));
  return { bytes: derived("key", KEY_BYTES), name: derived("name", NAME_SIGNS / 2).toString("hex") };
}

function seal(key: Key, place: Json, text: string): string {
  const front = frontOf(key, place);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key.bytes, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(boundTo(front, place));
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return `${front}.${nonce.toString("base64url")}.${sealed.toString("base64url")}`;
}

function open(key: Key, place: Json, sealed: string): Unsealed {
  const [version, name, at, nonceText, text, ...more] = sealed.split(".");
  if (version !== VERSION || nonceText === undefined || text === undefined || more.length > 0) return DAMAGED;
  if (name !== key.name) return { is: "shut", why: "other_key" };
  const front = frontOf(key, place);
  if (front !== `${version}.${name}.${at}`) return { is: "shut", why: "moved" };
  const nonce = Buffer.from(nonceText, "base64url");
  const bytes = Buffer.from(text, "base64url");
  if (nonce.length !== NONCE_BYTES || bytes.length < TAG_BYTES) return DAMAGED;
  // One spelling for one text: a sign that says nothing may not be changed either.
  if (nonce.toString("base64url") !== nonceText || bytes.toString("base64url") !== text) return DAMAGED;
  try {
    const cipher = createDecipheriv("aes-256-gcm", key.bytes, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(boundTo(front, place));
    cipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
    const clear = Buffer.concat([cipher.update(bytes.subarray(0, bytes.length - TAG_BYTES)), cipher.final()]);
    return { is: "open", text: clear.toString("utf8") };
  } catch {
    return DAMAGED;
  }
}

const DAMAGED: Unsealed = { is: "shut", why: "damaged" };

function frontOf(key: Key, place: Json): string {
  return `${VERSION}.${key.name}.${hashJson(place).slice(0, NAME_SIGNS)}`;
}

function boundTo(front: string, place: Json): Buffer {
  return Buffer.from(`${front}\n${hashJson(place)}`, "utf8");
}
