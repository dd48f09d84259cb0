import { systemClock } from "../base/clock.ts";
import type { JsonObject } from "../base/json.ts";
import type { ActionManifest } from "../catalog/manifest.ts";
import { Fault } from "../errors/fault.ts";
import { createVirtualClock } from "../host/clocks/virtual-clock.ts";
import { newKey, openSealer } from "../host/keys/sealer.ts";
import { ownOwner } from "../host/processes/process-identity.ts";
import { openMemoryJournal } from "../host/stores/memory.ts";
import { everyStep } from "../plan/plan.ts";
import type { World } from "../redteam/attack.ts";
import { type RedteamReport, runCampaign } from "../redteam/campaign.ts";
import { ATTACKS } from "../redteam/corpus.ts";
import type { Stage } from "../redteam/play.ts";
import type { Engine, PlannedWorkflow } from "./engine.ts";
import { bindInputs } from "./inputs.ts";
import { Refused } from "./refused.ts";

/** How long one play may take on the machine's clock; its own time passes at once. */
const PATIENCE_MS = 60_000;
const START_OF_PLAYS = Date.UTC(2026, 0, 1);

/**
 * Attacks every agent step of a workflow: agents and tools are played by the corpus, so that no model, connector,
 * secret or store is used. Refuses as `plan` does, and where there is no agent step (exit 2).
 */
export async function redteam(engine: Engine, file: string, inputs: JsonObject): Promise<RedteamReport> {
  const planned = await engine.plan(file);
  const { admission, workflow } = planned;
  if (admission.admitted === null) throw Refused.by([...workflow.diagnostics, ...admission.diagnostics]);
  const { plan } = admission.admitted.definition;
  if (![...everyStep(plan)].some(({ kind }) => kind === "agent")) {
    const message = `${plan.name} has no agent step: there is nobody to attack.`;
    throw new Refused(2, new Fault("input.invalid", "", message));
  }
  return runCampaign({
    admitted: admission.admitted,
    world: worldOf(planned),
    attacks: ATTACKS,
    inputs,
    bind: bindInputs,
    stage: freshStage,
    alone(changed) {
      const { admitted, diagnostics } = engine.admit(planned, changed);
      if (admitted === null) throw Refused.by(diagnostics);
      return admitted;
    },
  });
}

function worldOf({ deployment, admission }: PlannedWorkflow): World {
  const actions = new Map<string, ActionManifest>();
  for (const { manifest } of Object.values(deployment.connectors)) {
    for (const action of Object.values(manifest.actions)) actions.set(action.name, action);
  }
  const definition = admission.admitted?.definition;
  return {
    actions,
    admitted: definition?.manifests ?? {},
    agents: Object.keys(deployment.agents),
    inputs: definition?.plan.inputs.map(({ name }) => name) ?? [],
    fixed: (agent, tool) => deployment.policy.agents[agent]?.[tool]?.fix ?? {},
  };
}

function freshStage(): Stage {
  const clock = createVirtualClock({ start: START_OF_PLAYS });
  return {
    clock,
    journal: openMemoryJournal({ clock }),
    owner: ownOwner("redteam", "ambit redteam"),
    sealer: openSealer(newKey()),
    watch(run) {
      let endedByItself = true;
      const timer = systemClock.after(PATIENCE_MS, () => {
        endedByItself = false;
        run.abandon("redteam");
      });
      return () => {
        timer.cancel();
        clock.stop();
        return endedByItself;
      };
    },
  };
}
