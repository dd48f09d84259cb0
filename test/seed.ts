import fc from "fast-check";

// One seed for all property tests, so that a red gate comes from a change and not from the dice. Other dice:
// AMBIT_SEED=$RANDOM npx vitest run -c vitest.config.ts prop
fc.configureGlobal({ seed: Number(process.env["AMBIT_SEED"] ?? 20_261_130) });
