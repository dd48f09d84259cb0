/** The commands. Each is loaded when it is called; one that does not exist yet is not in the help. */
import { Command, CommanderError, InvalidArgumentError } from "commander";
import { VERSION } from "./version.ts";

/** Runs a command line and gives its exit code; usage faults are 2. */
export async function runProgram(args: readonly string[]): Promise<number> {
  let exit = 0;
  const does =
    <A extends unknown[]>(work: (...args: A) => Promise<number>) =>
    async (...args: A): Promise<void> => {
      exit = await work(...args);
    };
  if (process.platform === "win32")
    process.stderr.write("ambit: Windows is untested and nothing is promised for it; use WSL.\n");
  const program = makeProgram(does);
  try {
    await program.parseAsync([...args], { from: "user" });
    return exit;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const [{ terminalOf }, { printRefusal }] = await Promise.all([import("./options.ts"), import("./refusal.ts")]);
    return printRefusal(terminalOf({ json: args.includes("--json") }), error);
  }
}

type Does = <A extends unknown[]>(work: (...args: A) => Promise<number>) => (...args: A) => Promise<void>;

function collect(value: string, before: string[]): string[] {
  return [...before, value];
}

function colorOption(value: string): string {
  if (value === "auto" || value === "always" || value === "never") return value;
  throw new InvalidArgumentError("auto, always or never.");
}

/** A command with the options that every one takes. */
function common(command: Command): Command {
  return command
    .option("--config <file>", "the ambit.yaml to use (default: found upwards from the workflow)")
    .option("--store <path>", "the store to use, or memory")
    .option("--json", "print JSON on stdout")
    .option("--color <when>", "auto, always or never", colorOption);
}

function makeProgram(does: Does): Command {
  const program = new Command("ambit")
    .description("Runs bounded agent workflows: checked before they start, recorded as they run, replayed exactly.")
    .version(VERSION, "-V, --version")
    .showHelpAfterError("(add --help for what it takes)")
    .exitOverride()
    .addHelpText(
      "after",
      `
Exit codes of a run: 0 completed or stopped by the file, 1 failed, 5 an agent's budget was spent, 6 suspended,
8 an effect's outcome is unknown, 130 or 143 cancelled by a signal. Nothing ran: 2 usage or inputs,
3 refused at check or admission, 4 ambit.yaml or a secret, 9 the run or the store is taken.`,
    );
  workflowCommands(program, does);
  runCommands(program, does);
  toolCommands(program, does);
  return program;
}

function workflowCommands(program: Command, does: Does): void {
  common(
    program
      .command("check")
      .alias("validate")
      .argument("[files...]", "workflows, or - for standard input; none: all below this folder"),
  )
    .description("say what is wrong with workflows, and run nothing")
    .option("--format <format>", "text, json, sarif or github")
    .option("--strict", "warnings refuse too")
    .option("--fix", "put right in the files what can be put right in one way only")
    .action(
      does(async (files: string[], options) => (await import("./commands/check.ts")).checkCommand(files, options)),
    );

  common(
    program.command("fmt").argument("[files...]", "workflows, or - for standard input; none: all below this folder"),
  )
    .description("write workflows in their one form; comments, order and spellings stay")
    .option("--check", "change nothing; exit 1 if a file would change")
    .action(does(async (files: string[], options) => (await import("./commands/fmt.ts")).fmtCommand(files, options)));

  common(program.command("plan").argument("<file>", "a workflow"))
    .description("say what a workflow may touch and its worst case; contacts nothing")
    .option("--scripted <file>", "play every agent from this script")
    .option("--agent <name=id>", "choose an agent configuration", collect, [])
    .action(does(async (file: string, options) => (await import("./commands/plan.ts")).planCommand(file, options)));

  common(program.command("run").argument("<file>", "a workflow").argument("[inputs...]", "inputs as name=value"))
    .description("run a workflow to its end")
    .option("-i <name=value>", "an input; text for a string, JSON for other types, or @file.json", collect, [])
    .option("--input <json>", "all inputs as a JSON object, @file.json or - for standard input", collect, [])
    .option("--trigger <json>", "what the workflow reads as trigger: JSON, @file.json or -")
    .option("--scripted <file>", "play every agent from this script")
    .option("--agent <name=id>", "choose an agent configuration", collect, [])
    .option("--deadline <duration>", "a shorter deadline for this run")
    .option("--run-id <id>", "the run's id (default: a fresh one)")
    .option("--strict", "warnings refuse too")
    .action(
      does(async (file: string, inputs: string[], options) =>
        (await import("./commands/run.ts")).runCommand(file, inputs, options),
      ),
    );
}

