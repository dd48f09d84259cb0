import { describe, expect, test } from "vitest";
import type { AskOpenedBody } from "../journal/bodies.ts";
import type { Field } from "../plan/field.ts";
import { type Lines, putToUser } from "./put-to-user.ts";
import { paint } from "./terminal.ts";

/** A user who types these lines and then leaves. */
class Typed implements Lines {
  said = "";
  readonly #lines: string[];

  constructor(lines: string[]) {
    this.#lines = lines;
  }

  async ask(prompt: string): Promise<string | null> {
    this.said += prompt;
    return this.#lines.shift() ?? null;
  }

  say(text: string): void {
    this.said += text;
  }

  get left(): number {
    return this.#lines.length;
  }
}

const asked = (returns: Field[], more: Partial<AskOpenedBody> = {}): AskOpenedBody => ({
  for: "ask",
  id: "ask_1",
  url: null,
  text: "Go?",
  returns: returns as unknown as AskOpenedBody["returns"],
  assignees: [],
  approvers: null,
  expires_at: null,
  ...more,
});
const YES_NO: Field[] = [{ name: "approved", type: "boolean", required: true }];
const put = (opened: AskOpenedBody, ...lines: string[]) => putToUser(opened, new Typed(lines), paint(false));

describe("I1: a question is left as it is", () => {
  test("by an empty line and by the end of input, wherever", async () => {
    const form = asked([{ name: "to", type: "string", required: true }]);
    for (const opened of [asked(YES_NO), form, asked([], { for: "approval" })]) {
      expect(await put(opened)).toBeNull();
      expect(await put(opened, "")).toBeNull();
    }
    expect(await put(form, "y")).toBeNull();
    expect(await put(form, "y", "")).toBeNull();
    expect(await put(asked([], { for: "approval" }), "n")).toBeNull();
  });
});

test("yes and no, and what is neither is asked again, not for ever", async () => {
  expect(await put(asked(YES_NO), "y")).toEqual({ how: "answered", value: { approved: true } });
  expect(await put(asked(YES_NO), "perhaps", "No")).toEqual({ how: "answered", value: { approved: false } });
  const stubborn = new Typed(Array.from({ length: 1_000 }, () => "perhaps"));
  expect(await putToUser(asked(YES_NO), stubborn, paint(false))).toBeNull();
  expect(stubborn.left).toBeGreaterThan(900);
});

test("an approval shows the call with what is sensitive masked", async () => {
  const call = { action: "mail.send", connection: "default", args: { to: "ana", token: { $sensitive: true } } };
  const user = new Typed(["n", "too late"]);
  const opened = asked([], { for: "approval", call });
  expect(await putToUser(opened, user, paint(false))).toEqual({ how: "rejected", comment: "too late" });
  expect(user.said).toContain('"to": "ana"');
  expect(user.said).toContain("[sensitive]");
  expect(await put(opened, "yes")).toEqual({ how: "approved" });
});

test("I2: fields one by one: what does not fit is said and asked for again, defaults may be taken", async () => {
  const fields: Field[] = [
    { name: "to", type: "string", required: true },
    { name: "nights", type: "integer", required: true, min: 1 },
    { name: "price", type: "number", required: false, default: 20 },
    { name: "paid", type: "boolean", required: true },
  ];
  const user = new Typed(["y", "12", "many", "0", "3", "", "n"]);
  expect(await putToUser(asked(fields), user, paint(false))).toEqual({
    how: "answered",
    value: { to: "12", nights: 3, paid: false },
  });
  expect(user.said.match(/That does not fit/g)).toHaveLength(2);
});

test("texts of a file cannot draw on the terminal", async () => {
  const user = new Typed([]);
  await putToUser(asked(YES_NO, { text: "\u001b[2Jgone" }), user, paint(false));
  expect(user.said).not.toContain("\u001b");
});
