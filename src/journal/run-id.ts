/** The longest run id, in characters. */
export const MAX_RUN_ID = 128;

/**
 * What is wrong with a run id, as the end of a sentence that begins with "it"; null for nothing. Ids stand in
 * command lines, paths, URLs and on terminals: nothing in one may be taken for a name of ours (`@last`), for another
 * folder, or move what is shown beside it.
 */
export function runIdProblem(id: string): string | null {
  if (id === "") return "is empty";
  if ([...id].length > MAX_RUN_ID) return `is longer than ${MAX_RUN_ID} characters`;
  if (!id.isWellFormed()) return "holds half a character";
  if (id.startsWith("@")) return "begins with @, like @last and @failed";
  if (id.startsWith("-")) return "begins with -, like an option";
  if (/[/\\]/.test(id)) return "holds a slash";
  if (id.startsWith(".")) return "begins with a dot, like the name of a folder";
  // Separators, control and format characters (bidi marks and joiners among them), private and unassigned ones.
  if (/[\p{Z}\p{C}]/u.test(id)) return "holds a blank, a control character or one that is not shown";
  return null;
}
