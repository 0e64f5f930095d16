import type { DialectName } from "./dialect-name.ts";

/** What of a part, a tool or a turn an encoder may have to report. */
export type FieldName =
  | "cache"
  | "signature"
  | "citations"
  | "title"
  | "context"
  | "detail"
  | "clip"
  | "isError"
  | "name"
  | "strict"
  | "description"
  | "allowedDomains"
  | "blockedDomains"
  | "maxUses"
  | "location"
  | "contextSize"
  | "format";

/** How a client's own dialect spells it, so that a receipt points at the field that the client wrote. */
const WIRE_NAMES: Readonly<Record<DialectName, Partial<Record<FieldName, string>>>> = {
  chat: {
    cache: "cache_control",
    signature: "reasoning_details",
    title: "file.filename",
    detail: "image_url.detail",
    location: "user_location",
    contextSize: "search_context_size",
    strict: "function.strict",
    format: "custom.format",
  },
  messages: {
    cache: "cache_control",
    isError: "is_error",
    allowedDomains: "allowed_domains",
    blockedDomains: "blocked_domains",
    maxUses: "max_uses",
    location: "user_location",
  },
  genai: {
    signature: "thoughtSignature",
    title: "displayName",
    detail: "mediaResolution",
    clip: "videoMetadata",
    isError: "functionResponse.response",
    blockedDomains: "excludeDomains",
  },
};

/** What has a place in the client's request, and perhaps a title at a place of its own. */
interface Located {
  path?: string;
  titlePath?: string;
}

/** The JSON path of a field in the client's request. */
export function fieldPath(dialect: DialectName, at: string | undefined | Located, field: FieldName): string {
  const { path, titlePath }: Located = typeof at === "object" ? at : at === undefined ? {} : { path: at };
  if (field === "title" && titlePath !== undefined) return titlePath;
  if (dialect === "chat" && field === "signature" && path !== undefined) return detailsPath(path);
  const name = WIRE_NAMES[dialect][field] ?? field;
  return path === undefined ? name : `${path}.${name}`;
}

/** In chat every signature stands in the message's `reasoning_details`, whatever part it belongs to. */
function detailsPath(path: string): string {
  return /\.reasoning_details\[\d+\]$/.test(path)
    ? path
    : path.replace(/^(messages\[\d+\]).*$/, "$1.reasoning_details");
}
