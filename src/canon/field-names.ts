/** Fields of a part, tool or turn that a note may mention. */
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
  | "callers"
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
 * How the client's dialect spells these fields, so that a receipt shows the path that the client wrote. Canonical names if absent. A
 * function returns the whole path where the name does not simply follow the holder's path.
 */
export type FieldNames = Readonly<Partial<Record<FieldName, string | ((path: string) => string)>>>;

/** Something with a path in the client's request, and maybe a separate path for its title. */
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
