import { Refused } from "../app/refused.ts";
import { Fault } from "../errors/fault.ts";

/** What was written on the command line cannot be used: exit 2. */
export function usage(message: string): Refused {
  return new Refused(2, new Fault("input.invalid", "", message));
}
