export const TABLE_FILE: string;
export function idOf(folder: string): string | null;
export function tableText(root?: string): string;
