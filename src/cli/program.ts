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

/** How a run is named, wherever one is an argument. */
const RUN = "a run: its id, the beginning of it, @last or @failed";

const NO_WAIT = "leave with exit code 6 as soon as it waits for a time or a person, and ask nothing here";

/** How a question is named. */
const ID = "a question: its id, or the beginning of it (see ambit approvals)";
const COMMENT = "what is recorded beside it, for others to read";

type Does = <A extends unknown[]>(work: (...args: A) => Promise<number>) => (...args: A) => Promise<void>;

function collect(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value];
}

function colorOption(value: string): string {
  if (value === "auto" || value === "always" || value === "never") return value;
  throw new InvalidArgumentError("auto, always or never.");
}

/** A command with the options that every one takes, and an example of its use. */
function common(command: Command, example: string): Command {
  return command
    .option(
      "--config <file>",
      "the ambit.yaml to use (default: the nearest one, from the workflow's folder upwards, then from this one)",
    )
    .option("--store <path>", "where runs are kept: a file, or memory (default: .ambit/ambit.db of this project)")
    .option("--json", "print JSON on stdout, for programs")
    .option("--color <when>", "auto, always or never", colorOption)
    .addHelpText("after", `\nExample:\n  ${example}`);
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
  peopleCommands(program, does);
  toolCommands(program, does);
  return program;
}

function workflowCommands(program: Command, does: Does): void {
  common(
    program
      .command("check")
      .alias("validate")
      .argument("[files...]", "workflows or folders of them, - for standard input (default: all below this folder)"),
    "ambit check triage.workfile.yaml",
  )
    .description("say what is wrong with the text of workflows; runs nothing, contacts nothing")
    .option("--format <format>", "text, json, sarif or github")
    .option("--strict", "warnings count as errors")
    .option("--fix", "put right in the files what can be put right in one way only")
    .action(
      does(async (files: string[], options) => (await import("./commands/check.ts")).checkCommand(files, options)),
    );

  common(
    program
      .command("fmt")
      .argument("[files...]", "workflows or folders of them, - for standard input (default: all below this folder)"),
    "ambit fmt triage.workfile.yaml",
  )
    .description("write workflows in their one form; comments, order and spellings stay")
    .option("--check", "change nothing; exit 1 if a file would change")
    .action(does(async (files: string[], options) => (await import("./commands/fmt.ts")).fmtCommand(files, options)));

  common(program.command("plan").argument("<file>", "a workflow"), "ambit plan triage.workfile.yaml")
    .description("say who can reach what in a workflow, and its worst case; runs nothing, contacts nothing")
    .option("--scripted <file>", "play every agent from this script instead of its model")
    .option(
      "--agent <name=id>",
      "use another configuration of ambit.yaml for an agent of the workflow (repeatable)",
      collect,
    )
    .action(does(async (file: string, options) => (await import("./commands/plan.ts")).planCommand(file, options)));

  common(
    program.command("redteam").argument("<file>", "a workflow"),
    "ambit redteam triage.workfile.yaml -i sender=ana@example.org",
  )
    .description(
      "let its agents and tools misbehave, and say whether a decision of authority changed; contacts nothing",
    )
    .option("-i <name=value>", "an input; those that are not given are made, with hostile texts (repeatable)", collect)
    .option(
      "--agent <name=id>",
      "use another configuration of ambit.yaml for an agent of the workflow (repeatable)",
      collect,
    )
    .action(
      does(async (file: string, options) => (await import("./commands/redteam.ts")).redteamCommand(file, options)),
    );

  common(
    program.command("run").argument("<file>", "a workflow").argument("[inputs...]", "inputs as name=value"),
    "ambit run triage.workfile.yaml -i sender=ana@example.org",
  )
    .description("run a workflow to its end; outputs go to stdout, progress to stderr")
    .option("-i <name=value>", "an input: text for a string, JSON for other types, or @file.json (repeatable)", collect)
    .option("--input <json>", "all inputs: a JSON object, @file.json, or - for standard input", collect)
    .option("--trigger <json>", "what the workflow reads as trigger: JSON, @file.json, or - for standard input")
    .option("--scripted <file>", "play every agent from this script instead of its model")
    .option(
      "--agent <name=id>",
      "use another configuration of ambit.yaml for an agent of the workflow (repeatable)",
      collect,
    )
    .option("--deadline <duration>", "an earlier deadline for this run, such as 90s or 5m")
    .option("--run-id <id>", "the run's id: 1 to 128 characters (default: a fresh one)")
    .option("--dry-run", "dispatch only what manifests let a dry run execute, and say what a real run would do")
    .option("--no-wait", NO_WAIT)
    .option("--strict", "warnings count as errors")
    .action(
      does(async (file: string, inputs: string[], options) =>
        (await import("./commands/run.ts")).runCommand(file, inputs, options),
      ),
    );
}

