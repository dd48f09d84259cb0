// A module connector runs in our own process, and may not end it: a run that ends with what a module says would
// end as a success that nothing stands behind.
//
// I1: what is kept from ending the process is what a module does, at its loading, in its actions and in whatever it
//     has begun there; our own exit, and that of a program that embeds us, goes through.
// I2: from the outside only what goes through `process` can be caught: a module that sends itself a signal, or
//     exhausts the memory, still ends the process, and a resume judges what was under way.
import { AsyncLocalStorage } from "node:async_hooks";

import { inspect } from "node:util";

const EXIT = Symbol("ambit.exit");

interface Here {
  /** Told of each call that would have ended the process: a module may catch the error, or make it in a timer. */
  tried(error: ExitTried): void;
}

/** What a module gets for trying to end the process. */
export interface ExitTried extends Error {
  readonly [EXIT]: true;
}

// Made with the first module: from then on every promise of the process costs a little more.
let inModule: AsyncLocalStorage<Here> | null = null;

/** Runs something of a module. What would end the process throws {@link ExitTried} in there, and here at once. */
export function withoutExit<T>(work: () => T | Promise<T>): Promise<T> {
  inModule ??= guarded();
  const storage = inModule;
  return new Promise<T>((resolve, reject) => {
    // As soon as it is tried, since what comes of the work behind it says nothing any more.
    const working = storage.run({ tried: reject }, async () => work());
    working.then(resolve, reject);
  });
}

export function isExitTried(error: unknown): error is ExitTried {
  return error instanceof Error && EXIT in error;
}

function guarded(): AsyncLocalStorage<Here> {
  const storage = new AsyncLocalStorage<Here>();
  const refuse = (call: string): void => {
    const here = storage.getStore();
    if (here === undefined) return;
    const error = exitTried(call);
    here.tried(error);
    throw error;
  };
  const ends: { exit: NodeJS.Process["exit"]; reallyExit: NodeJS.Process["exit"]; abort: NodeJS.Process["abort"] } =
    process as never;
  const { exit, reallyExit, abort } = ends;
  ends.exit = (code) => {
    refuse(`process.exit(${code ?? ""})`);
    return exit.call(process, code);
  };
  // What `exit` ends in, and no part of the documented interface: some call it to leave out the listeners.
  ends.reallyExit = (code) => {
    refuse(`process.reallyExit(${code ?? ""})`);
    return reallyExit.call(process, code);
  };
  ends.abort = () => {
    refuse("process.abort()");
    return abort.call(process);
  };
  process.on("uncaughtException", (error) => {
    // Thrown where nobody catches, in a timer say: it has been told, and is no reason to end after all.
    if (isExitTried(error) || process.listenerCount("uncaughtException") > 1) return;
    // All else as without this listener. It runs where the error was thrown, which may be in a module.
    process.stderr.write(`Uncaught ${inspect(error)}\n`);
    storage.exit(() => exit.call(process, 1));
  });
  return storage;
}

function exitTried(call: string): ExitTried {
  return Object.assign(new Error(`it called ${call}, and a module may not end the process`), { [EXIT]: true as const });
}
