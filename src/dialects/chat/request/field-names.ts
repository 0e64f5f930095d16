import type { FieldNames } from "../../../canon/field-names.ts";

export const FIELD_NAMES: FieldNames = {
  cache: "cache_control",
  signature: detailsPath,
  title: "file.filename",
  detail: "image_url.detail",
  location: "user_location",
  contextSize: "search_context_size",
  strict: "function.strict",
  format: "custom.format",
  turns: "messages",
  maxOutputTokens: "max_completion_tokens",
};

/** Every signature is in the message's `reasoning_details`, whatever part it belongs to. */
function detailsPath(path: string): string {
  if (path === "") return "reasoning_details";
  return /\.reasoning_details\[\d+\]$/.test(path)
    ? path
    : path.replace(/^(messages\[\d+\]).*$/, "$1.reasoning_details");
}
