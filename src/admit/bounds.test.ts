import { describe, expect, test } from "vitest";
import type { ActionManifest } from "../catalog/manifest.ts";
import type { Step } from "../plan/step.ts";
import { action, agent, common, each, expr, manifest, plan } from "../run/testing/plan.ts";
import { proveBounds } from "./bounds.ts";
import { DEFAULT_LIMITS } from "./deployment.ts";

const tries = (name: string, attempts: number): ActionManifest =>
  manifest(name, { retry: { attempts, backoff: 0, on: [] } });
const manifests = Object.fromEntries(
  [tries("crm.search", 3), tries("mail.send", 1)].map((entry) => [
    entry.name,
    { manifest: entry, connector: "c", connection: "d" },
  ]),
);
const prove = (...steps: Step[]) => proveBounds(plan(steps), manifests, DEFAULT_LIMITS, null);

describe("the worst case of a plan", () => {
  test("an action costs its attempts, which a step may only lower", () => {
    expect(prove(action("a", "crm.search")).bounds.toolAttempts).toBe(3);
    expect(prove(action("a", "crm.search", { lit: {} }, { attempts: 2 })).bounds.toolAttempts).toBe(2);
    expect(prove(action("a", "crm.search", { lit: {} }, { attempts: 9 })).bounds.toolAttempts).toBe(3);
  });

  test("an agent costs its budget and its handler; a loop multiplies by its most items", () => {
    const inner = agent("a", ["crm.search"], {
      budget: { steps: 4, tokens: 100 },
      onExhausted: [action("tell", "mail.send")],
    });
    const { bounds, unproved } = prove(each("items", { expr: expr("[1]") }, [inner], { max: 10, concurrency: 3 }));
    expect(bounds).toMatchObject({ toolAttempts: 50, tokens: 1_000, width: 3 * 8 });
    expect(unproved).toEqual([]);
  });

  test("a branch costs its dearest arm, and a handler is added", () => {
    const branch: Step = {
      ...common("b"),
      kind: "branch",
      subject: true,
      arms: [{ is: true, steps: [action("a", "crm.search"), action("b", "mail.send")] }],
      else: [action("c", "mail.send")],
      catch: [{ codes: ["*"], steps: [action("d", "mail.send")] }],
    };
    expect(prove(branch).bounds.toolAttempts).toBe(5);
  });

  test("handlers and clean-ups are as wide as what they hold", () => {
    const wide = each("items", { expr: expr("[1]") }, [action("x", "mail.send")], { max: 10, concurrency: 5 });
    const width = (step: Step): number | null => prove(step).bounds.width;
    expect(width(action("a", "mail.send", { lit: {} }, { catch: [{ codes: ["*"], steps: [wide] }] }))).toBe(5);
    expect(width(action("a", "mail.send", { lit: {} }, { cleanup: [{ on: "always", steps: [wide] }] }))).toBe(5);
    expect(width(agent("a", [], { budget: { steps: 1 }, onExhausted: [wide] }))).toBe(5);
    // A loop has its handler once, and the handler of a step inside it once for every item under way.
    const inner = action("y", "mail.send", { lit: {} }, { catch: [{ codes: ["*"], steps: [wide] }] });
    expect(width(each("l", { expr: expr("[1]") }, [inner], { max: 10, concurrency: 2 }))).toBe(10);
    expect(
      width(
        each("l", { expr: expr("[1]") }, [action("y", "mail.send")], {
          max: 10,
          concurrency: 2,
          catch: [{ codes: ["*"], steps: [wide] }],
        }),
      ),
    ).toBe(5);
  });

  test("what cannot be proved is null and names its step", () => {
    const { bounds, unproved } = prove(agent("a", ["crm.search"], { budget: { duration: 1_000 } }));
    expect(bounds).toMatchObject({ toolAttempts: null, tokens: null });
    expect(unproved.map(({ step, bound }) => [step.id, bound])).toEqual([
      ["a", "tool_attempts"],
      ["a", "tokens"],
    ]);
    expect(prove(agent("a", [], { budget: { duration: 1_000 } })).bounds.toolAttempts).toBe(0);
  });
});
