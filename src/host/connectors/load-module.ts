import { fileURLToPath } from "node:url";
import { type Clock, systemClock } from "../../base/clock.ts";
import { formatDuration } from "../../base/duration.ts";
import { isObject } from "../../base/json.ts";
import { whyNotRegular } from "../files/regular-file.ts";
import { type DefinedConnector, isDefinedConnector } from "./define-connector.ts";
import { within } from "./in-time.ts";
import { isExitTried, withoutExit } from "./no-exit.ts";

const MAX_MODULE_BYTES = 64 * 1024 * 1024;
/** Milliseconds that the top level of a module has. One that never awaits cannot be left. */
export const LOAD_DEADLINE_MS = 10_000;

export interface LoadOptions {
  clock?: Clock;
  /** Milliseconds. */
  deadline?: number;
  /** Nobody waits for it any more. */
  signal?: AbortSignal;
}

/**
 * Imports the module of a connector by URL and finds what `defineConnector` made: the default export, one
 * called `connector`, or the only one there is. Its top level runs, within a deadline and without a way to end
 * the process; nothing else does.
 */
export async function loadConnectorModule(
  url: string,
  { clock = systemClock, deadline = LOAD_DEADLINE_MS, signal }: LoadOptions = {},
): Promise<{ ok: true; definition: DefinedConnector } | { ok: false; message: string }> {
  const unfit = whyNotRegular(fileURLToPath(url), MAX_MODULE_BYTES);
  if (unfit !== null) return { ok: false, message: `The module cannot be loaded: ${unfit}.` };
  let loaded: unknown;
  try {
    const loading = withoutExit(() => import(url) as Promise<unknown>);
    loaded = await within(clock, deadline, signal, loading, `it was not loaded within ${formatDuration(deadline)}`);
  } catch (error) {
    return { ok: false, message: `The module cannot be loaded: ${reason(error)}` };
  }
  if (!isObject(loaded) && typeof loaded !== "object") return { ok: false, message: "The module exports nothing." };
  const exported = loaded as { [name: string]: unknown };
  for (const name of ["default", "connector"]) {
    const value = exported[name];
    if (isDefinedConnector(value)) return { ok: true, definition: value };
  }
  const found = Object.values(exported).filter(isDefinedConnector);
  const [only] = found;
  if (found.length === 1 && only) return { ok: true, definition: only };
  const message =
    found.length === 0
      ? "The module exports nothing made by defineConnector."
      : "The module exports several connectors: make one of them the default export.";
  return { ok: false, message };
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return "it threw something that is no error.";
  if (isExitTried(error)) return `${error.message}.`;
  const text = error.message.split("\n")[0] ?? "";
  const typescript = /Unknown file extension "\.(ts|mts)"/.test(text);
  const hint = typescript ? " This version of Node loads no TypeScript: compile it first." : "";
  return `${text.slice(0, 300).toWellFormed().replace(/\.+$/, "")}.${hint}`;
}
