import { nextTurn } from "../base/next-turn.ts";
import { endOfString } from "../wire/json-text.ts";
import type { CheckedText, TextKind } from "./checked-text.ts";
import { type EncodedText, encodedText } from "./encoded-text.ts";

interface Place {
  readonly start: number;
  readonly end: number;
  readonly text: CheckedText;
  /** The texts in it, if it is JSON itself. */
  readonly nested?: JsonDocument | undefined;
  readonly encode?: EncodedText["encode"] | undefined;
}

/** Words of the protocols. Their values are ids, enumerations and names, not texts. */
const STRUCTURE: ReadonlySet<string> = new Set(
  `type role model id object status finish_reason finishReason stop_reason native_finish_reason call_id tool_call_id tool_use_id item_id
  response_id previous_response_id mime_type mimeType media_type format detail effort service_tier system_fingerprint event_type
  response_format encoding_format tool_choice truncation modality modalities responseModalities language code_language blockReason
  category probability threshold voice quality size background style created_at updated createTime modelVersion responseId
  fileUri file_id container_id index provider action include verbosity summary_type obfuscation cache_control ttl state mode`.split(
    /\s+/,
  ),
);
const NAMES: ReadonlySet<string> = new Set(["name", "server_label", "display_name", "displayName"]);
/** What such a value looks like. Anything else is a text, whatever its member is called. */
const STRUCTURED = /^[\w.:/@+=;*-]{1,256}$/;
/** Members whose content has no fixed form, such as schemas: nothing in it is a word of the protocol, and models read its keys. */
export const FREE: ReadonlySet<string> = new Set(
  `args arguments input metadata labels json parameters schema input_schema inputSchema output_schema outputSchema response_schema
  responseSchema parametersJsonSchema parameters_json_schema responseJsonSchema response_json_schema json_schema input_examples
  chat_template_kwargs client_metadata`.split(/\s+/),
);
/** Words of JSON Schema, which tell nothing wherever they stand. */
const SCHEMA_KEYS: ReadonlySet<string> = new Set(
  `type properties required description title items enum const default examples example format pattern anyOf oneOf allOf not nullable
  additionalProperties propertyOrdering $defs $ref $schema minimum maximum minItems maxItems minLength maxLength strict schema`.split(
    /\s+/,
  ),
);
const SCHEMA_TYPES: ReadonlySet<string> = new Set("string number integer boolean array object null".split(" "));
/** Lists of keys, which change as the keys do. */
const KEY_LISTS: ReadonlySet<string> = new Set(["required", "propertyOrdering"]);
/** JSON that is written as text. */
const NESTED: ReadonlySet<string> = new Set(["arguments", "partial_json"]);
/** Sealed values and media, if they look like it. */
const SEALED: ReadonlySet<string> = new Set(
  `data b64_json file_data fileData signature thoughtSignature thought_signature encrypted_content encrypted_index encrypted_reasoning
  imageBytes videoBytes bytesBase64Encoded partial_image_b64 image_url url result audio sound`.split(/\s+/),
);
/** Log probabilities repeat the text, token by token. */
const TOKENS: ReadonlySet<string> = new Set(["logprobs", "logprobsResult", "top_logprobs"]);
const SEALED_TEXT = ".thinking";
const LEAST_SEALED = 256;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
const LEAST_DIGITS = 13;
/** How much is read in one turn of the event loop (S25). */
const STEP = 64 * 1024;
const LONG_KEY = 16;
const ORDINARY_KEY = /^[A-Za-z_$][\w$-]*$/;

interface Level {
  readonly isList: boolean;
  readonly path: string;
  readonly free: boolean;
  index: number;
  key: string;
}

export interface DocumentOptions {
  /** What the paths begin with. */
  readonly path?: string;
  /** Log probabilities are removed. */
  readonly dropsTokens?: boolean;
  /** All of it has no fixed form, as in the arguments of a tool. */
  readonly free?: boolean;
  /** Whether a text is one text even if it is JSON. */
  readonly isPlain?: (path: string, value: string) => boolean;
}

/**
 * A JSON text and the texts in it, decoded. What the guards leave unchanged keeps its bytes. The text must be valid JSON. It is read in
 * one pass, whatever its nesting (S18).
 */
export class JsonDocument {
  readonly texts: CheckedText[] = [];
  /** Log probabilities were removed. */
  hasDroppedTokens = false;
  #json: string;
  readonly #places: Place[] = [];
  readonly #dropped: { start: number; end: number; json: string }[] = [];

  readonly #isPlain: DocumentOptions["isPlain"];

