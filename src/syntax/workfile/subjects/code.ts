import { domainToASCII } from "node:url";
import { byteLength } from "../../../base/json.ts";
import { ANY } from "../../../expression/shape.ts";
import type { Value } from "../../../plan/expression.ts";
import { itemPath, keyPath } from "../../../text/path.ts";
import { clip } from "../../../text/reader.ts";
import type { TreeNode } from "../../../text/tree.ts";
import type { Body } from "../step.ts";
import { LANGUAGES, MAX_CODE_BYTES, NAME } from "../tables.ts";
import type { WorkfileReader } from "../workfile-reader.ts";
import type { SubjectStep } from "./subject.ts";

/** `wf.run` (or `run`): inline code of a registered language, with literal grants. The code is never a template. */
export function readCode(r: WorkfileReader, body: Body): SubjectStep | null {
  const { keys, path, head, headPath } = body;
  const language = r.refuseExpression(head.value, headPath, "the language")
    ? r.oneOf(head.value, headPath, "the language", LANGUAGES)
    : null;
  const codeEntry = keys.get("code");
  const code = codeEntry ? readSource(r, codeEntry.value, keyPath(path, "code")) : null;
  const networkEntry = keys.get("network");
  const network = networkEntry ? readNetwork(r, networkEntry.value, keyPath(path, "network")) : [];
  const sensitive = keys.has("with");
  const context = readWith(r, body);
  if (language === null || code === null || context === null) return null;
  const step: SubjectStep["step"] = { kind: "code", language, code, network, with: context };
  return { step, shape: sensitive ? { kind: "any", sensitive: true } : ANY };
}

function readSource(r: WorkfileReader, node: TreeNode, path: string): string | null {
  if (node.kind !== "scalar" || typeof node.value !== "string") {
    return r.wrong(
      node,
      path,
      "the code",
      "a text",
      "Code stands inline: begin it with | and put it on the lines below.",
    );
  }
  if (byteLength(node.value) > MAX_CODE_BYTES) {
    r.report("workfile.bad_value", node, path, `The code is larger than ${MAX_CODE_BYTES} bytes.`);
    return null;
  }
  return node.value;
}

/** SB-61: literal `host` or `host:port`, compared after one normalisation. */
function readNetwork(r: WorkfileReader, node: TreeNode, path: string): string[] {
  const hosts: string[] = [];
  for (const [i, item] of (r.list(node, path, "network") ?? []).entries()) {
    const at = itemPath(path, i);
    const text = r.literal(item, at, "a host");
    if (text === null) continue;
    const host = normalHost(text);
    if (host === null) {
      const message = `"${clip(text)}" is no host.`;
      r.report("workfile.bad_value", item, at, message, "Write a host or host:port, without scheme, path or wildcard.");
    } else if (hosts.includes(host)) {
      r.report("workfile.bad_value", item, at, `The host "${clip(text)}" is listed twice.`, "Remove one of them.");
    } else {
      hosts.push(host);
    }
  }
  return hosts;
}

const HOST = /^(?:\[[0-9a-fA-F:.]+\]|[^\s/:@?#*\\[\]{}<>%|^"']+)(?::([0-9]{1,5}))?$/;

/** Lower case, IDNA, no final dot; null if it is no literal host. */
export function normalHost(text: string): string | null {
  const found = HOST.exec(text);
  if (found === null || text.length > 260) return null;
  const [, port] = found;
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return null;
  const bare = port === undefined ? text : text.slice(0, -port.length - 1);
  const host = bare.startsWith("[") ? bare.toLowerCase() : domainToASCII(bare.toLowerCase().replace(/\.$/, ""));
  if (host === "" || host.endsWith(".")) return null;
  return port === undefined ? host : `${host}:${Number(port)}`;
}

/** SB-26: sensitive values that `ctx` shall hold, by new names. */
function readWith(r: WorkfileReader, body: Body): Value | null {
  const entry = body.keys.get("with");
  if (entry === undefined) return { lit: {} };
  const path = keyPath(body.path, "with");
  const entries = r.open(entry.value, path, '"with"');
  if (entries === null) return null;
  for (const { key, keyStart, keyEnd } of entries) {
    const at = { start: keyStart, end: keyEnd };
    if (!NAME.test(key)) {
      r.report("workfile.bad_value", at, keyPath(path, key), `"${clip(key)}" cannot be a name in ctx.`);
    } else if (body.names.has(key)) {
      const message = `ctx already has "${clip(key)}".`;
      r.report("workfile.bad_value", at, keyPath(path, key), message, "`with` gives a sensitive value a new name.");
    }
  }
  if (entries.length > 0) {
    r.report(
      "workfile.sensitive_value",
      { start: entry.keyStart, end: entry.keyEnd },
      path,
      "Code reads a sensitive value, so its whole result counts as sensitive.",
      "",
      "warning",
    );
  }
  return r.map(entries, path, body.names).value;
}
