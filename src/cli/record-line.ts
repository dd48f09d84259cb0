import { typed } from "../journal/bodies.ts";
import type { RunRecord } from "../journal/event.ts";
import { refusalText } from "../view/timeline.ts";
import { counted, lasted, modelName } from "../view/words.ts";
import { shownText } from "./shown.ts";
import { oneLine, type Paint } from "./terminal.ts";

/** One record as a line of progress; null for what is no news. */
export function recordLine(raw: RunRecord, color: Paint): string | null {
  const record = typed(raw);
  const at = oneLine(record.position, 80);
  switch (record.kind) {
    case "run.accepted":
      return `${color.bold(oneLine(record.body.name))} ${color.dim(oneLine(record.run))}`;
    case "run.resumed":
      return color.dim(`  resumed${redispatched(record.body.redispatched)}`);
    case "run.suspended":
      return color.yellow(`  suspended: ${oneLine(String(record.body.reason))}`);
    case "agent.started":
      return `  ${color.cyan("▸")} ${at} ${color.dim(`agent ${oneLine(record.body.agent.name)} (${oneLine(modelName(record.body.agent.provider, record.body.agent.model))})`)}`;
    case "agent.turn": {
      const refused = (record.body.calls ?? []).filter((call) => call.verdict === "refused");
      if (refused.length === 0) return null;
      return refused
        .map(
          (call) =>
            `    ${color.yellow("✗")} refused ${oneLine(call.tool, 60)} ${color.dim(oneLine(refusalText(call, call.code ?? ""), 240))}`,
        )
        .join("\n");
    }
    case "agent.ended": {
      const { reason, observed } = record.body;
      const mark = reason === "result" ? color.green("✓") : color.red("✗");
      return `  ${mark} ${at} ${color.dim(`${endText(String(reason))}, ${counted(observed.steps, "tool attempt")}, ${counted(observed.tokens, "token")}`)}`;
    }
    case "call.ended": {
      const { action, outcome, fault, ambiguity, duration_ms, retry } = record.body;
      const indent = at.includes("(tools)") ? "    " : "  ";
      if (outcome === "suppressed")
        return `${indent}${color.yellow("○")} ${at} ${color.dim(`${oneLine(action)} not done`)}`;
      const mark = outcome === "ok" ? color.green("✓") : outcome === "unknown" ? color.yellow("?") : color.red("✗");
      const why = fault?.code ?? ambiguity?.code;
      const said = why === undefined ? "" : ` ${color.red(oneLine(why))}`;
      return `${indent}${mark} ${at} ${color.dim(`${oneLine(action)} ${lasted(duration_ms)}`)}${said}${retry ? color.dim(" (tried again)") : ""}`;
    }
    case "wait.set":
      return `  ${color.cyan("…")} ${at} ${color.dim(`waits until ${oneLine(String(record.body.due))}`)}`;
    case "ask.opened":
      return `  ${color.yellow("?")} ${at} ${oneLine(shownText(record.body.text ?? null))} ${color.dim(oneLine(record.body.id ?? ""))}`;
    case "ask.ended": {
      const { how, by } = record.body;
      const who = Array.isArray(by) && by.length > 0 ? ` by ${by.join(", ")}` : "";
      const sign = how === "answered" || how === "approved" ? color.green("✓") : color.red("✗");
      return `  ${sign} ${at} ${color.dim(oneLine(`${how}${who}`))}`;
    }
    case "call.settled": {
      const { how, by } = record.body;
      if (how === "left") return null;
      return `  ${color.cyan("•")} ${at} ${color.dim(oneLine(`settled by ${by}: ${how}`))}`;
    }
    case "notice.sent":
      return `  ${color.cyan("•")} ${at} ${oneLine(shownText(record.body.text ?? null))}`;
    case "stop.decided":
      return `  ${color.yellow("■")} ${at === "" ? "the run" : at} ${color.dim(`stopped: ${oneLine(String(record.body.cause))}`)}`;
    default:
      return null;
  }
}

/** `invalid_result` in words. */
function endText(reason: string): string {
  return oneLine(reason.replaceAll("_", " "));
}

function redispatched(positions: readonly string[] | undefined): string {
  return positions === undefined || positions.length === 0
    ? ""
    : `, going on with ${oneLine(positions.slice(0, 3).join(", "))}`;
}
