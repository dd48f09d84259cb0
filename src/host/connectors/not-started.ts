import { statSync } from "node:fs";

/**
 * Why a command did not start, in words. The system says ENOENT of the command where the working folder is missing,
 * and says nothing of where it has looked.
 */
export function notStarted(error: unknown, command: string, cwd: string): unknown {
  if (!(error instanceof Error && "syscall" in error) || !String(error.syscall).startsWith("spawn")) return error;
  const unfit = unfitFolder(cwd);
  if (unfit !== null) return new Error(`its working folder ${cwd} ${unfit} (cwd)`);
  const code = "code" in error ? String(error.code) : "";
  if (code === "ENOENT") return new Error(`there is no command ${JSON.stringify(command)}${hint(command, cwd)}`);
  if (code === "EACCES") return new Error(`the command ${JSON.stringify(command)} is not executable`);
  return new Error(`the command ${JSON.stringify(command)} cannot be started (${code})`);
}

function unfitFolder(cwd: string): string | null {
  try {
    return statSync(cwd).isDirectory() ? null : "is no folder";
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    return code === "ENOENT" ? "does not exist" : `cannot be entered (${code})`;
  }
}

function hint(command: string, cwd: string): string {
  if (/\s/.test(command)) return "; it is one program, and what follows it belongs into args";
  return command.includes("/") ? `; relative paths start from ${cwd}` : " on the PATH";
}
