import { isObject, type Json } from "../../base/json.ts";
import { START_OF_TEXT } from "../../base/span.ts";
import { type Admission, find } from "../admission.ts";

/** The settings that a file reads must be there (workfile.md 6). */
export function checkSettings(admission: Admission): void {
  const { plan, settings } = admission.input;
  for (const path of plan.settings) {
    if (settingAt(settings, path) !== undefined) continue;
    find(admission, {
      code: "deployment.missing_setting",
      message: `The file reads settings.${path}, which the deployment does not have.`,
      span: plan.steps[0]?.span ?? START_OF_TEXT,
      help: "Add it under settings in ambit.yaml.",
    });
  }
}

export function settingAt(settings: Json, path: string): Json | undefined {
  let at: Json | undefined = settings;
  for (const key of path === "" ? [] : path.split(".")) {
    if (!isObject(at) || !Object.hasOwn(at, key)) return undefined;
    at = at[key] as Json;
  }
  return at;
}
