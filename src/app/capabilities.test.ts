import { expect, test } from "vitest";
import { capabilityRows, profileRows } from "./capabilities.ts";
import type { LoadedDeployment } from "./deployment.ts";

function denying(...deniedCapabilities: string[]): LoadedDeployment {
  return { deniedCapabilities } as unknown as LoadedDeployment;
}

test("a capability is told by what this build has and what the deployment leaves of it, by either name", () => {
  const agents = (deployment: LoadedDeployment | null) => capabilityRows(deployment)[0];
  const row = { name: "wf.agent-execution", alias: "agent-nodes", build: true };
  expect(agents(denying())).toEqual({ ...row, deployment: true });
  expect(agents(denying("wf.agent-execution"))).toEqual({ ...row, deployment: false });
  expect(agents(denying("agent-nodes"))).toEqual({ ...row, deployment: false });
  expect(agents(null)).toEqual({ ...row, deployment: null });
});

test("the Durable Execution Profile is there where the store lasts", () => {
  const durable = (store: string | null) => profileRows(store).find(({ name }) => name === "durable-execution")?.active;
  expect([durable("sqlite"), durable("memory"), durable(null)]).toEqual([true, false, null]);
});
