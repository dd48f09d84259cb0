import { expect, test } from "vitest";
import { agentKey } from "./keys.ts";

test.each([
  ["run-0001", "resolve", 0, "b8da9986f84110fabd993c63496ab260ca27f4368a3cfde6414e1fd6c7958599"],
  ["run-0001", "resolve", 1, "98f3cfef1680a8d53ffa0928a721093dadac400d9ee71ac9dd3237d49f2bade0"],
  ["run-0001", "outer[2].resolve", 0, "6fb7a05d13421f714a36f0000b62ee567c079fa5dd32c5e220db6d46e1d99fb8"],
  ["rün-€", "resolve", 0, "d2df8b4448ca2e96870acc1939e9a922317f3e828a528a58126089684a47c46c"],
])("WX-50: the key of %s %s %i is the published vector", (run, step, n, hex) => {
  expect(agentKey(run, step, n)).toBe(`wf-agent-v1:${hex}`);
});
