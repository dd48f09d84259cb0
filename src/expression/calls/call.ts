import type { FunctionName } from "../functions.ts";
import type { CallNode } from "../tree.ts";
import type { Cell, Plain } from "../values.ts";
import type { Work } from "../work.ts";

/**
 * What a function does. Kinds and number of the arguments have been checked against the table; arguments
 * come opened, their marks are in `work` already. What is given back is marked with `work.marks`.
 */
export type Implementation = (args: Plain[], work: Work, node: CallNode) => Cell;

export type Implementations<N extends FunctionName> = { readonly [name in N]: Implementation };
