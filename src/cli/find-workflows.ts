import { readdirSync } from "node:fs";
import { join, relative } from "node:path";

const MAX_FILES = 10_000;
const MAX_DEPTH = 16;

/** Workflows below a folder, sorted; dot folders and node_modules are left out. */
export function findWorkflows(root: string): string[] {
  const found: string[] = [];
  const walk = (folder: string, depth: number): void => {
    if (depth > MAX_DEPTH || found.length >= MAX_FILES) return;
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) walk(path, depth + 1);
      else if (entry.name.endsWith(".workfile.yaml")) found.push(relative(root, path));
    }
  };
  walk(root, 0);
  return found.sort();
}
