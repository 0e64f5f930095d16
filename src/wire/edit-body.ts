import type { JsonObject } from "../base/json.ts";
import { endOfString, ObjectEdit, type Span } from "./json-text.ts";

/** A JSON object as received. A large one is kept as bytes, and its text is made on demand. */
export interface BodySource {
  readonly text: string;
  readonly bytes?: Buffer;
}

/** Changes to the members of the object, given by key. Values are JSON text. */
export interface BodyEdits {
  set: Readonly<Record<string, string>>;
  rename?: Readonly<Record<string, string>>;
  remove?: readonly string[];
}

/**
 * Returns the body with the changes applied and everything else unchanged. The usual changes (replace one string member, rename
 * members, add members in front) cost a few searches; other changes walk the object.
 */
export function editBody(source: BodySource, edits: BodyEdits, parsed: JsonObject): string | Buffer {
  const { rename = {}, remove = [] } = edits;
  const splices = hasAny(parsed, remove) ? undefined : findSplices(source.bytes ?? source.text, edits, parsed);
  if (splices) return source.bytes ? spliceBytes(source.bytes, splices) : spliceText(source.text, splices);
  const edit = new ObjectEdit(source.text);
  for (const [key, json] of Object.entries(edits.set)) edit.set(key, json);
  for (const [key, name] of Object.entries(rename)) edit.rename(key, name);
  for (const key of remove) edit.remove(key);
  return edit.toString();
}

function hasAny(object: JsonObject, keys: readonly string[]): boolean {
  for (const key of keys) if (key in object) return true;
  return false;
}

function hasMembers(object: JsonObject): boolean {
  for (const _ in object) return true;
  return false;
}

/** Text that replaces the text between two offsets. */
interface Splice {
  start: number;
  end: number;
  text: string;
}

/** A key may be written with escapes. A search for it then finds nothing, or a different key. */
const mayEscapeKeys = (body: string | Buffer): boolean => body.indexOf("\\u00") >= 0;

/** The span of the string value of a member, at any depth, that the parsed object has; undefined if a search cannot find it. */
export function findOnlyString(text: string, key: string): Span | undefined {
  const keyEnd = mayEscapeKeys(text) ? undefined : endOfOnlyKey(text, key);
  return keyEnd === undefined ? undefined : stringValueIn(text, keyEnd);
}

/** Where the changes go, in order; undefined if finding them requires a walk over the object. */
function findSplices(body: string | Buffer, { set, rename = {} }: BodyEdits, parsed: JsonObject): Splice[] | undefined {
  if (mayEscapeKeys(body)) return undefined;
  const splices: Splice[] = [];
  let front = "";
  for (const key in set) {
    const json = set[key] ?? "null";
    if (!(key in parsed)) {
      front += `${JSON.stringify(key)}:${json},`;
      continue;
    }
    const keyEnd = endOfOnlyKey(body, key);
    const value = keyEnd === undefined ? undefined : stringValueAfter(body, keyEnd);
    if (!value) return undefined;
    splices.push({ start: value.start, end: value.end, text: json });
  }
  // Members in front are followed by a comma, which an empty object has no use for.
  if (splices.length === 0 && (front === "" || !hasMembers(parsed))) return undefined;
  for (const key in rename) {
    if (!(key in parsed)) continue;
    const end = endOfOnlyKey(body, key);
    if (end === undefined) return undefined;
    splices.push({ start: end - key.length - 2, end, text: JSON.stringify(rename[key]) });
  }
  if (front !== "") {
    const start = body.indexOf("{") + 1;
    // It goes first in the list, so that sorting keeps it before a change of the first member.
    splices.unshift({ start, end: start, text: front });
  }
  return splices.length === 1 ? splices : splices.sort((one, other) => one.start - other.start);
}

function spliceText(text: string, splices: readonly Splice[]): string {
  let result = "";
  let at = 0;
  for (const splice of splices) {
    result += text.slice(at, splice.start) + splice.text;
    at = splice.end;
  }
  return result + text.slice(at);
}

function spliceBytes(bytes: Buffer, splices: readonly Splice[]): Buffer {
  let length = bytes.length;
  for (const { start, end, text } of splices) length += Buffer.byteLength(text) - (end - start);
  // Every byte is written below, so the memory need not be cleared.
  const result = Buffer.allocUnsafeSlow(length);
  let read = 0;
  let written = 0;
  for (const { start, end, text } of splices) {
    written += bytes.copy(result, written, read, start);
    written += result.write(text, written);
    read = end;
  }
  bytes.copy(result, written, read);
  return result;
}

/** The offset after a key that occurs exactly once in the body, at any depth: it is then the member that the parser saw. */
function endOfOnlyKey(body: string | Buffer, key: string): number | undefined {
  const quoted = quotedKeys.get(key) ?? quoteKey(key);
  if (quoted === "") return undefined;
  const at = body.indexOf(quoted);
  const end = at + quoted.length;
  return at < 0 || body.indexOf(quoted, end) >= 0 ? undefined : end;
}

const PLAIN_KEY = /^\w+$/;
/** Few keys are edited, and they are the same in every request. */
const MAX_QUOTED = 500;
const quotedKeys = new Map<string, string>();

/** Empty for a key that is not plain ASCII, whose length in bytes differs. No key edited here is one. */
function quoteKey(key: string): string {
  const quoted = PLAIN_KEY.test(key) ? JSON.stringify(key) : "";
  if (quotedKeys.size < MAX_QUOTED) quotedKeys.set(key, quoted);
  return quoted;
}

const STRING_VALUE = /\s*:\s*"/y;
/** How many bytes are searched for a member's value. Model names are short. */
const WINDOW = 4096;

function stringValueAfter(body: string | Buffer, from: number): Span | undefined {
  if (typeof body === "string") return stringValueIn(body, from);
  // In Latin-1 each byte is one character, so offsets in the text are offsets in the bytes.
  const value = stringValueIn(body.toString("latin1", from, from + WINDOW), 0);
  return value && value.end < WINDOW ? { start: from + value.start, end: from + value.end } : undefined;
}

function stringValueIn(text: string, from: number): Span | undefined {
  STRING_VALUE.lastIndex = from;
  if (!STRING_VALUE.test(text)) return undefined;
  const start = STRING_VALUE.lastIndex - 1;
  return { start, end: endOfString(text, start + 1) };
}
