#!/usr/bin/env node
/** The command line's door. It knows one option by itself, so that `ambit --version` loads next to nothing. */
import { VERSION } from "./version.ts";

const args = process.argv.slice(2);
if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
  process.stdout.write(`${VERSION}\n`);
} else {
  const { runProgram } = await import("./program.ts");
  process.exitCode = await runProgram(args);
}
