import type { Catalog } from "../catalog/catalog.ts";
import { resultShape } from "../catalog/result-shape.ts";
import type { Diagnostic } from "../errors/diagnostic.ts";
import { ANY, type Shape } from "../expression/shape.ts";
import { diagnose } from "../syntax/diagnose.ts";
import type { WorkflowFile } from "./workflow-file.ts";

/**
 * What is wrong with the expressions of a workflow, and of the files that it calls, once it is known what actions give
 * back. Only of files that are right by themselves: what is found here is found by the manifests alone.
 */
export function findByResults(workflow: WorkflowFile, catalog: Catalog): Diagnostic[] {
  const known = new Map<string, Shape>();
  const shapeOf = (action: string): Shape => {
    let shape = known.get(action);
    if (shape === undefined) {
      const found = catalog.find(action);
      shape = found.ok ? resultShape(found.action.output) : ANY;
      known.set(action, shape);
    }
    return shape;
  };
  const files = [workflow, ...workflow.callees];
  return files.flatMap(({ shown, text }) =>
    diagnose(text, shown, shapeOf).diagnostics.filter((entry) => entry.severity === "error"),
  );
}