function runCommands(program: Command, does: Does): void {
  const runs = program
    .command("runs")
    .description("look at recorded runs: a run is named by its id, the beginning of it, @last or @failed");
  common(runs.command("list"), "ambit runs list --status failed")
    .description("list runs, the newest first")
    .option(
      "--status <status>",
      "only runs of this status: running, completed, failed, cancelled, timed_out, stopped or suspended",
    )
    .option("--workflow <name>", "only runs of the workflow with this name")
    .option("--limit <n>", "how many at most, 1 to 1000", "20")
    .action(does(async (options) => (await import("./commands/runs.ts")).listCommand(options)));
  common(runs.command("show").argument("[run]", RUN, "@last"), "ambit runs show @last --step resolve")
    .description("show how a run went, or how it stands")
    .option("--step <position>", "one step in full: arguments, results, and the turns of an agent")
    .option("--events", "its records, one JSON document a line")
    .option("--failed", "the last run that failed")
    .action(does(async (run: string, options) => (await import("./commands/runs.ts")).showCommand(run, options)));
  common(runs.command("tail").argument("[run]", RUN, "@last"), "ambit runs tail @last")
    .description("follow a run of any process until it ends")
    .action(does(async (run: string, options) => (await import("./commands/runs.ts")).tailCommand(run, options)));
  common(runs.command("export").argument("[run]", RUN, "@last"), "ambit runs export @last > run.jsonl")
    .description("print the records of a run on stdout, one JSON document a line")
    .action(does(async (run: string, options) => (await import("./commands/runs.ts")).exportCommand(run, options)));
  common(
    runs.command("import").argument("<file>", "a file of runs export, or - for standard input"),
    "ambit runs import run.jsonl",
  )
    .description("take an exported run into this store")
    .action(does(async (file: string, options) => (await import("./commands/runs.ts")).importCommand(file, options)));

  common(program.command("replay").argument("<run>", `${RUN}; or a file of runs export`), "ambit replay @last")
    .description("evaluate a run again from its records alone, and compare; contacts nothing")
    .option("--with <file>", "evaluate this changed workflow against what the run recorded of agents and tools")
    .option(
      "-i <name=value>",
      "a sensitive input again, where what is sealed of it does not open (repeatable)",
      collect,
    )
    .action(does(async (run: string, options) => (await import("./commands/replay.ts")).replayCommand(run, options)));
  common(program.command("resume").argument("<run>", RUN), "ambit resume @last")
    .description("go on with a run that is suspended or whose process is gone; nothing recorded is done twice")
    .option(
      "-i <name=value>",
      "a sensitive input again, where what is sealed of it does not open (repeatable)",
      collect,
    )
    .option("--scripted <file>", "the script that it was started with")
    .option("--no-wait", NO_WAIT)
    .action(does(async (run: string, options) => (await import("./commands/resume.ts")).resumeCommand(run, options)));
  common(program.command("cancel").argument("<run>", RUN), "ambit cancel @last")
    .description("ask a run to stop, in whatever process it is")
    .option("--force", "end it after two seconds, whatever is still under way, and leave its cleanups out")
    .action(does(async (run: string, options) => (await import("./commands/cancel.ts")).cancelCommand(run, options)));
}

