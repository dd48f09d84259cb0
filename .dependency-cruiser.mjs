// Turns layers.mjs into rules. A canary in test/arch proves that a forbidden import is seen.
import { layers } from "./layers.mjs";

const ROOT_FILES = "^src/index\\.ts$";

/** Test code beside the code may use what it tests with. */
const TESTS = "(\\.test\\.ts$|\\.prop\\.test\\.ts$|/testing/)";

const rules = Object.entries(layers).map(([folder, { may, types }]) => {
  const allowed = [folder, ...may, ...(types ?? [])].join("|");
  return {
    name: `layer-${folder}`,
    severity: "error",
    comment: `src/${folder} may import ${[...may, ...(types ?? []).map((name) => `types of ${name}`)].join(", ") || "nothing"} (layers.mjs)`,
    from: { path: `^src/${folder}/`, pathNot: TESTS },
    to: { path: "^src/", pathNot: `^src/(${allowed})/` },
  };
});

const typeRules = Object.entries(layers)
  .filter(([, { types }]) => types !== undefined)
  .map(([folder, { types }]) => ({
    name: `types-only-${folder}`,
    severity: "error",
    comment: `src/${folder} may import only types of ${types.join(", ")} (layers.mjs)`,
    from: { path: `^src/${folder}/`, pathNot: TESTS },
    to: { path: `^src/(${types.join("|")})/`, dependencyTypesNot: ["type-only"] },
  }));

export default {
  forbidden: [
    ...rules,
    ...typeRules,
    {
      name: "no-cycles",
      severity: "error",
      from: { pathNot: TESTS },
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "no-barrel-inside",
      severity: "error",
      comment: "src/index.ts is for users of the package",
      from: { path: "^src/" },
      to: { path: ROOT_FILES },
    },
    {
      name: "no-tests-in-code",
      severity: "error",
      from: { path: "^src/", pathNot: TESTS },
      to: { path: TESTS },
    },
    {
      name: "declared-packages",
      severity: "error",
      comment: "every package that the code imports is a dependency of the package",
      from: { path: "^src/", pathNot: TESTS },
      to: { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown", "unknown"] },
    },
    { name: "resolvable", severity: "error", from: { path: "^src/" }, to: { couldNotResolve: true } },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default", "types"] },
  },
};
