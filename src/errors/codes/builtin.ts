import type { CodePage } from "../codes.ts";

/** Failures of the built-in connectors. */
export const builtinCodes = {
  "http.status": {
    summary: "The service answered a request of http.get or http.request with a status from 400 on.",
    cause:
      "The URL, the method, the body or the credentials are not what the service takes; the details hold its words.",
    fix: "Correct the request by what the service says, or take the failure with catch and read error.details.status.",
    example: "http.get: { url: https://api.example.org/nothing }   # details: { status: 404 }",
    since: "0.1.0",
  },
  "shell.exit": {
    summary: "A declared command ended with another exit code than 0.",
    cause: "The command says that it failed; its code and what it printed stand in the details.",
    fix: "Read error.details.stderr; where the code is an answer and no failure, take it with catch.",
    example: "shell.run: { command: grep -q x notes.txt }   # details: { exit: 1 }",
    since: "0.1.0",
  },
  "state.full": {
    summary: "A workflow keeps as many keys as it may, and was to keep another one.",
    cause: "1,000 keys of one workflow are the most; each run may have added some.",
    fix: "Delete keys that are no longer needed, or keep a map or list under one key.",
    example: 'state.put: { key: "seen-{{ item }}", value: true }   # state.put: { key: seen, value: "{{ list }}" }',
    since: "0.1.0",
  },
  "state.too_large": {
    summary: "A value is larger than a workflow may keep.",
    cause: "16 KiB of JSON are the most for one key.",
    fix: "Keep less: an id or a digest; larger things belong into a file or a service.",
    example: 'state.put: { key: page, value: "{{ page.body }}" }   # value: "{{ page.etag }}"',
    since: "0.1.0",
  },
} as const satisfies { [code: string]: CodePage };
