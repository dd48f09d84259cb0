import { CAPABILITY_ALIASES } from "../../admit/rules/capabilities.ts";
import { didYouMean } from "../../base/nearest.ts";
import { itemPath } from "../../text/path.ts";
import { clip } from "../../text/reader.ts";
import type { Keys, Section } from "./section.ts";

/** All capabilities there are, with their older names. */
const KNOWN = [...Object.keys(CAPABILITY_ALIASES), ...Object.values(CAPABILITY_ALIASES)];

/** `capabilities.deny`. A name that is none is refused where it stands: it would deny nothing. */
export function readDeniedCapabilities(section: Section, top: Keys): string[] {
  const keys = section.map(top, "", "capabilities", ["deny"]);
  const names = (keys && section.texts(keys, "capabilities", "deny")) ?? [];
  const list = keys?.get("deny")?.value;
  if (list?.kind !== "list") return names;
  for (const [i, item] of list.items.entries()) {
    const name = item.kind === "scalar" ? item.value : null;
    if (typeof name !== "string" || KNOWN.includes(name)) continue;
    const help = `${didYouMean(name, KNOWN)} There are: ${KNOWN.join(", ")}.`.trimStart();
    section.bad(item, itemPath("capabilities.deny", i), `There is no capability "${clip(name)}".`, help);
  }
  return names;
}
