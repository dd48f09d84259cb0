export const TABLE_FILE: string;
export function idOf(folder: string): string | null;
export function registeredCodes(folder?: string): string[];
export function codeCases(root?: string): Map<string, string[]>;
export function rowTests(folder?: string): Map<string, string[]>;
export function tableText(
  root?: string,
  codes?: readonly string[],
  tests?: ReadonlyMap<string, readonly string[]>,
): string;
