import { expect, test } from "vitest";
import { Refused } from "../app/refused.ts";
import { diagnostic } from "../errors/diagnostic.ts";
import { Refusal } from "../errors/fault.ts";
import { capDiagnostics } from "../text/cap.ts";
import { printRefusal, type Ran } from "./refusal.ts";
import { paint, type Terminal } from "./terminal.ts";

function said(error: unknown, ran?: Ran, json = false): string {
  let text = "";
  const take = (more: string): void => {
    text += more;
  };
  const terminal: Terminal = { out: take, err: take, say: take, route: () => {}, color: paint(false), json };
  printRefusal(terminal, error, ran);
  return text;
}

const gone = new Refusal("store.unavailable", "The disk is full.");

test("that nothing ran is said only where a run was to begin and did not", () => {
  expect(said(gone, { nothing: true })).toContain("Nothing ran. More: ambit explain store.unavailable");
  expect(said(gone)).toContain("More: ambit explain store.unavailable");
  expect(said(gone)).not.toContain("Nothing ran");
});

test.each([gone, new Error("a bug")])("a run that had begun is named: %s", (error) => {
  const text = said(error, { run: "r\u202e1" });
  expect(text).not.toContain("Nothing ran");
  expect(text).toContain("The run had begun and stands as far as it got: ambit runs show r\\u202e1.");
  expect(JSON.parse(said(error, { run: "r1" }, true))).toMatchObject({ type: "refused", run: "r1" });
  expect(JSON.parse(said(error, { nothing: true }, true))).not.toHaveProperty("run");
});

test("of very many findings no more are printed than somebody reads, and how many more there are is said", () => {
  const findings = (file: string, count: number) =>
    Array.from({ length: count }, (_, i) => {
      const span = { line: i + 1, column: 1, endLine: i + 1, endColumn: 2 };
      return diagnostic("workfile.unknown_key", "a finding", { file, span });
    });
  const one = said(Refused.by(capDiagnostics(findings("a", 20_000))));
  expect(one.match(/a finding/g)).toHaveLength(100);
  expect(one).toContain("19900 further findings are not shown.");
  expect(one).toContain("\n100 errors, and more.\n");
  expect(one).toMatch(/More: ambit explain workfile\.unknown_key\n$/);
  const many = said(Refused.by(["a", "b", "c"].flatMap((file) => findings(file, 100))));
  expect(many.match(/a finding/g)).toHaveLength(200);
  expect(many).toContain("100 further findings of 1 file not printed here.");
  expect(many).toContain("\n300 errors.\n");
});
