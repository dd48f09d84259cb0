#!/usr/bin/env node
/** The command line's door. It knows one option by itself, so that `ambit --version` loads next to nothing. */
import { VERSION } from "./version.ts";

const args = process.argv.slice(2);
// A reader that has seen enough (`| head`) ends no run and makes no stack trace.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
  process.stdout.write(`${VERSION}\n`);
} else {
  const { runProgram } = await import("./program.ts");
  const code = await runProgram(args);
  process.exitCode = code;
  // Whatever a tool that was given up still waits for: all is said and closed, and nobody waits for it.
  process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));
}
