import { describe, expect, it } from "vitest";
import { GIVE_UP, RETURN_RESULT, wireNames } from "./tool-names.ts";

const names = (...list: string[]) => wireNames(list.map((name) => ({ name, description: "", input: {} })));

describe("names of tools on the wire", () => {
  it("goes there and back, also where an action has `__` in its name", () => {
    const wire = names("crm.search", "crm.find__all", "a.b");
    for (const name of ["crm.search", "crm.find__all", "a.b"]) expect(wire.fromWire(wire.toWire(name))).toBe(name);
    expect(wire.toWire("crm.search")).toBe("crm__search");
    expect(wire.fromWire("crm__find__all")).toBe("crm.find__all");
  });

  it("tells names apart that would be spelt alike", () => {
    const wire = names("a_.b", "a._b");
    const spelt = ["a_.b", "a._b"].map(wire.toWire);
    expect(new Set(spelt).size).toBe(2);
    expect(spelt.map(wire.fromWire)).toEqual(["a_.b", "a._b"]);
  });

  it("has no declared name that could be one of our own", () => {
    for (const name of ["return.result", "give.up", "return_result.x", "x.give_up"]) {
      expect([RETURN_RESULT, GIVE_UP]).not.toContain(names(name).toWire(name));
    }
  });

  it("translates names that nobody declared, and changes nothing else of them", () => {
    const wire = names("crm.search");
    expect(["erp__search", "search", "CRM__search"].map(wire.fromWire)).toEqual(["erp.search", "search", "CRM.search"]);
  });

  it("writes whatever was proposed in letters that providers take", () => {
    const wire = names("crm.search");
    for (const name of ["", "wf.agent", "crm.sеarch", `x.${"y".repeat(100)}`, "a b/c.d", "\u0000"]) {
      expect(wire.toWire(name)).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    }
  });
});
