import type { Diagnostic } from "../errors/diagnostic.ts";
import { Fault, Refusal } from "../errors/fault.ts";

/** The exit codes of a start that ran nothing (interfaces.md 1). */
export type RefusedExit = 1 | 2 | 3 | 4 | 7 | 9;

/** Nothing ran: one fault, or findings about texts. What every edge prints in its own way. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly exit: RefusedExit;
  readonly fault: Fault;
  readonly diagnostics: readonly Diagnostic[];

  constructor(exit: RefusedExit, fault: Fault, diagnostics: readonly Diagnostic[] = []) {
    super(fault.message);
    this.exit = exit;
    this.fault = fault;
    this.diagnostics = diagnostics;
  }

  /**
   * From the findings of a check, an admission, a deployment. `ofDeployment`: the text that they are about is
   * `ambit.yaml`, so a fault of its YAML is one of the deployment.
   */
  static by(diagnostics: readonly Diagnostic[], ofDeployment = false): Refused {
    const errors = diagnostics.filter((entry) => entry.severity === "error");
    const first = errors[0];
    const code = first?.code ?? "internal.invariant";
    const exit = errors.every(
      (entry) => exitOfCode(entry.code) === 4 || (ofDeployment && entry.code.startsWith("yaml.")),
    )
      ? 4
      : 3;
    return new Refused(exit, new Fault(code, "", first?.message ?? "Refused without a finding."), diagnostics);
  }

  static from(refusal: Refusal): Refused {
    return new Refused(exitOfCode(refusal.code), refusal.fault);
  }
}

/** What a port threw, as every edge prints it; anything else stays as it is. */
export function refusedBy(error: unknown): unknown {
  return error instanceof Refusal ? Refused.from(error) : error;
}

const EXIT_BY_FAMILY: { [family: string]: RefusedExit } = {
  deployment: 4,
  input: 2,
  run: 9,
  store: 9,
  history: 7,
  journal: 7,
  internal: 1,
};

/** The exit code of a refusal by its code. */
function exitOfCode(code: string): RefusedExit {
  if (code === "run.unknown") return 2;
  return EXIT_BY_FAMILY[code.slice(0, code.indexOf("."))] ?? 3;
}
