import { dirname, resolve } from "node:path";
import type { JsonObject } from "../base/json.ts";
import { START_OF_TEXT } from "../base/span.ts";
import { type Diagnostic, hasErrors, sortDiagnostics } from "../errors/diagnostic.ts";
import { SourceText } from "../text/tree.ts";
import { parseYaml } from "../text/yaml.ts";
import { readForImport } from "./deployment/for-import.ts";
import type { Environment } from "./deployment/section.ts";
import { findDeployment, type LoadedDeployment, loadDeployment, readDeployment } from "./deployment.ts";
import { Refused } from "./refused.ts";

type StoreConfig = LoadedDeployment["store"];

/** Which deployment applies where: a given one, or the file that is found upwards from a folder. */
export class Deployments {
  readonly #cwd: string;
  readonly #given: string | JsonObject | undefined;
  readonly #env: Environment;

  /** `given`: a path of an `ambit.yaml`, or its content. */
  constructor(cwd: string, given: string | JsonObject | undefined, env: Environment) {
    this.#cwd = cwd;
    this.#given = given;
    this.#env = env;
  }

  /** Whether one was given, so that no other is looked for. */
  get isGiven(): boolean {
    return this.#given !== undefined;
  }

  /** The deployment that applies to a folder. Throws `Refused` (exit 4) with its findings. */
  async of(folder: string): Promise<LoadedDeployment> {
    if (typeof this.#given === "object") return this.#read(this.#given);
    return this.load(findDeployment([folder, this.#cwd], this.#path()));
  }

  /** What `connectors import NAME` needs: the rest of the deployment, and that manifest, may be missing or broken. */
  async ofConnector(name: string): Promise<LoadedDeployment> {
    const path = typeof this.#given === "object" ? null : findDeployment([this.#cwd], this.#path());
    const found = path === null ? null : await readForImport(path, name, this.#env);
    if (found === null) return this.of(this.#cwd);
    if (found.deployment === null) throw refusedFor(found.diagnostics.map(withoutSpan));
    return found.deployment;
  }

  /**
   * Which store it is, for commands that only read one: what is broken elsewhere in a deployment does not stop them.
   * Throws `Refused` where the store itself cannot be told from the file.
   */
  async store(): Promise<StoreConfig | null> {
    if (typeof this.#given === "object") return (await this.#read(this.#given)).store;
    const { deployment, store, diagnostics } = await loadDeployment(
      findDeployment([this.#cwd], this.#path()),
      this.#env,
    );
    if (deployment !== null) return deployment.store;
    const inStore = diagnostics.filter(({ path, severity }) => severity === "error" && /^store\b/.test(path));
    if (inStore.length > 0) throw refusedFor(inStore);
    return store ?? null;
  }

  async load(path: string | null): Promise<LoadedDeployment> {
    const { deployment, diagnostics } = await loadDeployment(path, this.#env);
    if (deployment === null || hasErrors(diagnostics)) throw refusedFor(diagnostics);
    return deployment;
  }

  async #read(content: JsonObject): Promise<LoadedDeployment> {
    const source = new SourceText("deployment", JSON.stringify(content));
    const { root, diagnostics } = parseYaml(source);
    if (root === null) throw refusedFor(diagnostics.map(withoutSpan));
    const read = await readDeployment(source, root, { file: null, folder: this.#cwd }, this.#env);
    if (read.deployment === null) throw refusedFor(read.diagnostics.map(withoutSpan));
    return read.deployment;
  }

  #path(): string | undefined {
    return typeof this.#given === "string" ? resolve(this.#cwd, this.#given) : undefined;
  }
}

function refusedFor(diagnostics: readonly Diagnostic[]): Refused {
  const shown = diagnostics.map((finding) => withImport(isCode(finding.file) ? withoutSpan(finding) : finding));
  return Refused.by(sortDiagnostics(shown), true);
}

/** A text that nobody wrote was read, one made of values: a place in it would be a place nowhere. */
function withoutSpan(finding: Diagnostic): Diagnostic {
  return { ...finding, ...START_OF_TEXT };
}

/** A module's manifest is a value of its code. */
function isCode(file: string): boolean {
  return /\.[cm]?[jt]s$/.test(file);
}

/** A manifest that is not there yet can be written by asking the server. */
function withImport(finding: Diagnostic): Diagnostic {
  const name = /^connectors\.([\w-]+)\.manifest$/.exec(finding.path)?.[1];
  if (finding.code !== "deployment.invalid" || finding.help !== "" || name === undefined) return finding;
  if (!finding.message.endsWith(" does not exist.")) return finding;
  const help = `For an MCP server, ambit connectors import ${name} prints one: send it to that file and review it.`;
  return { ...finding, help };
}

/** Said where a deployment was looked for and not found: in which folders, and what to do about it. */
export function notFoundText(folders: readonly string[]): string {
  const starts = [...new Set(folders.map((folder) => resolve(folder)))];
  // A folder above another one is looked into on the way up.
  const lowest = starts.filter((folder) => !starts.some((other) => other !== folder && isAbove(folder, other)));
  const shown = (lowest.length === 0 ? starts : lowest).join(" and ");
  return `No ambit.yaml was found in ${shown} or any folder above: write one there, or name it with --config.`;
}

function isAbove(folder: string, other: string): boolean {
  for (let at = dirname(other); ; at = dirname(at)) {
    if (at === folder) return true;
    if (at === dirname(at)) return false;
  }
}
