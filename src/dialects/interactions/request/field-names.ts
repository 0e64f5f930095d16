import type { FieldNames } from "../../../canon/field-names.ts";

export const FIELD_NAMES: FieldNames = {
  detail: "resolution",
  clip: "processing",
  isError: "is_error",
  turns: "input",
  maxOutputTokens: "generation_config.max_output_tokens",
};
