import type { CodePage } from "../codes.ts";

export const expressionCodes = {
  "expression.syntax": {
    summary: "The text between `{{` and `}}` is no expression.",
    cause:
      "A bracket, quote or `}}` is missing, an operator or form of another language was written, a word of the language stands as a name, a function is called in another form than its own, or the expression is longer than 16 KiB or nested more than 200 deep.",
    fix: "Go to the character that the message names. Texts stand in straight quotes, equality is `==`, `&&` and `||` join conditions. `ambit explain functions` prints every function with its form.",
    example: 'if: "{{ inputs.n = 1 }}"       # write: "{{ inputs.n == 1 }}"',
    since: "0.1.0",
  },
  "expression.unknown_name": {
    summary: "An expression reads a name, field or function that does not exist there.",
    cause:
      "The name is misspelt, belongs to a later step, to another branch or to the lists inside a step, has a `-` in it, or is a field that its declaration does not have. Values named in an agent's `with` are names for the agent only.",
    fix: "Take the name that the help proposes. An input is read as `inputs.name`, a step by its id once it has run; an id with `-` cannot be read, so call it with `_`.",
    example: 'goal: "Find {{ sender }}"       # write: "Find {{ inputs.sender }}"',
    since: "0.1.0",
  },
  "expression.not_marked": {
    summary: "A bare text stands where a condition, subject or list is expected.",
    cause:
      "A condition, a subject or the list of a loop is an expression, and a text is one only between `{{` and `}}`.",
    fix: 'Put the expression between the marks and in quotes: `"{{ ... }}"`. `true`, `false` and a literal list stand without marks.',
    example: 'if: inputs.count > 3            # write: if: "{{ inputs.count > 3 }}"',
    since: "0.1.0",
  },
  "expression.failed": {
    summary: "An expression has no value: it met a value it cannot work with.",
    cause:
      "A field is not there or its owner is null, two kinds do not go together, a number is divided by 0 or beyond what is exact, a condition gave no boolean, a text could not be read, or the work or a value grew over its bound (`details.reason` is then `too_large`).",
    fix: "Ask `has(a.b)` before reading a field that may be missing, or write `default(a.b, other)`; convert with `string`, `int`, `double`, `timestamp`, `duration`; handle fewer elements at a time.",
    example:
      'text: "{{ resolve.owner.mail }}"   # owner may be null; write: "{{ default(resolve.owner.mail, \'nobody\') }}"',
    since: "0.1.0",
  },
} as const satisfies { [code: string]: CodePage };