  constructor(json: string, { path = "", dropsTokens = false, free = false, isPlain }: DocumentOptions = {}) {
    this.#json = json;
    this.#isPlain = isPlain;
    for (const _step of this.#read(path, dropsTokens, free));
  }

  /** The same for a JSON text of any length, in several turns of the event loop. */
  static async read(json: string, options: DocumentOptions = {}): Promise<JsonDocument> {
    const document = new JsonDocument("", options);
    document.#json = json;
    const { path = "", dropsTokens = false, free = false } = options;
    for (const _step of document.#read(path, dropsTokens, free)) await nextTurn();
    return document;
  }

  /** The text at a path, even if it is a sealed value. */
  at(path: string): CheckedText | undefined {
    return this.#places.find(({ text }) => text.path === path && text.kind !== "key")?.text;
  }

  get isChanged(): boolean {
    return (
      this.#dropped.length > 0 ||
      this.#places.some(({ text, nested }) => text.value !== text.original || nested?.isChanged === true)
    );
  }

  /** Empties the seals of texts that were changed: a host that checks one against its text would reject it. */
  unseal(): void {
    for (const { path, value, original } of this.texts) {
      if (value === original || !path.endsWith(SEALED_TEXT)) continue;
      const seal = this.at(`${path.slice(0, -SEALED_TEXT.length)}.signature`);
      if (seal !== undefined) seal.value = "";
    }
  }

  /** Another JSON text that repeats texts of this one, with the same changes. */
  applyTo(json: string): string {
    const changed = new Map<string, string>();
    for (const { text, nested } of this.#places) {
      const value = nested?.isChanged ? nested.write() : text.value;
      if (value !== text.original) changed.set(text.original, value);
    }
    if (changed.size === 0 && !this.hasDroppedTokens) return json;
    const other = new JsonDocument(json, {
      dropsTokens: this.hasDroppedTokens,
      isPlain: (_path, value) => changed.has(value),
    });
    for (const text of other.texts) text.value = changed.get(text.original) ?? text.value;
    other.unseal();
    return other.write();
  }

  /** The JSON with the texts as they are now. */
  write(): string {
    if (!this.isChanged) return this.#json;
    const edits = [...this.#dropped];
    const keys = new Set<string>();
    for (const { start, end, text, nested, encode } of this.#places) {
      if (text.value !== text.original)
        edits.push({ start, end, json: encode ? JSON.stringify(encode(text.value)) : jsonOf(text, keys) });
      else if (nested?.isChanged) edits.push({ start, end, json: JSON.stringify(nested.write()) });
    }
    edits.sort((one, other) => one.start - other.start);
    const written: string[] = [];
    let copied = 0;
    for (const { start, end, json } of edits) {
      if (start < copied) continue;
      written.push(this.#json.slice(copied, start), json);
      copied = end;
    }
    written.push(this.#json.slice(copied));
    return written.join("");
  }

  *#read(path: string, dropsTokens: boolean, free: boolean): Generator<void> {
    const json = this.#json;
    let due = STEP;
    const levels: Level[] = [{ isList: false, path, free, index: 0, key: "" }];
    let expectsKey = false;
    for (let at = 0; at < json.length; ) {
      const level = levels[levels.length - 1];
      if (level === undefined) return;
      if (at >= due) {
        due = at + STEP;
        yield;
      }
      const code = json.charCodeAt(at);
      switch (code) {
        case 0x7b:
        case 0x5b: {
          const isList = code === 0x5b;
          if (dropsTokens && !level.free && !level.isList && TOKENS.has(level.key)) {
            at = this.#drop(at, isList);
            break;
          }
          levels.push({
            isList,
            path: pathAt(level, levels.length),
            free: isFree(level, isList),
            index: 0,
            key: isList ? level.key : "",
          });
          expectsKey = !isList;
          at++;
          break;
        }
        case 0x7d:
        case 0x5d:
          levels.pop();
          expectsKey = false;
          at++;
          break;
        case 0x2c:
          level.index++;
          expectsKey = !level.isList && levels.length > 1;
          at++;
          break;
        case 0x22: {
          const end = endOfString(json, at + 1);
          if (expectsKey) {
            level.key = decoded(json, at, end);
            this.#takeKey(level, at, end);
            expectsKey = false;
          } else {
            const nested = this.#takeString(level, levels.length, at, end);
            if (nested !== undefined) {
              yield* nested.#read(pathAt(level, levels.length), false, true);
              for (const inner of nested.texts) this.texts.push(inner);
            }
          }
          at = end;
          break;
        }
        default:
          at = code === 0x2d || (code >= 0x30 && code <= 0x39) ? this.#takeNumber(level, levels.length, at) : at + 1;
      }
    }
  }

  /** Replaces a value and returns where it ends. */
  #drop(start: number, isList: boolean): number {
    const json = this.#json;
    let depth = 0;
    let at = start;
    while (at < json.length) {
      const code = json.charCodeAt(at);
      at = code === 0x22 ? endOfString(json, at + 1) : at + 1;
      if (code === 0x7b || code === 0x5b) depth++;
      else if ((code === 0x7d || code === 0x5d) && --depth === 0) break;
    }
    const replacement = isList ? "[]" : "null";
    if (json.slice(start, at) !== replacement) {
      this.#dropped.push({ start, end: at, json: replacement });
      this.hasDroppedTokens = true;
    }
    return at;
  }

  #takeKey({ path, key, free }: Level, start: number, end: number): void {
    if (free ? SCHEMA_KEYS.has(key) : key.length < LONG_KEY && ORDINARY_KEY.test(key)) return;
    this.#add({ path: path === "" ? key : `${path}.${key}`, kind: "key", original: key, value: key }, start, end);
  }

  /** Returns what is still to be read, if the string is JSON itself. */
  #takeString(level: Level, depth: number, start: number, end: number): JsonDocument | undefined {
    if (end - start === 2) {
      this.#add({ path: pathAt(level, depth), kind: "structure", original: "", value: "" }, start, end);
      return undefined;
    }
    const value = decoded(this.#json, start, end);
    const path = pathAt(level, depth);
    const kind = kindOf(level, value);
    const text: CheckedText = { path, kind, original: value, value };
    const encoded = kind === "structure" || this.#isPlain?.(path, value) === true ? undefined : encodedText(value);
    if (typeof encoded === "object") {
      const { text: original, encode } = encoded;
      this.#add({ path, kind, original, value: original }, start, end, encode);
      return undefined;
    }
    if (encoded === "media" || isSealed(level.key, value)) {
      this.#places.push({ start, end, text });
      return undefined;
    }
    const mayNest = !level.free && NESTED.has(level.key) && this.#isPlain?.(path, value) !== true;
    const nested = mayNest && isJson(value) ? new JsonDocument("") : undefined;
    if (nested === undefined) this.#add(text, start, end);
    else {
      nested.#json = value;
      this.#places.push({ start, end, text, nested });
    }
    return nested;
  }

  #takeNumber(level: Level, depth: number, start: number): number {
    const json = this.#json;
    let end = start + 1;
    for (let code = json.charCodeAt(end); isNumeric(code); code = json.charCodeAt(end)) end++;
    if (end - start >= LEAST_DIGITS) {
      const value = json.slice(start, end);
      this.#add({ path: pathAt(level, depth), kind: "number", original: value, value }, start, end);
    }
    return end;
  }

  #add(text: CheckedText, start: number, end: number, encode?: EncodedText["encode"]): void {
    this.#places.push({ start, end, text, encode });
    this.texts.push(text);
  }
}

