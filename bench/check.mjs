// Checking a 200-step Workfile in process, warm.
import { diagnose } from "../dist/syntax/diagnose.js";
import { median, milliseconds, noise, percent, repeat } from "./measure.mjs";

export function workfile(steps) {
  const lines = ['workfile: "1"', "name: large", "inputs: { sender: string }", "steps:"];
  for (let i = 0; i < steps; i++) {
    const before = i === 0 ? "inputs.sender" : `step_${i - 1}.text`;
    lines.push(
      `  - step_${i}:`,
      `      wf.let: { text: "{{ ${before} + '${i}' }}", n: "{{ size(${before}) + ${i} }}" }`,
      `      if: "{{ ${i} >= 0 }}"`,
    );
  }
  return `${lines.join("\n")}\n`;
}

export async function check() {
  const text = workfile(200);
  const { diagnostics } = diagnose(text, "large.workfile.yaml");
  if (diagnostics.length > 0) throw new Error(diagnostics[0].message);
  await repeat(10, async () => diagnose(text, "large.workfile.yaml"));
  const times = await repeat(20, () => milliseconds(() => diagnose(text, "large.workfile.yaml")));
  return [
    {
      what: "check of a 200-step Workfile, warm",
      value: `${median(times).toFixed(1)} ms (${percent(noise(times))})`,
      bar: "< 50 ms",
      ok: median(times) < 50,
    },
  ];
}
