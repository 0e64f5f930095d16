import { isObject } from "../../base/json.ts";
import { textWeight, weigh } from "../../base/text-weight.ts";

/**
 * English prose and code average four characters per token in the tokenizers of all large vendors. For other text, see
 * textWeight.
 */
const CHARACTERS_PER_TOKEN = 4;
/**
 * The cost of an image depends on the model; this is the order of magnitude that vendors publish. Linked content costs at least
 * as much.
 */
const TOKENS_PER_MEDIA = 1000;
/**
 * For base64 other than images. A page of text has some kilobytes and up to 3,000 tokens; a second of audio has some kilobytes
 * and 32 tokens.
 */
const CHARACTERS_OF_DOCUMENT = 42;
const CHARACTERS_OF_SOUND = 333;
const TOKENS_PER_OBJECT = 3;

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)[^,]{0,100};base64,/;
const BASE64 = /^[A-Za-z0-9+/_-]{2000}/;
/** Where protocols have media. Elsewhere, text that looks like media is text. */
const MEDIA_KEYS: ReadonlySet<string> = new Set(["data", "file_data", "b64_json", "bytesBase64Encoded"]);

/** Fields that contain a link to media, or an object with one. */
const LINK_KEYS: ReadonlySet<string> = new Set(["fileUri", "file_id", "image_url", "video_url"]);
const isLink = (value: unknown): boolean =>
  typeof value === "string" ? !value.startsWith("data:") : isObject(value) && isLink(value["url"] ?? "data:");

/** By size, except for images: pages and seconds are not counted here (H26). */
function tokensOfMedia(type: unknown, length: number): number {
  const kind = typeof type === "string" ? type : "";
  if (kind.startsWith("image/")) return TOKENS_PER_MEDIA;
  const characters = /^(?:audio|video)\/|^\w+$/.test(kind) ? CHARACTERS_OF_SOUND : CHARACTERS_OF_DOCUMENT;
  return Math.max(TOKENS_PER_MEDIA, Math.ceil(length / characters));
}

/** A file that is not part of the request: as much as its content would be. */
export function estimateFile({ mimeType, size }: { mimeType: string; size: number }): number {
  if (mimeType.startsWith("text/")) return tokensOfCharacters(size);
  return tokensOfMedia(mimeType, Math.ceil((size * 4) / 3));
}

/** Members whose text may be media. A data URL elsewhere is text. */
const URL_KEYS: ReadonlySet<string> = new Set(["url", "image_url", "video_url", "file_url", "fileUri", "file_data"]);

/** Objects that the client defines: their content is text to the model. */
const FREE_KEYS: ReadonlySet<string> = new Set(["args", "input", "response"]);

/** Members that are not only text. */
const SPECIAL_KEYS: ReadonlySet<string> = new Set([...MEDIA_KEYS, ...LINK_KEYS, ...URL_KEYS, ...FREE_KEYS]);

/** Input to embed, rank, moderate or complete: texts and tokens, and media only in objects. */
export function estimateInput(input: unknown): number {
  let tokens = 0;
  const waiting: unknown[] = [input];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === "string") tokens += tokensOfCharacters(textWeight(value));
    else if (typeof value === "number") tokens++;
    else if (Array.isArray(value)) for (const item of value) waiting.push(item);
    else if (isObject(value)) tokens += estimateTokens([value]);
  }
  return tokens;
}

/**
 * A rough count for use when no upstream can count. Base64 data counts as media. `surplusBytes`: how many more bytes than
 * characters the whole request has, if known; text need not be scanned then, and the count is the same or slightly more.
 * `waiting`: the parts to count; it is empty afterwards. Calls with limits are counted before admission, so this is fast.
 */
export function estimateTokens(waiting: unknown[], surplusBytes?: number): number {
  const ofText = surplusBytes === undefined ? weightOf : lengthOf;
  let weight = weigh(0, surplusBytes ?? 0);
  // Nested values are queued too, so that no depth needs a stack.
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index++) {
        const item: unknown = value[index];
        if (isNested(item)) waiting.push(item);
        else weight += plainWeight(item, ofText);
      }
    } else if (isNested(value)) weight += membersWeight(value as Members, waiting, ofText);
    else weight += plainWeight(value, ofText);
  }
  return tokensOfCharacters(weight);
}

type Members = Readonly<Record<string, unknown>>;
type TextWeight = (text: string) => number;

const WEIGHT_OF_MEDIA = TOKENS_PER_MEDIA * CHARACTERS_PER_TOKEN;
const WEIGHT_OF_OBJECT = TOKENS_PER_OBJECT * CHARACTERS_PER_TOKEN;
const WEIGHT_OF_NUMBER = 2;

/** Up to this length, scanning for non-ASCII characters here is faster than calling the runtime. */
const SHORT = 48;
const LAST_ASCII = 0x7f;

function weightOf(text: string): number {
  if (text.length > SHORT) return textWeight(text);
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > LAST_ASCII) return textWeight(text);
  return text.length;
}

const lengthOf = (text: string): number => text.length;

const isNested = (value: unknown): value is object => typeof value === "object" && value !== null;

const plainWeight = (value: unknown, ofText: TextWeight): number =>
  typeof value === "string" ? ofText(value) : WEIGHT_OF_NUMBER;

/** The weight of an object without nested objects, which are queued. */
function membersWeight(holder: Members, waiting: unknown[], ofText: TextWeight): number {
  let weight = WEIGHT_OF_OBJECT;
  if (holder["type"] === "url" && isLink(holder)) weight += WEIGHT_OF_MEDIA;
  for (const key in holder) {
    if (SPECIAL_KEYS.has(key)) weight += specialWeight(holder, key, waiting, ofText);
    else weight += memberWeight(holder[key], waiting, ofText);
  }
  return weight;
}

function memberWeight(item: unknown, waiting: unknown[], ofText: TextWeight): number {
  if (!isNested(item)) return plainWeight(item, ofText);
  waiting.push(item);
  return 0;
}

function specialWeight(holder: Members, key: string, waiting: unknown[], ofText: TextWeight): number {
  const item = holder[key];
  const ofLink = LINK_KEYS.has(key) && isLink(item) ? WEIGHT_OF_MEDIA : 0;
  const media = typeof item === "string" && URL_KEYS.has(key) ? DATA_URL.exec(item) : null;
  if (media !== null && typeof item === "string") return ofLink + weightOfMedia(media[1], item.length);
  if (MEDIA_KEYS.has(key) && typeof item === "string" && BASE64.test(item))
    return ofLink + weightOfMedia(holder["mimeType"] ?? holder["media_type"] ?? holder["format"], item.length);
  if (FREE_KEYS.has(key) && isObject(item)) return ofLink + ofText(JSON.stringify(item));
  return ofLink + memberWeight(item, waiting, ofText);
}

const weightOfMedia = (type: unknown, length: number): number => tokensOfMedia(type, length) * CHARACTERS_PER_TOKEN;

export const tokensOfCharacters = (characters: number): number => Math.ceil(characters / CHARACTERS_PER_TOKEN);
