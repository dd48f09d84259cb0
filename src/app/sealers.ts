/** Which key seals what a store keeps of sensitive values: `store.key` of the deployment, else the store's key file. */
import { existsSync } from "node:fs";
import type { AdmittedPlan } from "../admit/admitted-plan.ts";
import { sensitivePaths } from "../catalog/sensitive.ts";
import { Fault, Refusal } from "../errors/fault.ts";
import { keyFile, keyPathOf } from "../host/keys/key-file.ts";
import { type KeySource, newKey, openSealer } from "../host/keys/sealer.ts";
import type { Journal } from "../journal/journal.ts";
import { allPlans, everyStep } from "../plan/plan.ts";
import { holdsSensitive } from "../run/hide.ts";
import type { Sealer } from "../run/sealer.ts";
import { secretResolver } from "./deployment/secrets.ts";
import type { Environment } from "./deployment/section.ts";
import type { LoadedDeployment } from "./deployment.ts";
import { Refused } from "./refused.ts";
import { MEMORY_STORE } from "./store.ts";

/** Shorter ones could be guessed by whoever has the store. */
const LEAST_SIGNS = 32;

export class Sealers {
  readonly #env: Environment;
  /** By path of the store: whoever opens what was sealed here takes the same key. */
  readonly #ofStores = new Map<string, Sealer>();

  constructor(env: Environment) {
    this.#env = env;
  }

  /**
   * `deployment.missing_secret`, `deployment.invalid` for a `store.key` that cannot be used. Where values lie sealed and
   * the key file is gone (`journal` tells) no other is made in its place: what is put beside them would not open with
   * the first, once it is back.
   */
  async of(deployment: LoadedDeployment, storePath: string, journal: Journal | null): Promise<Sealer> {
    const reference = deployment.store.key;
    if (reference === undefined) {
      const isGone =
        journal !== null &&
        storePath !== MEMORY_STORE &&
        !existsSync(keyPathOf(storePath)) &&
        (await journal.holdsSealed());
      return isGone ? this.lookOnly(storePath, keyGone(keyPathOf(storePath))) : this.#ofStore(storePath);
    }
    const text = await secretResolver(this.#env)(reference);
    if (text.length < LEAST_SIGNS) throw tooShort(text.length);
    return openSealer({ find: () => text, make: () => text });
  }

  /** For whoever only looks: a `store.key` that cannot be used is one that is not there. */
  async orShut(deployment: LoadedDeployment, storePath: string, journal: Journal): Promise<Sealer> {
    try {
      return await this.of(deployment, storePath, journal);
    } catch (error) {
      if (!(error instanceof Refusal) && !(error instanceof Refused)) throw error;
      return openSealer(noKey(error));
    }
  }

  /** Where it cannot be told which key is the run's: what the store's own key opens is read, and nothing is sealed. */
  lookOnly(storePath: string, why: Error): Sealer {
    const { open } = this.#ofStore(storePath);
    return {
      open,
      seal: () => {
        throw why;
      },
    };
  }

  #ofStore(path: string): Sealer {
    const known = this.#ofStores.get(path);
    if (known !== undefined) return known;
    const sealer = openSealer(path === MEMORY_STORE ? newKey() : keyFile(keyPathOf(path)));
    this.#ofStores.set(path, sealer);
    return sealer;
  }
}

/** Whether a run of the plan may come to hold a sensitive value: of an input, an action, an agent or a person. */
export function mayHoldSensitive({ definition: { plan, manifests } }: AdmittedPlan): boolean {
  for (const { manifest } of Object.values(manifests)) {
    if (sensitivePaths(manifest.input).length > 0 || sensitivePaths(manifest.output).length > 0) return true;
  }
  for (const { inputs } of allPlans(plan)) if (inputs.some(holdsSensitive)) return true;
  for (const step of everyStep(plan)) {
    if ((step.kind === "agent" || step.kind === "ask") && step.returns.some(holdsSensitive)) return true;
  }
  return false;
}

function noKey(error: Error): KeySource {
  return {
    find: () => null,
    make: () => {
      throw error;
    },
  };
}

function keyGone(path: string): Refusal {
  const text = `The key ${path} is gone, and sensitive values of this store are sealed: put it back, or name store.key if they are sealed with that. If it is lost for good, another is made with: openssl rand -base64 32 > ${path}`;
  return new Refusal("store.unavailable", text, { path, reason: "key" });
}

function tooShort(signs: number): Refused {
  const text = `store.key is too short: ${signs} characters, and ${LEAST_SIGNS} are the least. One is made with: openssl rand -base64 32`;
  return new Refused(4, new Fault("deployment.invalid", "", text, { least: LEAST_SIGNS }));
}
