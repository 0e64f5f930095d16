import type { FieldNames } from "../../../canon/field-names.ts";

export const FIELD_NAMES: FieldNames = {
  cache: "cache_control",
  callers: "allowed_callers",
  isError: "is_error",
  allowedDomains: "allowed_domains",
  blockedDomains: "blocked_domains",
  maxUses: "max_uses",
  location: "user_location",
  turns: "messages",
  maxOutputTokens: "max_tokens",
};
