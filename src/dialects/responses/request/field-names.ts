import type { FieldNames } from "../../../canon/field-names.ts";

export const FIELD_NAMES: FieldNames = {
  cache: "prompt_cache_breakpoint",
  callers: "allowed_callers",
  signature: "encrypted_content",
  citations: "annotations",
  title: "filename",
  allowedDomains: "filters.allowed_domains",
  blockedDomains: "filters.blocked_domains",
  location: "user_location",
  contextSize: "search_context_size",
  turns: "input",
  maxOutputTokens: "max_output_tokens",
};
