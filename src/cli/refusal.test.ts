import { expect, test } from "vitest";
import { Refusal } from "../errors/fault.ts";
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