const isNumeric = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || code === 0x2e || code === 0x2b || code === 0x2d || code === 0x65 || code === 0x45;

const pathAt = ({ isList, path, index, key }: Level, depth: number): string => {
  if (isList) return `${path}[${index}]`;
  if (depth === 1) return path;
  return path === "" ? key : `${path}.${key}`;
};

/** Elements of a list are what the list is called. */
function isFree(level: Level, isList: boolean): boolean {
  if (level.free || (level.key === "response" && level.path.endsWith("functionResponse"))) return true;
  // A list called input has the turns of a conversation, or the texts of a service.
  return FREE.has(level.key) && !((isList || level.isList) && level.key === "input");
}

function kindOf({ key, free }: Level, value: string): TextKind {
  if (free) return SCHEMA_TYPES.has(value) ? "structure" : KEY_LISTS.has(key) ? "name" : "text";
  if (NAMES.has(key)) return "name";
  return STRUCTURE.has(key) && STRUCTURED.test(value) ? "structure" : "text";
}

/** Sealed values have no texts. */
const isSealed = (key: string, value: string): boolean =>
  value.length >= LEAST_SEALED && SEALED.has(key) && BASE64.test(value);

function isJson(value: string): boolean {
  if (!/^\s*[{[]/.test(value)) return false;
  try {
    JSON.parse(value);
    return true;
  } catch {
    // A model may write arguments that are not JSON. They are checked as one text.
    return false;
  }
}

function decoded(json: string, start: number, end: number): string {
  const raw = json.slice(start + 1, end - 1);
  return raw.includes("\\") ? (JSON.parse(json.slice(start, end)) as string) : raw;
}

/** Two keys of one body that are replaced stay different (S15). */
function jsonOf({ kind, value }: CheckedText, keys: Set<string>): string {
  if (kind !== "key") return JSON.stringify(value);
  let name = value;
  for (let count = 2; keys.has(name); count++) name = `${value}_${count}`;
  keys.add(name);
  return JSON.stringify(name);
}
