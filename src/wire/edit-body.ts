import { endOfString, ObjectEdit } from "./json-text.ts";

/** A JSON object as it came over the wire, as text; a large one also as the bytes that it was. */
export interface BodySource {
  text: string;
  bytes?: Buffer;
}

/** Changes to the members of the object, given by key. Values are JSON text. */
export interface BodyEdits {
  set: Readonly<Record<string, string>>;
  rename?: Readonly<Record<string, string>>;
  remove?: readonly string[];
}

/**
 * The body with the changes made and everything else as it came. The usual change, one string member replaced and perhaps
 * others put in front, costs two searches; all others walk over the object.
 */
export function editBody(source: BodySource, edits: BodyEdits, present: (key: string) => boolean): string | Buffer {
  const { rename = {}, remove = [] } = edits;
  let only: Entry | undefined;
  let front = "";
  let simple = !remove.some(present);
  for (const key in rename) if (present(key)) simple = false;
  for (const key in edits.set) {
    const json = edits.set[key] ?? "null";
    if (!present(key)) front += `${JSON.stringify(key)}:${json},`;
    else if (only) simple = false;
    else only = [key, json];
  }
  if (simple && only) {
    const quick = source.bytes ? spliceBytes(source.bytes, only, front) : spliceText(source.text, only, front);
    if (quick !== undefined) return quick;
  }
  const edit = new ObjectEdit(source.text);
  for (const [key, json] of Object.entries(edits.set)) edit.set(key, json);
  for (const [key, name] of Object.entries(rename)) edit.rename(key, name);
  for (const key of remove) edit.remove(key);
  return edit.toString();
}

type Entry = readonly [key: string, json: string];

/** What strings and buffers have in common, as far as finding a value needs it. */
interface Searchable {
  indexOf(text: string, from?: number): number;
}

function spliceText(text: string, [key, json]: Entry, front: string): string | undefined {
  const afterKey = endOfOnlyKey(text, key);
  const value = afterKey === undefined ? undefined : stringValueAfter(text, afterKey);
  if (!value) return undefined;
  const open = text.indexOf("{") + 1;
  return text.slice(0, open) + front + text.slice(open, value.start) + json + text.slice(value.end);
}

/** The longest piece of text in which a member's value is looked for: names of models are short. */
const WINDOW = 4096;

function spliceBytes(bytes: Buffer, [key, json]: Entry, front: string): Buffer | undefined {
  const afterKey = endOfOnlyKey(bytes, key);
  if (afterKey === undefined) return undefined;
  // One character stands for one byte here, so that places in the text are places in the bytes.
  const value = stringValueAfter(bytes.toString("latin1", afterKey, afterKey + WINDOW), 0);
  if (!value || value.end >= WINDOW) return undefined;
  const open = bytes.indexOf("{") + 1;
  return Buffer.concat([
    bytes.subarray(0, open),
    Buffer.from(front),
    bytes.subarray(open, afterKey + value.start),
    Buffer.from(json),
    bytes.subarray(afterKey + value.end),
  ]);
}

/**
 * The place behind a key that is written once in the whole body, at any depth, where no letter is written as an escape:
 * then it can only be the member that the parser saw. Otherwise undefined.
 */
function endOfOnlyKey(body: Searchable, key: string): number | undefined {
  const quoted = `"${key}"`;
  const at = body.indexOf(quoted);
  const end = at + quoted.length;
  return at < 0 || body.indexOf(quoted, end) >= 0 || body.indexOf("\\u00") >= 0 ? undefined : end;
}

const STRING_VALUE = /\s*:\s*"/y;

function stringValueAfter(text: string, from: number): { start: number; end: number } | undefined {
  STRING_VALUE.lastIndex = from;
  if (!STRING_VALUE.test(text)) return undefined;
  const start = STRING_VALUE.lastIndex - 1;
  return { start, end: endOfString(text, start + 1) };
}
