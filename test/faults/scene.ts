import { afterEach, beforeAll } from "vitest";
import { ensureBuilt } from "../built/built.ts";
import type { Workspace } from "./workspace.ts";

/**
 * The scene of a suite that drives the built command line: what users run is built before its first test. Gives
 * the function by which a test holds its workspace; it is removed, and what it left running ended, after the test.
 */
export function scene(): <T extends Workspace>(space: T) => T {
  const spaces: Workspace[] = [];
  beforeAll(ensureBuilt, 120_000);
  afterEach(() => {
    for (const space of spaces.splice(0)) space.remove();
  });
  return (space) => {
    spaces.push(space);
    return space;
  };
}
