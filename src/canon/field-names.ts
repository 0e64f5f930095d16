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
  | "format"
  | "turns"
  | "maxOutputTokens";

/**
 * How a client's own dialect spells them, so that a receipt points at the field that the client wrote; canonical names where
 * absent. A function makes the whole path where a name after the holder's path would not be it.
 */
export type FieldNames = Readonly<Partial<Record<FieldName, string | ((path: string) => string)>>>;

/** What has a place in the client's request, and perhaps a title at a place of its own. */
interface Located {
  path?: string;
  titlePath?: string;
  cache?: { field?: string };
}

/** The JSON path of a field in the client's request. */
export function fieldPath(names: FieldNames, at: string | undefined | Located, field: FieldName): string {
  const { path, titlePath, cache }: Located = typeof at === "object" ? at : at === undefined ? {} : { path: at };
  if (field === "title" && titlePath !== undefined) return titlePath;
  const name = (field === "cache" ? cache?.field : undefined) ?? names[field] ?? field;
  if (typeof name === "function") return name(path ?? "");
  return path === undefined ? name : `${path}.${name}`;
}
