import type { FieldNames } from "../../../canon/field-names.ts";

export const FIELD_NAMES: FieldNames = {
  signature: "thoughtSignature",
  title: "displayName",
  detail: "mediaResolution",
  clip: "videoMetadata",
  isError: "functionResponse.response",
  blockedDomains: "excludeDomains",
  turns: "contents",
  maxOutputTokens: "generationConfig.maxOutputTokens",
};
