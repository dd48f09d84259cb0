import type { CodePage } from "../codes.ts";

export const textCodes = {
  "yaml.syntax": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "yaml.too_large": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "yaml.too_deep": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "yaml.duplicate_key": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "yaml.alias": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "yaml.tag": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "yaml.merge_key": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "yaml.several_documents": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "yaml.number": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "yaml.not_a_map": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "yaml.unquoted_expression": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "yaml.colon_in_text": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "yaml.code_line": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "workfile.unknown_key": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "workfile.missing_key": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "workfile.wrong_type": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "workfile.bad_value": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "workfile.duplicate_id": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "workfile.reserved_id": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "workfile.not_supported": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
} as const satisfies { [code: string]: CodePage };
