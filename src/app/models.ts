import type { AgentConfig } from "../admit/deployment.ts";
import type { ModelPort } from "../agent/model.ts";
import type { Clock } from "../base/clock.ts";
import type { JsonObject } from "../base/json.ts";
import { hasErrors } from "../errors/diagnostic.ts";
import { Fault } from "../errors/fault.ts";
import { readRegularFile } from "../host/files/regular-file.ts";
import { createModel, type Model } from "../host/models/create-model.ts";
import { readScripted } from "../host/models/read-scripted.ts";
import type { Script } from "../host/models/script.ts";
import { SourceText } from "../text/tree.ts";
import { secretResolver } from "./deployment/secrets.ts";
import type { Environment } from "./deployment/section.ts";
import { Refused } from "./refused.ts";

/** The pre-scan of YAML refuses at 1 MiB; nothing larger is even read. */
const MAX_SCRIPT_BYTES = 2 * 1024 * 1024;

/** Makes models of agent configurations, each once, and says what they are before any is contacted. */
export class ModelShop {
  readonly #clock: Clock;
  readonly #secret: ReturnType<typeof secretResolver>;
  readonly #made = new Map<AgentConfig, Model>();
  readonly #scripts = new Map<string, Script>();

  constructor(clock: Clock, env: Environment) {
    this.#clock = clock;
    this.#secret = secretResolver(env);
  }

  describe(config: AgentConfig): { protocol: string; settings: JsonObject } {
    const { protocol, settings } = this.#model(config);
    return { protocol, settings };
  }

  /** The port, its key being there: `deployment.missing_secret` before anything runs. */
  async port(config: AgentConfig): Promise<ModelPort> {
    await this.#key(config);
    return this.#model(config).port;
  }

  #model(config: AgentConfig): Model {
    const known = this.#made.get(config);
    if (known) return known;
    const model = createModel(config, {
      clock: this.#clock,
      apiKey: () => this.#key(config),
      script: config.script === undefined ? null : this.#script(config.script),
    });
    this.#made.set(config, model);
    return model;
  }

  async #key(config: AgentConfig): Promise<string> {
    return config.apiKey === undefined ? "" : this.#secret(config.apiKey);
  }

  #script(path: string): Script {
    const known = this.#scripts.get(path);
    if (known) return known;
    const read = readRegularFile(path, MAX_SCRIPT_BYTES);
    if (!read.ok) {
      const message = `The agent script ${path} cannot be read: ${read.why}.`;
      throw new Refused(4, new Fault("deployment.invalid", "", message, { file: path }));
    }
    const { script, diagnostics } = readScripted(new SourceText(path, read.text));
    if (script === null || hasErrors(diagnostics)) {
      const first = diagnostics.find((entry) => entry.severity === "error");
      const fault = new Fault(
        "deployment.invalid",
        "",
        `The agent script ${path} is not valid: ${first?.message ?? ""}`,
      );
      throw new Refused(4, fault, diagnostics);
    }
    this.#scripts.set(path, script);
    return script;
  }
}
