// Codes that no case folder can raise, with the test that does: a damaged store, a second process, a real server, a
// text of a mebibyte. test/arch/codes.test.ts holds it against the table of codes: it may name no code that has a case.
export const CODE_TESTS = {
  "yaml.too_large": "test/conformance/uncased-codes.test.ts",
  "catalog.drift": "test/e2e/models-run-examples.test.ts",
  "action.result_too_large": "test/conformance/uncased-codes.test.ts",
  "http.status": "src/host/connectors/http.test.ts",
  "files.not_text": "src/host/connectors/files.test.ts",
  "ask.not_approver": "src/app/questions.test.ts",
  "ask.not_open": "src/app/questions.test.ts",
  "run.already_decided": "src/app/questions.test.ts",
  "flow.not_unknown": "src/app/settlements.test.ts",
  "internal.invariant": "test/conformance/uncased-codes.test.ts",
  "run.unknown": "test/faults/replay.test.ts",
  "run.busy": "src/app/single.test.ts",
  "run.exists": "test/faults/owner.test.ts",
  "run.owned": "test/faults/owner.test.ts",
  "journal.corrupt": "test/faults/replay.test.ts",
  "journal.conflict": "test/contracts/journal.ts",
  "store.unavailable": "test/contracts/journal.test.ts",
  "history.redacted": "src/app/sealed.test.ts",
  "history.mismatch": "test/conformance/uncased-codes.test.ts",
};
