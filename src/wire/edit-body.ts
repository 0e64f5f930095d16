import { ObjectEdit } from "./json-text.ts";

/** A JSON object as it came over the wire: its bytes, and the same as text. */
export interface BodySource {
  text: string;
  bytes: Buffer;
}

/** Changes to the members of the object, given by key. Values are JSON text. */
export interface BodyEdits {
  set: Readonly<Record<string, string>>;
  rename?: Readonly<Record<string, string>>;
  remove?: readonly string[];
}

const ESCAPED_ASCII = Buffer.from("\\u00");
const COLON = 0x3a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;

/**
 * The body with the changes made and everything else as it came. The usual change, one string member replaced and perhaps
 * others put in front, is made in the bytes, at the cost of two searches; all others go over the text.
 */
export function editBody(source: BodySource, edits: BodyEdits, present: (key: string) => boolean): string | Buffer {
  const remove = edits.remove?.filter(present) ?? [];
  const rename = Object.entries(edits.rename ?? {}).filter(([key]) => present(key));
  const replaced = Object.entries(edits.set).filter(([key]) => present(key));
  const added = Object.entries(edits.set).filter(([key]) => !present(key));
  const [only] = replaced;
  if (remove.length + rename.length === 0 && replaced.length === 1 && only) {
    const quick = spliceBytes(source.bytes, only, added);
    if (quick) return quick;
  }
  const edit = new ObjectEdit(source.text);
  for (const [key, json] of [...replaced, ...added]) edit.set(key, json);
  for (const [key, name] of rename) edit.rename(key, name);
  for (const key of remove) edit.remove(key);
  return edit.toString();
}

type Entry = readonly [key: string, json: string];

function spliceBytes(bytes: Buffer, [key, json]: Entry, added: readonly Entry[]): Buffer | undefined {
  const value = onlyStringValue(bytes, key);
  const open = bytes.indexOf(OPEN_OBJECT) + 1;
  if (!value || value.start < open) return undefined;
  const front = added.map(([name, value]) => `${JSON.stringify(name)}:${value},`).join("");
  return Buffer.concat([
    bytes.subarray(0, open),
    Buffer.from(front),
    bytes.subarray(open, value.start),
    Buffer.from(json),
    bytes.subarray(value.end),
  ]);
}

/**
 * Where the string value of a key stands, if the key is written once in the whole body, at any depth, and no letter is
 * written as an escape: then it can only be the member that the parser saw. Otherwise undefined.
 */
function onlyStringValue(bytes: Buffer, key: string): { start: number; end: number } | undefined {
  const quoted = `"${key}"`;
  const at = bytes.indexOf(quoted);
  if (at < 0 || bytes.indexOf(quoted, at + quoted.length) >= 0 || bytes.indexOf(ESCAPED_ASCII) >= 0) return undefined;
  let start = at + quoted.length;
  while (isSpace(bytes[start])) start++;
  if (bytes[start] !== COLON) return undefined;
  start++;
  while (isSpace(bytes[start])) start++;
  if (bytes[start] !== QUOTE) return undefined;
  let end = bytes.indexOf(QUOTE, start + 1);
  while (end > 0 && bytes[end - 1] === BACKSLASH) end = bytes.indexOf(QUOTE, end + 1);
  return end < 0 ? undefined : { start, end: end + 1 };
}

const isSpace = (code: number | undefined) => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
