import type { AgentConfig } from "../admit/deployment.ts";
import { everyStep, type Plan } from "../plan/plan.ts";

/** Every agent of a plan played by one script instead of its configuration (`--scripted FILE`). */
export function scriptedAgents(plan: Plan, script: string): { [name: string]: AgentConfig[] } {
  const agents: { [name: string]: AgentConfig[] } = {};
  for (const step of everyStep(plan)) {
    if (step.kind !== "agent") continue;
    agents[step.agent] = [
      {
        name: step.agent,
        id: "scripted",
        isDefault: true,
        provider: "scripted",
        model: "scripted",
        maxOutputTokens: 8_192,
        tools: true,
        tokenMethod: "reported",
        stall: 120_000,
        retries: 2,
        script,
      },
    ];
  }
  return agents;
}
