import type { CodePage } from "../codes.ts";

export const callCodes = {
  "action.rejected": {
    summary: "A person refused the call.",
    cause: "The deployment's policy lists the action under `approve`, and somebody rejected it.",
    fix: "Handle the code in `catch`, or ask that person.",
    example: "policy: { approve: [mail.send] }   # and: ambit reject ask_4f1c...",
    since: "0.1.0",
  },
  "action.invalid_input": {
    summary: "The arguments of a call do not fit the action's input schema; nothing was sent.",
    cause: "A field is missing, not known, or of another type than the manifest says, or the reserved key was given.",
    fix: "The message names each field and what is expected there; give the arguments so.",
    example: "crm.search: { items: [1] }   # { query: ana }",
    since: "0.1.0",
  },
  "action.invalid_output": {
    summary: "The result of an action does not fit its output schema, or a read's result cannot be read.",
    cause: "The service answered otherwise than the manifest says. A write stays recorded as done.",
    fix: "Correct the manifest's output, or the service.",
    example: "output: { required: [id] } and an answer { number: 7 }",
    since: "0.1.0",
  },
  "action.failed": {
    summary: "The action failed, and its effect did not happen.",
    cause: "The service said no, and nothing better is known than its message.",
    fix: "Read the message, or take the failure with catch.",
    example: "crm.search: [ { fail: { code: failed, message: no } } ]   # as tools.yaml of a stub has it",
    since: "0.1.0",
  },
  "action.unavailable": {
    summary: "The service cannot be reached, or no longer offers the action; nothing was done.",
    cause: "It is down, was never reached, or a read lost its connection.",
    fix: "Try again later, or let the manifest retry it.",
    example:
      "crm.search: [ { fail: { code: unavailable, message: later } } ]   # retry: { attempts: 3, backoff: 200ms, on: [unavailable] }",
    since: "0.1.0",
  },
  "action.rate_limited": {
    summary: "Too many calls at once; nothing was done.",
    cause: "The service asked to slow down, or more than 1,000 calls wait for the connector's limits.",
    fix: "Retry with a pause (what the service asks for is honoured), or lower concurrency.",
    example:
      "crm.search: [ { fail: { code: rate_limited, message: slower } } ]   # connectors: { crm: { limits: { rate: 10/s } } }",
    since: "0.1.0",
  },
  "action.auth": {
    summary: "The service refused the credentials; nothing was done.",
    cause: "The secret of the connection is wrong or expired, or the account may not do this.",
    fix: "Check the secret that the connection in ambit.yaml refers to.",
    example: "auth: { env: CRM_TOKEN }   # a token that has expired",
    since: "0.1.0",
  },
  "action.result_too_large": {
    summary: "The result is larger than may be kept.",
    cause: "A result has at most 16 MiB, a file 1 MiB, a listing 1,000 files.",
    fix: "Ask for less: a filter, a page, a narrower glob.",
    example: 'files.list: { glob: "**" }   # { path: reports, glob: "*.md" }',
    since: "0.1.0",
  },
  "files.not_found": {
    summary: "There is no such file or folder below the declared root.",
    cause: "The path is misspelt, names a folder where a file is meant, or no regular file.",
    fix: "Give a path relative to the root, as files.list shows it.",
    example: "files.read: { path: reprot.md }   # { path: report.md }",
    since: "0.1.0",
  },
  "files.not_text": {
    summary: "The file is no text.",
    cause: "Its bytes are no UTF-8: a picture, an archive, or a text in another encoding.",
    fix: "Convert the file to UTF-8, or read it with a tool that is made for its kind.",
    example: "files.read: { path: logo.png }",
    since: "0.1.0",
  },
  "stub.unmatched": {
    summary: "The scripted connector has no answer left for a call.",
    cause: "No entry of the action in tools.yaml fits the arguments, or those that fit are used up.",
    fix: "Add an answer, widen its when, or leave times out.",
    example: "crm.search: [ { when: { query: a }, times: 1, return: {} } ]   # and a second call",
    since: "0.1.0",
  },
} as const satisfies { [code: string]: CodePage };
