import { resolve } from "node:path";
import type { SecretRef } from "../../admit/deployment.ts";
import { emptyObject, type JsonObject } from "../../base/json.ts";
import { setOwn } from "../../plan/marked.ts";
import { itemPath, keyPath } from "../../text/path.ts";
import { type Bounds, clip, Reader } from "../../text/reader.ts";
import { type MapEntry, type SourceText, type TreeNode, toJson } from "../../text/tree.ts";

/** Environment variables as a value. */
export type Environment = { readonly [name: string]: string | undefined };

export type Keys = Map<string, MapEntry>;

const CODE = "deployment.invalid";

/**
 * Reads keys of `ambit.yaml`. A getter takes the keys of a map, the map's path and a key; it gives undefined
 * where the key is absent or what stands there was reported.
 */
export class Section {
  readonly reader: Reader;
  /** Absolute folder that relative paths start from. */
  readonly folder: string;

  constructor(source: SourceText, folder: string) {
    this.reader = new Reader(source, { unknownKey: CODE, missingKey: CODE, wrongType: CODE, badValue: CODE });
    this.folder = folder;
  }

  map(
    keys: Keys,
    base: string,
    key: string,
    legal: readonly string[],
    required: readonly string[] = [],
  ): Keys | undefined {
    const entry = keys.get(key);
    return (entry && this.reader.closed(entry.value, keyPath(base, key), key, legal, required)) ?? undefined;
  }

  text(keys: Keys, base: string, key: string): string | undefined {
    const entry = keys.get(key);
    if (!entry) return undefined;
    const text = this.reader.text(entry.value, keyPath(base, key), key);
    if (text !== "") return text ?? undefined;
    this.bad(entry.value, keyPath(base, key), `${key} must not be empty.`);
    return undefined;
  }

  /** A text of which `none` says that there is none. */
  textOrNone(keys: Keys, base: string, key: string): string | undefined {
    const text = this.text(keys, base, key);
    return text === "none" ? undefined : text;
  }

  /** A path as an absolute one. */
  path(keys: Keys, base: string, key: string): string | undefined {
    const text = this.text(keys, base, key);
    return text === undefined ? undefined : resolve(this.folder, text);
  }

  boolean(keys: Keys, base: string, key: string): boolean | undefined {
    const entry = keys.get(key);
    return (entry && this.reader.boolean(entry.value, keyPath(base, key), key)) ?? undefined;
  }

  integer(keys: Keys, base: string, key: string, bounds: Bounds): number | undefined {
    const entry = keys.get(key);
    return (entry && this.reader.integer(entry.value, keyPath(base, key), key, bounds)) ?? undefined;
  }

  number(keys: Keys, base: string, key: string, bounds: Bounds): number | undefined {
    const entry = keys.get(key);
    return (entry && this.reader.number(entry.value, keyPath(base, key), key, bounds)) ?? undefined;
  }

  duration(keys: Keys, base: string, key: string, bounds: Bounds): number | undefined {
    const entry = keys.get(key);
    return (entry && this.reader.duration(entry.value, keyPath(base, key), key, bounds)) ?? undefined;
  }

  oneOf<T extends string>(keys: Keys, base: string, key: string, values: readonly T[]): T | undefined {
    const entry = keys.get(key);
    return (entry && this.reader.oneOf(entry.value, keyPath(base, key), key, values)) ?? undefined;
  }

  texts(keys: Keys, base: string, key: string): string[] | undefined {
    const entry = keys.get(key);
    if (!entry) return undefined;
    const path = keyPath(base, key);
    const items = this.reader.list(entry.value, path, key);
    return items?.flatMap((item, i) => this.reader.text(item, itemPath(path, i), `each of ${key}`) ?? []);
  }

  /** A map with any keys: its entries with their paths. */
  entries(keys: Keys, base: string, key: string): { entry: MapEntry; path: string }[] {
    const entry = keys.get(key);
    if (!entry) return [];
    const path = keyPath(base, key);
    const entries = this.reader.open(entry.value, path, key) ?? [];
    return entries.map((inner) => ({ entry: inner, path: keyPath(path, inner.key) }));
  }

  jsonMap(keys: Keys, base: string, key: string): JsonObject | undefined {
    const entry = keys.get(key);
    if (!entry) return undefined;
    if (this.reader.open(entry.value, keyPath(base, key), key) === null) return undefined;
    return toJson(entry.value) as JsonObject;
  }

  /** A size like 64MiB or 512KiB, in bytes. */
  bytes(keys: Keys, base: string, key: string): number | undefined {
    const text = this.text(keys, base, key);
    const entry = keys.get(key);
    if (text === undefined || !entry) return undefined;
    const match = /^([1-9]\d{0,8})(B|KiB|MiB|GiB)$/.exec(text);
    const unit = { B: 1, KiB: 1_024, MiB: 1_024 ** 2, GiB: 1_024 ** 3 }[match?.[2] ?? ""];
    if (match && unit !== undefined) return Number(match[1]) * unit;
    this.bad(entry.value, keyPath(base, key), `${key} is no size: "${clip(text)}".`, "Write it like 64MiB or 512KiB.");
    return undefined;
  }

  secret(keys: Keys, base: string, key: string): SecretRef | undefined {
    const entry = keys.get(key);
    return entry ? this.secretNode(entry.value, keyPath(base, key), key) : undefined;
  }

  secretNode(node: TreeNode, path: string, what: string): SecretRef | undefined {
    if (node.kind !== "map") {
      this.bad(
        node.kind === "scalar" ? node : { start: node.start, end: node.start + 1 },
        path,
        `${what} must be a reference to a secret, not the secret itself.`,
        "Write { env: NAME } or { file: PATH }.",
      );
      return undefined;
    }
    const keys = this.reader.closed(node, path, what, ["env", "file", "prefix"]);
    if (!keys) return undefined;
    const prefix = this.text(keys, path, "prefix");
    const before = prefix === undefined ? {} : { prefix };
    const env = this.text(keys, path, "env");
    const file = this.path(keys, path, "file");
    if (env !== undefined && file === undefined) return { env, ...before };
    if (file !== undefined && env === undefined) return { file, ...before };
    if (keys.has("env") === keys.has("file")) {
      this.bad({ start: node.start, end: node.start + 1 }, path, `${what} names one of env and file.`);
    }
    return undefined;
  }

  /** A map of texts and secrets, as `env` and `headers` are. */
  settingsOrSecrets(keys: Keys, base: string, key: string): { [name: string]: string | SecretRef } {
    const out = emptyObject<string | SecretRef>();
    for (const { entry, path } of this.entries(keys, base, key)) {
      if (entry.value.kind === "map") {
        const secret = this.secretNode(entry.value, path, entry.key);
        if (secret) setOwn(out, entry.key, secret);
      } else {
        const text = this.reader.text(entry.value, path, entry.key);
        if (text !== null) setOwn(out, entry.key, text);
      }
    }
    return out;
  }

  /** A key that is understood and changes nothing in this version: nobody shall rely on it. */
  withoutEffect(keys: Keys, base: string, key: string): void {
    const entry = keys.get(key);
    if (!entry) return;
    const path = keyPath(base, key);
    const message = `${path} is checked and has no effect in this version.`;
    this.reader.report("deployment.no_effect", keySpan(entry), path, message, "", "warning");
  }

  bad(at: { start: number; end: number }, path: string, message: string, help = ""): void {
    this.reader.report(CODE, at, path, message.charAt(0).toUpperCase() + message.slice(1), help);
  }
}

export function keySpan(entry: MapEntry): { start: number; end: number } {
  return { start: entry.keyStart, end: entry.keyEnd };
}