function peopleCommands(program: Command, does: Does): void {
  common(program.command("approvals"), "ambit approvals")
    .description("list the questions and approvals that runs wait for")
    .action(does(async (options) => (await import("./commands/approvals.ts")).approvalsCommand(options)));
  common(program.command("approve").argument("<id>", ID), "ambit approve ask_4f1c --edit @args.json")
    .description("say yes: let a call be made, or answer a question that asks for yes or no")
    .option("--edit <json>", "other arguments for the call, as JSON or @file.json; of a question, its other fields")
    .option("--comment <text>", COMMENT)
    .action(does(async (id: string, options) => (await import("./commands/approvals.ts")).approveCommand(id, options)));
  common(program.command("reject").argument("<id>", ID), 'ambit reject ask_4f1c --comment "too much"')
    .description("say no: refuse a call, or answer a question that asks for yes or no")
    .option("--comment <text>", COMMENT)
    .action(does(async (id: string, options) => (await import("./commands/approvals.ts")).rejectCommand(id, options)));
  common(
    program
      .command("answer")
      .argument("<id>", ID)
      .argument("<json>", "the answer: JSON, @file.json, or - for standard input"),
    "ambit answer ask_4f1c '{\"price\": 20}'",
  )
    .description("answer a question with the fields that it asks for")
    .option("--comment <text>", COMMENT)
    .action(
      does(async (id: string, answer: string, options) =>
        (await import("./commands/approvals.ts")).answerCommand(id, answer, options),
      ),
    );
  common(program.command("unknowns"), "ambit unknowns")
    .description("list the calls of which nobody knows whether they had an effect")
    .action(does(async (options) => (await import("./commands/unknowns.ts")).unknownsCommand(options)));
  common(
    program
      .command("resolve")
      .argument("<run>", RUN)
      .argument("<position>", "where the call stands (see ambit unknowns)"),
    'ambit resolve @last pay --succeeded \'{"receipt": "r-1"}\'',
  )
    .description("say what became of such a call")
    .option("--succeeded <json>", "it happened, and this is its result: JSON, @file.json, or - for standard input")
    .option("--failed <code>", "it did not happen: the code that its step fails with")
    .option("--retry", "make the call again; only of a run that waits for it")
    .option("--comment <text>", COMMENT)
    .action(
      does(async (run: string, position: string, options) =>
        (await import("./commands/unknowns.ts")).resolveCommand(run, position, options),
      ),
    );
}

function toolCommands(program: Command, does: Does): void {
  common(
    program.command("explain").argument("[code]", "an error code, or functions (default: lists all codes)"),
    "ambit explain agent.budget_exhausted",
  )
    .description("say what an error code means and what to do about it; offline")
    .action(
      does(async (code: string | undefined, options) =>
        (await import("./commands/explain.ts")).explainCommand(code, options),
      ),
    );

  common(
    program.command("schema").argument("<name>", "workfile, manifest or deployment"),
    "ambit schema workfile > workfile.schema.json",
  )
    .description("print the JSON Schema of a kind of file, for editors")
    .action(does(async (name: string, options) => (await import("./commands/schema.ts")).schemaCommand(name, options)));

  const connectors = program.command("connectors").description("look at what workflows and agents may call");
  common(connectors.command("list"), "ambit connectors list")
    .description("list the connectors that apply in this folder, and their actions; contacts nothing")
    .action(does(async (options) => (await import("./commands/connectors.ts")).connectorsListCommand(options)));
  common(
    connectors.command("import").argument("<name>", "a connector of ambit.yaml that is an MCP server"),
    "ambit connectors import crm > manifests/crm.yaml",
  )
    .description("ask an MCP server for its tools and print a manifest of them on stdout, for you to review")
    .action(
      does(async (name: string, options) =>
        (await import("./commands/connectors.ts")).connectorsImportCommand(name, options),
      ),
    );
  common(connectors.command("check"), "ambit connectors check")
    .description("connect to every connector and compare what it offers with its manifest; calls nothing")
    .action(does(async (options) => (await import("./commands/connectors.ts")).connectorsCheckCommand(options)));

  const agents = program.command("agents").description("look at which models play agents");
  common(agents.command("list"), "ambit agents list")
    .description("list the agents of ambit.yaml and the models behind them; contacts nothing")
    .action(does(async (options) => (await import("./commands/agents.ts")).agentsListCommand(options)));

  common(program.command("doctor"), "ambit doctor")
    .description("look for what is missing: Node, ambit.yaml, secrets, commands, files, the store; starts nothing")
    .option("--capabilities", "list the capabilities that this version offers")
    .action(does(async (options) => (await import("./commands/doctor.ts")).doctorCommand(options)));
}
