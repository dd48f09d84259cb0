/** A case in a fresh temporary folder: its files as they are, a variant applied, its stubs writing a call log. */
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseDocument } from "yaml";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import { type StubLine, StubLog } from "../../src/host/connectors/stub-log.ts";
import { CaseError, replaceOnce, type Trial, toOlderSpelling } from "./case-files.ts";

/** Where temporary folders lie: in memory where the platform has such a place, since a flush to disk takes long. */
const SHARED_MEMORY = "/dev/shm";
const TEMPORARY = existsSync(SHARED_MEMORY) ? SHARED_MEMORY : tmpdir();

/** Of a case and not of the workflow's folder. */
const OWN_FILES = ["case.json", "expect.json", "NOTE.md"];

export class CaseFolder {
  /** Absolute. */
  readonly path: string;
  readonly workflow: string;
  /** The workflow's text in the newer spelling. */
  readonly newerText: string;
  /** Names of the connectors that are stubs. */
  readonly stubs: ReadonlySet<string>;
  /** Whether a stub kills the process of the engine. */
  readonly killsItself: boolean;
  readonly #logs: ReadonlySet<string>;

  constructor(trial: Trial) {
    this.path = mkdtempSync(join(TEMPORARY, "ambit-case-"));
    this.workflow = trial.case.workflow;
    cpSync(trial.case.folder, this.path, {
      recursive: true,
      filter: (source) => !OWN_FILES.some((file) => source === join(trial.case.folder, file)),
    });
    // The store is looked for upwards from here, and is not to be found elsewhere.
    mkdirSync(join(this.path, ".ambit"));
    if (trial.variant !== null) this.#edit(trial.variant.file, (text) => vary(text, trial));
    this.newerText = readFileSync(join(this.path, this.workflow), "utf8");
    if (trial.olderSpelling) this.#edit(this.workflow, toOlderSpelling);
    const { settings } = trial.case.settings;
    if (settings !== undefined) this.#set(settings);
    const stubs = this.#stubFiles();
    this.stubs = new Set(stubs.keys());
    const files = [...new Set(stubs.values())];
    this.killsItself = files.some((file) => existsSync(file) && /\bkill:\s/.test(readFileSync(file, "utf8")));
    this.#logs = new Set(files.flatMap((file) => this.#logOf(file)));
  }

  /** What the stubs have been asked, in the order of the dispatches. */
  dispatches(): StubLine[] {
    return [...this.#logs].flatMap((file) => new StubLog(file).read()).filter((line) => line.phase === "dispatched");
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.path, file), text);
  }

  dispose(): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  #edit(file: string, change: (text: string) => string): void {
    const path = join(this.path, file);
    if (!existsSync(path)) throw new CaseError(`There is no file ${file} in the case.`);
    writeFileSync(path, change(readFileSync(path, "utf8")));
  }

  /** Adds to `settings` of the deployment. */
  #set(settings: JsonObject): void {
    this.#edit("ambit.yaml", (text) => {
      const document = parseDocument(text);
      for (const [name, value] of Object.entries(settings)) document.setIn(["settings", name], value);
      return String(document);
    });
  }

  /** The script of each stub, by connector; nothing where the deployment cannot be read. */
  #stubFiles(): Map<string, string> {
    const found = new Map<string, string>();
    const path = join(this.path, "ambit.yaml");
    if (!existsSync(path)) return found;
    const document = parseDocument(readFileSync(path, "utf8"));
    const deployment: unknown = document.errors.length === 0 ? document.toJS() : null;
    const connectors = isObject(deployment) ? deployment["connectors"] : null;
    if (!isObject(connectors)) return found;
    for (const [name, connector] of Object.entries(connectors)) {
      const file = isObject(connector) ? connector["stub"] : null;
      if (typeof file === "string") found.set(name, resolve(this.path, file));
    }
    return found;
  }

  /** The log that a script names; one is added where it names none. */
  #logOf(file: string): string[] {
    if (!existsSync(file)) return [];
    const document = parseDocument(readFileSync(file, "utf8"));
    if (document.errors.length > 0) return [];
    const script: unknown = document.toJS();
    const own = isObject(script) ? script["log"] : null;
    if (typeof own === "string") return [resolve(dirname(file), own)];
    const log = join(this.path, "calls.jsonl");
    appendFileSync(file, `\nlog: ${JSON.stringify(log)}\n`);
    return [log];
  }
}

function vary(text: string, trial: Trial): string {
  return trial.variant === null ? text : replaceOnce(text, trial.variant, trial.case.name);
}
