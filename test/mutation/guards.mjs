// The guards of the trust path: the text that holds each, a broken form of it, and the tests that must notice.
export const guards = [
  {
    name: "allowlist: only declared tools",
    file: "src/agent/turn.ts",
    find: "const tool = state.tools.get(proposal.tool);",
    broken: "const tool = state.tools.get(proposal.tool) ?? [...state.tools.values()][0];",
    tests: ["src/run/run.test.ts"],
  },
  {
    name: "reserved key: an agent's own key is refused",
    file: "src/agent/turn.ts",
    find: "if (reserved.length > 0) {",
    broken: "if (reserved.length > 99) {",
    tests: ["src/run/run.test.ts"],
  },
  {
    name: "budget: no attempt beyond the bound",
    file: "src/run/meter.ts",
    find: "if (this.free < 1) return false;",
    broken: "if (this.free < 0) return false;",
    tests: ["src/run/run.test.ts"],
  },
  {
    name: "validation: arguments fit the manifest",
    file: "src/run/dispatch.ts",
    find: "if (problems.length === 0) return null;",
    broken: "if (problems.length >= 0) return null;",
    tests: ["src/run/run.test.ts"],
  },
  {
    name: "lease epoch: who lost a run adds nothing",
    file: "src/host/stores/sqlite.ts",
    find: 'moveHead: sql("UPDATE runs SET records = ?, updated_at = ? WHERE id = ? AND epoch = ? AND records = ? AND def = ?"),',
    broken:
      'moveHead: sql("UPDATE runs SET records = ?, updated_at = ? WHERE id = ? AND (epoch = ? OR 1) AND records = ? AND def = ?"),',
    tests: ["test/contracts/journal.test.ts"],
  },
];
