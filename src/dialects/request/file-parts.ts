import { isObject, type JsonObject } from "../../base/json.ts";

/** The content of a file that a request names, to be sent in its place. */
export interface FileToSend {
  name: string;
  mimeType: string;
  /** Of its bytes. */
  base64: string;
  /** Set if it is a text. */
  text?: string | undefined;
}

/** A file that the gateway stores. */
export interface StoredFile {
  /** The part of its id that all protocols share. */
  readonly id: string;
  readonly name: string;
  readonly mimeType: string;
  readonly size: number;
  readonly expiresAtMs?: number;
}

/** A stored file that a request names, and where. */
export interface NamedFile extends StoredFile {
  readonly path: string;
  /** How many parts name it. */
  readonly parts: number;
}

/** How a protocol names an uploaded file in a part of a message, and how it has the same content inline. */
export interface FileParts {
  /** The id, if the object is such a part. */
  idOf(part: JsonObject): string | undefined;
  /** The part with the content. Undefined if the protocol has no part for content of this type. */
  inline(part: JsonObject, file: FileToSend): JsonObject | undefined;
  /** The part with the id that a provider of this protocol knows the file by. */
  rename(part: JsonObject, id: string, file: Pick<FileToSend, "mimeType">): JsonObject;
}

export const dataUrlOf = ({ mimeType, base64 }: FileToSend): string => `data:${mimeType};base64,${base64}`;

/** Visits every part that names a file, with its path. */
export function visitFileParts(
  body: JsonObject,
  { idOf }: FileParts,
  opaque: ReadonlySet<string>,
  visit: (id: string, path: string) => void,
): void {
  const walk = (value: unknown, path: string): void => {
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index++) walk(value[index], `${path}[${index}]`);
      return;
    }
    if (!isObject(value)) return;
    const id = idOf(value);
    if (id !== undefined) visit(id, path);
    for (const key in value) {
      if (!opaque.has(key) && typeof value[key] === "object") walk(value[key], path === "" ? key : `${path}.${key}`);
    }
  };
  walk(body, "");
}

/** A copy in which `replace` has replaced such parts. Everything else is shared with the original. */
export function replaceFileParts(
  body: JsonObject,
  { idOf }: FileParts,
  opaque: ReadonlySet<string>,
  replace: (part: JsonObject, id: string, path: string) => JsonObject,
): JsonObject {
  const walk = (value: unknown, path: string): unknown => {
    if (Array.isArray(value)) return value.map((item, index) => walk(item, `${path}[${index}]`));
    if (!isObject(value)) return value;
    const id = idOf(value);
    if (id !== undefined) return replace(value, id, path);
    const entries = Object.entries(value).map(([key, member]) => [
      key,
      opaque.has(key) || typeof member !== "object" ? member : walk(member, path === "" ? key : `${path}.${key}`),
    ]);
    return Object.fromEntries(entries);
  };
  return walk(body, "") as JsonObject;
}
