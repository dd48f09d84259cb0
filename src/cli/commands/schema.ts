import { didYouMean } from "../../base/nearest.ts";
import type { Schema } from "../../text/schema.ts";
import { type CommonOptions, terminalOf, usage } from "../options.ts";
import { printRefusal } from "../refusal.ts";
import { jsonText } from "../terminal.ts";

export const SCHEMAS: { readonly [name: string]: () => Promise<Schema> } = {
  workfile: async () => (await import("../../syntax/workfile/schema/workfile-schema.ts")).workfileSchema(),
  manifest: async () => (await import("../../catalog/manifest-schema.ts")).manifestSchema(),
  deployment: async () => (await import("../../app/deployment/deployment-schema.ts")).deploymentSchema(),
};

/** Prints a JSON Schema; the same that lie in the package under schema/. Offline. */
export async function schemaCommand(name: string, options: CommonOptions): Promise<number> {
  const terminal = terminalOf(options);
  try {
    const names = Object.keys(SCHEMAS);
    const make = Object.hasOwn(SCHEMAS, name) ? SCHEMAS[name] : undefined;
    if (make === undefined) {
      const near = didYouMean(name, names);
      throw usage(
        `There is no schema ${JSON.stringify(name)}.${near === "" ? "" : ` ${near}`} There are: ${names.join(", ")}.`,
      );
    }
    terminal.out(`${jsonText(await make(), 2)}\n`);
    return 0;
  } catch (error) {
    return printRefusal(terminal, error);
  }
}
