import type { CodePage } from "../codes.ts";

export const runCodes = {
  "input.missing": {
    summary: "A required input was not given.",
    cause:
      "The workflow declares it with `required: true` (the short form `name: string` does) and the start left it out.",
    fix: "Give it with `-i name=value`, `--input @file.json`, or in the library's `inputs`.",
    example: "ambit run triage.workfile.yaml            # without -i sender=...",
    since: "0.1.0",
  },
  "input.unknown": {
    summary: "An input was given that the workflow does not declare.",
    cause: "Its name is misspelt, or it belongs to another workflow. Nothing is dropped silently.",
    fix: "Use a declared name; the message proposes the nearest one.",
    example: "ambit run triage.workfile.yaml -i snder=ana@example.org",
    since: "0.1.0",
  },
  "input.invalid": {
    summary: "An input, an option or a file given to a command is not what it has to be.",
    cause:
      "An input does not fit its declaration, a value is no JSON where JSON is needed or would be changed on its way (a key twice, a whole number beyond 2^53 - 1), or a file cannot be read or is no UTF-8.",
    fix: "The message names the place and what is expected there. For a type other than string the value is read as JSON.",
    example: "ambit run count.workfile.yaml -i n=two     # n is an integer",
    since: "0.1.0",
  },
  "flow.timeout": {
    summary: "The time of a step, of an action or of the run was up.",
    cause:
      "A step's `timeout`, the timeout in an action's manifest, or the run's deadline. What was under way was told to stop.",
    fix: "Raise the limit, make the work smaller, or handle the code in `catch`. A write that was cut off is listed as unknown.",
    example: "slow: { crm.search: { query: a }, timeout: 1s }",
    since: "0.1.0",
  },
  "flow.action_ambiguous": {
    summary: "Nobody knows whether an effect happened.",
    cause:
      "A write without a key timed out after its dispatch, lost its connection or its executor, or gave a result that cannot be read.",
    fix: "Look at the vendor's side. `on_unknown: fail` makes it an ordinary failure that `catch` can handle; a key in the manifest makes it repeatable.",
    example: "send: { mail.send: { to: a@example.org, text: hello } }   # and the process dies in the call",
    since: "0.1.0",
  },
  "flow.limit_exceeded": {
    summary: "The run reached a limit of the file or of the deployment.",
    cause: "`limits.steps` counts executed steps of every kind, iterations and handlers included.",
    fix: "Raise the limit where it is set, or loop over less.",
    example: "limits: { steps: 10 }   # with a loop over twenty items",
    since: "0.1.0",
  },
  "flow.repeat_exhausted": {
    summary: "A loop has done its last round, and its test is not met.",
    cause: "`wf.repeat` has a `max`, and neither `until` was met nor `while` false when it was reached.",
    fix: "Raise `max`, wait between the rounds, or write `on_max: truncate` and go on with the last value.",
    example: 'paid: { wf.repeat: { max: 6 }, until: "{{ look.done }}", steps: [ ... ] }',
    since: "0.1.0",
  },
  "ask.not_approver": {
    summary: "This identity may not answer the question.",
    cause:
      "`approvers: { not: initiator }` keeps out whoever started the run; a person counts once where several are needed.",
    fix: "Let somebody else answer.",
    example: "wf.ask: Pay 20?   # approvers: { not: initiator }, answered by the one who started the run",
    since: "0.1.0",
  },
  "ask.not_open": {
    summary: "No question of this id waits for an answer.",
    cause: "It was answered, has expired, was withdrawn with its run, or never stood.",
    fix: "`ambit approvals` lists what is open.",
    example: "ambit approve ask_0000000000000000",
    since: "0.1.0",
  },
  "run.already_decided": {
    summary: "Somebody has answered this already.",
    cause: "Two people answered one question, or settled one effect, at the same time. The first one counts.",
    fix: "Look at the run: `ambit runs show RUN` names who it was.",
    example: "ambit approve ask_4f1c...   # in two terminals",
    since: "0.1.0",
  },
  "flow.not_unknown": {
    summary: "There is no effect of unknown outcome at this position.",
    cause: "It was settled already, never was unknown, or the position is misspelt.",
    fix: "`ambit unknowns` lists what is to be settled, with run and position.",
    example: "ambit resolve @last pay --succeeded '{}'",
    since: "0.1.0",
  },
  "ask.expired": {
    summary: "Nobody answered a question in its time.",
    cause: "`expires` counts from the opening of the question.",
    fix: "Raise it, name assignees, or handle the code in `catch` with a `value`.",
    example: "wf.ask: Pay 20?   # expires: 2h",
    since: "0.1.0",
  },
  "run.cancelled": {
    summary: "The run, or what was under way in it, was cancelled.",
    cause:
      "Somebody cancelled it, or a sibling's failure or a time limit stopped it. The history has it of each call that was under way; no `catch` sees it.",
    fix: "Nothing, or start again.",
    example: "ambit cancel @last",
    since: "0.1.0",
  },
  "internal.invariant": {
    summary: "A bug in Ambit, not in your file.",
    cause: "An assumption of the engine did not hold. The run stops, and nothing is retried.",
    fix: "Please report it with the file and, if there is one, the export of the run. AMBIT_DEBUG=1 adds the stack to --json output.",
    example: "internal.invariant: a branch waits for something that is not the scheduler's",
    since: "0.1.0",
  },
} as const satisfies { [code: string]: CodePage };
