import { describe, expect, test } from "vitest";
import { Refusal } from "../../errors/fault.ts";
import { AGAIN, type Transactions, WriteQueue } from "./write-queue.ts";

/** A database that writes down what is asked of it; `broken` is thrown by the verb it is of. */
function database(broken: { [verb in keyof Transactions]?: () => void } = {}): Transactions & { said: string[] } {
  const said: string[] = [];
  const verb = (name: keyof Transactions) => (): void => {
    said.push(name);
    broken[name]?.();
  };
  return { said, begin: verb("begin"), commit: verb("commit"), rollback: verb("rollback") };
}

const queueOn = (on: Transactions): WriteQueue =>
  new WriteQueue(on, 0, (error) => new Refusal("store.unavailable", String(error)));

/** An error as the driver has it. */
const ofDriver = (errcode: number): Error => Object.assign(new Error(`driver ${errcode}`), { errcode });

/** What a promise has come to once the event loop has gone round a few times. */
async function soon<T>(promise: Promise<T>): Promise<T | "nothing yet"> {
  let ended: T | "nothing yet" = "nothing yet";
  let failed: unknown;
  promise.then(
    (value) => {
      ended = value;
    },
    (error: unknown) => {
      failed = error;
    },
  );
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
  if (failed !== undefined) throw failed;
  return ended;
}

describe("the write queue", () => {
  test("work that is asked for as soon as other work is done is done too", async () => {
    const queue = queueOn(database());
    expect(await soon(queue.add(() => 1).then((one) => queue.add(() => one + 1)))).toBe(2);
    const chain = queue
      .add(() => 1)
      .then((one) => queue.add(() => one + 1))
      .then((two) => queue.add(() => two + 1));
    expect(await soon(chain)).toBe(3);
  });

  test("so is work that is asked for when other work was refused", async () => {
    const queue = queueOn(database());
    const first = queue.add(() => {
      throw new Error("no");
    });
    expect(await soon(first.catch(() => queue.add(() => "second")))).toBe("second");
    expect(await soon(queue.idle().then(() => "idle"))).toBe("idle");
  });

  test("what is asked for in one turn of the event loop shares a transaction", async () => {
    const on = database();
    const queue = queueOn(on);
    expect(await Promise.all([queue.add(() => "a"), queue.add(() => "b")])).toEqual(["a", "b"]);
    expect(on.said).toEqual(["begin", "commit"]);
  });

  test("I2: work that throws takes no other with it", async () => {
    const on = database();
    const queue = queueOn(on);
    const [a, b, c] = await Promise.allSettled([
      queue.add(() => "a"),
      queue.add(() => {
        throw new Error("guilty");
      }),
      queue.add(() => "c"),
    ]);
    expect([a?.status, b?.status, c?.status]).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(on.said).toEqual(["begin", "rollback", "begin", "commit"]);
  });

  test("work may ask for a fresh start", async () => {
    const on = database();
    let looks = 0;
    const value = await queueOn(on).add(() => {
      if (looks++ === 0) throw AGAIN;
      return looks;
    });
    expect(value).toBe(2);
    expect(on.said).toEqual(["begin", "rollback", "begin", "commit"]);
  });

  test.each([
    ["begin", 10],
    ["commit", 13],
  ] as const)("a store that fails at %s refuses everybody who waits", async (verb, errcode) => {
    const queue = queueOn(
      database({
        [verb]: () => {
          throw ofDriver(errcode);
        },
      }),
    );
    const ends = await Promise.allSettled([queue.add(() => 1), queue.add(() => 2)]);
    for (const end of ends) expect(end).toMatchObject({ status: "rejected", reason: { code: "store.unavailable" } });
  });

  test("a rollback that fails leaves nobody waiting, and the next work is begun", async () => {
    let broken = true;
    const queue = queueOn(
      database({
        rollback: () => {
          if (broken) throw ofDriver(10);
        },
      }),
    );
    const first = queue.add(() => {
      throw new Error("guilty");
    });
    await expect(soon(first)).rejects.toMatchObject({ code: "store.unavailable" });
    broken = false;
    expect(await soon(queue.add(() => "next"))).toBe("next");
    expect(await soon(queue.idle().then(() => "idle"))).toBe("idle");
  });
});