function runCommands(program: Command, does: Does): void {
  const runs = program.command("runs").description("look at runs (ids may be prefixes, @last, @failed)");
  common(runs.command("list"))
    .description("the newest runs")
    .option("--status <status>", "only runs of this status")
    .option("--workflow <name>", "only runs of this workflow")
    .option("--limit <n>", "how many", "20")
    .action(does(async (options) => (await import("./commands/runs.ts")).listCommand(options)));
  common(runs.command("show").argument("[run]", "a run", "@last"))
    .description("how a run went, or stands")
    .option("--step <position>", "one position, with arguments and results")
    .option("--events", "its records, one JSON document a line")
    .option("--failed", "the last run that failed")
    .action(does(async (run: string, options) => (await import("./commands/runs.ts")).showCommand(run, options)));
  common(runs.command("tail").argument("[run]", "a run", "@last"))
    .description("follow a run to its end")
    .action(does(async (run: string, options) => (await import("./commands/runs.ts")).tailCommand(run, options)));
  common(runs.command("export").argument("[run]", "a run", "@last"))
    .description("its records as JSON lines on stdout")
    .action(does(async (run: string, options) => (await import("./commands/runs.ts")).exportCommand(run, options)));
  common(runs.command("import").argument("<file>", "an exported run, or -"))
    .description("take over an exported run")
    .action(does(async (file: string, options) => (await import("./commands/runs.ts")).importCommand(file, options)));

  common(program.command("replay").argument("<run>", "a run, or a file of runs export"))
    .description("evaluate a run again from its records alone and compare")
    .option("--with <file>", "evaluate a changed file with the run's recorded agents and tools")
    .action(does(async (run: string, options) => (await import("./commands/replay.ts")).replayCommand(run, options)));
  common(program.command("resume").argument("<run>", "a run whose process is gone"))
    .description("go on with a run")
    .option("-i <name=value>", "a sensitive input again", collect, [])
    .option("--scripted <file>", "the script it was started with")
    .action(does(async (run: string, options) => (await import("./commands/resume.ts")).resumeCommand(run, options)));
  common(program.command("cancel").argument("<run>", "a run"))
    .description("ask a run to stop, in whatever process it is")
    .option("--force", "wait for nothing that is under way")
    .action(does(async (run: string, options) => (await import("./commands/cancel.ts")).cancelCommand(run, options)));
}

function toolCommands(program: Command, does: Does): void {
  common(program.command("explain").argument("[code]", "an error code, or: functions"))
    .description("what a code means and what to do about it")
    .action(
      does(async (code: string | undefined, options) =>
        (await import("./commands/explain.ts")).explainCommand(code, options),
      ),
    );

  common(program.command("schema").argument("<name>", "workfile, manifest or deployment"))
    .description("print the JSON Schema of a kind of file, for editors")
    .action(does(async (name: string, options) => (await import("./commands/schema.ts")).schemaCommand(name, options)));

  const connectors = program.command("connectors").description("look at what may be called");
  common(connectors.command("list"))
    .description("connectors and their actions; contacts nothing")
    .action(does(async (options) => (await import("./commands/connectors.ts")).connectorsListCommand(options)));
  common(connectors.command("import").argument("<name>", "an MCP connector of ambit.yaml"))
    .description("write a manifest from a server's tool list, to be reviewed")
    .action(
      does(async (name: string, options) =>
        (await import("./commands/connectors.ts")).connectorsImportCommand(name, options),
      ),
    );
  common(connectors.command("check"))
    .description("connect, and compare what is offered with the manifests")
    .action(does(async (options) => (await import("./commands/connectors.ts")).connectorsCheckCommand(options)));

  const agents = program.command("agents").description("look at agent configurations");
  common(agents.command("list"))
    .description("the agents of the deployment")
    .action(does(async (options) => (await import("./commands/agents.ts")).agentsListCommand(options)));

  common(program.command("doctor"))
    .description("look at what runs stand on")
    .option("--capabilities", "what this executor can do")
    .action(does(async (options) => (await import("./commands/doctor.ts")).doctorCommand(options)));
}
