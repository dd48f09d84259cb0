import { describe, expect, test } from "vitest";
import { CODES } from "../errors/codes.ts";
import { diagnose } from "../syntax/diagnose.ts";
import { githubAnnotations } from "./github-annotations.ts";
import { sarifLog, sarifText } from "./sarif.ts";

const TEXT = `workfile: "1"
name: a
inputs: { k: { type: string, sensitive: true } }
steps:
  - b: { wf.notify: "ä😀", iff: "{{ true }}" }
  - c: { wf.if: inputs.k == null, then: [] }
  - d: { run: python, code: return 1, with: { key: "{{ inputs.k }}" } }
`;

const found = (file: string) => diagnose(TEXT, file).diagnostics;

describe("findings as SARIF", () => {
  const log = sarifLog(found("flows/my file.workfile.yaml")) as {
    version: string;
    runs: {
      columnKind: string;
      tool: { driver: { name: string; rules: { id: string; shortDescription: { text: string } }[] } };
      results: {
        ruleId: string;
        ruleIndex: number;
        level: string;
        message: { text: string };
        [key: string]: unknown;
      }[];
    }[];
  };
  const [run] = log.runs;

  test("name their rule, which is the page of their code", () => {
    expect(log.version).toBe("2.1.0");
    expect(run?.columnKind).toBe("unicodeCodePoints");
    const rules = run?.tool.driver.rules ?? [];
    expect(run?.results.map(({ ruleId }) => ruleId)).toEqual([
      "workfile.unknown_key",
      "expression.not_marked",
      "workfile.sensitive_value",
    ]);
    for (const { ruleId, ruleIndex } of run?.results ?? []) expect(rules[ruleIndex]?.id).toBe(ruleId);
    expect(rules.find(({ id }) => id === "expression.not_marked")?.shortDescription.text).toBe(
      CODES["expression.not_marked"].summary,
    );
    expect(run?.results.map(({ level }) => level)).toEqual(["error", "error", "warning"]);
  });

  test("stand where spans say, by an address relative to the working folder", () => {
    expect(run?.results[0]).toMatchObject({
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: "flows/my%20file.workfile.yaml" },
            region: { startLine: 5, startColumn: 27, endLine: 5, endColumn: 30 },
          },
          logicalLocations: [{ fullyQualifiedName: "steps[0].b.iff" }],
        },
      ],
    });
  });

  test("carry their fix", () => {
    expect(run?.results.map(({ fixes }) => fixes !== undefined)).toEqual([false, true, false]);
    expect(run?.results[1]?.["fixes"]).toMatchObject([
      {
        artifactChanges: [
          {
            replacements: [{ deletedRegion: { startLine: 6 }, insertedContent: { text: '"{{ inputs.k == null }}"' } }],
          },
        ],
      },
    ]);
  });

  test("are one log where there is nothing to say", () => {
    expect(JSON.parse(sarifText([]))).toMatchObject({ runs: [{ results: [] }] });
  });
});

describe("findings as annotations", () => {
  test("are one line each, with what could end or extend it escaped", () => {
    const text = githubAnnotations(found("a,b:c%d.workfile.yaml"));
    const lines = text.trimEnd().split("\n");
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(
      /^::error file=a%2Cb%3Ac%25d\.workfile\.yaml,line=5,endLine=5,col=27,endColumn=30,title=workfile\.unknown_key::"iff" .*%0A/,
    );
    expect(lines[2]).toMatch(/^::warning /);
  });

  test("cannot be made to begin another command", () => {
    const [entry] = found("x.yaml");
    if (entry === undefined) throw new Error("no finding");
    const text = githubAnnotations([{ ...entry, message: "a\r\n::set-output name=x::y", help: "\u001b[2J" }]);
    expect(text.split("\n")).toHaveLength(2);
    expect(text).not.toContain("\u001b");
  });
});
