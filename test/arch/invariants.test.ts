import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");

function files(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

const isTest = (file: string): boolean => file.endsWith(".test.ts");
const read = (file: string): string => readFileSync(join(root, file), "utf8");

/** Names of tests, of tables and of what they are grouped by. */
function namesIn(file: string): string[] {
  return [...read(file).matchAll(/(?:\b(?:test|it|describe)\(|\]\)?\()\s*(["`])((?:(?!\1).)+)\1/g)].map(
    ([, , name]) => name ?? "",
  );
}

/** `I1` to `In` of the comment that a file opens with; behind its imports is behind its header. */
function invariantsOf(file: string): string[] {
  const header = /^(?:\/\*\*[\s\S]*?\*\/|(?:\/\/.*\n)+)/.exec(read(file))?.[0] ?? "";
  return [...header.matchAll(/^\s*(?:\*|\/\/) (I\d+): /gm)].map(([, id]) => id ?? "");
}

/** Those that no test names yet. The list only gets shorter. */
const UNQUOTED = [
  "src/app/callees.ts I1",
  "src/app/callees.ts I2",
  "src/app/questions.ts I3",
  "src/catalog/key-pattern.ts I2",
  "src/catalog/schema-references.ts I1",
  "src/catalog/schema-references.ts I3",
  "src/catalog/schema-references.ts I4",
  "src/cli/interrupts.ts I1",
  "src/expression/check.ts I1",
  "src/expression/check.ts I2",
  "src/expression/evaluate.ts I1",
  "src/host/connectors/files-path.ts I2",
  "src/host/connectors/http-hosts.ts I1",
  "src/host/connectors/http-hosts.ts I2",
  "src/host/connectors/http-hosts.ts I3",
  "src/host/connectors/http-send.ts I1",
  "src/host/connectors/http-send.ts I2",
  "src/host/connectors/http-send.ts I3",
  "src/host/connectors/http-send.ts I4",
  "src/host/connectors/http.ts I1",
  "src/host/connectors/http.ts I2",
  "src/host/connectors/http.ts I3",
  "src/host/connectors/http.ts I4",
  "src/host/connectors/limited.ts I1",
  "src/host/connectors/limited.ts I2",
  "src/host/connectors/limited.ts I3",
  "src/host/connectors/limited.ts I4",
  "src/host/connectors/openapi-request.ts I1",
  "src/host/connectors/openapi-request.ts I2",
  "src/host/connectors/openapi-request.ts I3",
  "src/host/connectors/openapi-schema.ts I1",
  "src/host/connectors/openapi-schema.ts I2",
  "src/host/connectors/openapi-schema.ts I3",
  "src/host/connectors/openapi.ts I1",
  "src/host/connectors/openapi.ts I2",
  "src/host/connectors/openapi.ts I3",
  "src/host/connectors/openapi.ts I4",
  "src/host/connectors/shell.ts I1",
  "src/host/connectors/shell.ts I2",
  "src/host/connectors/shell.ts I3",
  "src/host/connectors/shell.ts I4",
  "src/host/connectors/state.ts I1",
  "src/host/connectors/state.ts I2",
  "src/host/connectors/state.ts I3",
  "src/host/models/providers.ts I1",
  "src/host/stores/state-sqlite.ts I1",
  "src/host/stores/state-sqlite.ts I2",
  "src/host/stores/write-queue.ts I1",
  "src/host/stores/write-queue.ts I3",
  "src/host/stores/write-queue.ts I4",
  "src/host/stores/write-queue.ts I5",
  "src/journal/body-shape.ts I1",
  "src/journal/body-shape.ts I2",
  "src/journal/body-shape.ts I3",
  "src/journal/digest.ts I2",
  "src/journal/fold.ts I4",
  "src/journal/steps.ts I2",
  "src/run/asks.ts I1",
  "src/run/asks.ts I2",
  "src/run/asks.ts I3",
  "src/run/asks.ts I4",
  "src/run/cleanup.ts I1",
  "src/run/cleanup.ts I2",
  "src/run/cleanup.ts I3",
  "src/run/cleanup.ts I4",
  "src/run/cleanup.ts I5",
  "src/run/meter.ts I2",
  "src/run/meter.ts I3",
  "src/run/meter.ts I4",
  "src/run/scheduler.ts I4",
  "src/run/scheduler.ts I5",
  "src/run/scheduler.ts I6",
  "src/run/scheduler.ts I7",
  "src/run/scheduler.ts I8",
  "src/run/unknown.ts I1",
  "src/run/unknown.ts I2",
  "src/text/prescan.ts I2",
];

test("every invariant that a file opens with is quoted in the name of a test", () => {
  const tests = [...files("src"), ...files("test")]
    .filter((file) => isTest(file) || /^test\/contracts\/[a-z]+\.ts$/.test(file))
    .map((file) => ({ file, names: namesIn(file) }));
  const unquoted = files("src")
    .filter((file) => !isTest(file))
    .flatMap((file) => {
      const stem = basename(file, ".ts");
      const isOwn = (other: string): boolean =>
        dirname(other) === dirname(file) && new RegExp(`^${stem}[.-](prop\\.)?`).test(basename(other));
      return invariantsOf(file)
        .filter((id) => {
          const own = new RegExp(`\\b${id}\\b`);
          // In the test of another file it says whose it is: "mcp I2: ...".
          const named = new RegExp(`\\b${stem}(?: I\\d+,)* ${id}\\b`);
          return !tests.some((entry) =>
            entry.names.some((name) => named.test(name) || (isOwn(entry.file) && own.test(name))),
          );
        })
        .map((id) => `${file} ${id}`);
    });
  expect(unquoted.sort()).toEqual([...UNQUOTED].sort());
});
