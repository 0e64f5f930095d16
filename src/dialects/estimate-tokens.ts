import { isObject } from "../base/json.ts";
import { textWeight, weigh } from "../base/text-weight.ts";

/** English prose and code come to about four characters a token in the tokenizers of all large vendors; others: textWeight. */
const CHARACTERS_PER_TOKEN = 4;
/** What an image costs is up to the model; this is the order of magnitude that the vendors publish. Content at a link is at least as much. */
const TOKENS_PER_MEDIA = 1000;
/** Of base64 that is no image. A page of text has some kilobytes and up to 3,000 tokens; a second of sound has 32, and some kilobytes too. */
const CHARACTERS_OF_DOCUMENT = 42;
const CHARACTERS_OF_SOUND = 333;
const TOKENS_PER_OBJECT = 3;

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)[^,]{0,100};base64,/;
const BASE64 = /^[A-Za-z0-9+/_-]{2000}/;
/** Where the protocols have media; words that only look like it are words elsewhere. */
const MEDIA_KEYS: ReadonlySet<string> = new Set(["data", "file_data", "b64_json", "bytesBase64Encoded"]);

/** Fields that hold a link to media, or an object with one. */
const LINK_KEYS: ReadonlySet<string> = new Set(["fileUri", "file_id", "image_url", "video_url"]);
const isLink = (value: unknown): boolean =>
  typeof value === "string" ? !value.startsWith("data:") : isObject(value) && isLink(value["url"] ?? "data:");

/** By its size, but for images: pages and seconds are not counted here (H26). */
function tokensOfMedia(type: unknown, length: number): number {
  const kind = typeof type === "string" ? type : "";
  if (kind.startsWith("image/")) return TOKENS_PER_MEDIA;
  const characters = /^(?:audio|video)\/|^\w+$/.test(kind) ? CHARACTERS_OF_SOUND : CHARACTERS_OF_DOCUMENT;
  return Math.max(TOKENS_PER_MEDIA, Math.ceil(length / characters));
}

/** Members whose text may be media: a data URL elsewhere is a text, and is read as one. */
const URL_KEYS: ReadonlySet<string> = new Set(["url", "image_url", "video_url", "file_url", "fileUri", "file_data"]);

/** Objects of the client's own making: whatever is in them is text to the model. */
const FREE_KEYS: ReadonlySet<string> = new Set(["args", "input", "response"]);

/** Members that are not only text. */
const SPECIAL_KEYS: ReadonlySet<string> = new Set([...MEDIA_KEYS, ...LINK_KEYS, ...URL_KEYS, ...FREE_KEYS]);

/** What is to be embedded, ranked, moderated or completed: texts and tokens, and media only in objects. */
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
 * A rough count for where no upstream can be asked. Base64 data counts as media, not as text. `surplusBytes`: how many bytes more than
 * characters the whole request has, where that is known: no text need be looked into then, and the count is the same or a little more.
 */
export function estimateTokens(roots: readonly unknown[], surplusBytes?: number): number {
  const count = new TokenCount(surplusBytes);
  for (const root of roots) count.add(root);
  return count.total();
}

/** Up to this length it takes less to look for other than ASCII characters here than to ask the runtime. */
const SHORT = 48;
const LAST_ASCII = 0x7f;

function weightOf(text: string): number {
  if (text.length > SHORT) return textWeight(text);
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > LAST_ASCII) return textWeight(text);
  return text.length;
}

const lengthOf = (text: string): number => text.length;

/** Of values that wait for their turn, so that no depth needs a stack. A call with limits is counted before it is admitted, so this is quick. */
class TokenCount {
  #characters: number;
  #tokens = 0;
  readonly #waiting: object[] = [];
  readonly #weightOf: (text: string) => number;

  constructor(surplusBytes: number | undefined) {
    this.#weightOf = surplusBytes === undefined ? weightOf : lengthOf;
    this.#characters = weigh(0, surplusBytes ?? 0);
  }

  add(value: unknown): void {
    if (typeof value === "string") this.#characters += this.#weightOf(value);
    else if (typeof value === "object" && value !== null) this.#waiting.push(value);
    else this.#characters += 2;
  }

  total(): number {
    for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) {
      if (Array.isArray(next)) for (let index = 0; index < next.length; index++) this.add(next[index]);
      else this.#addMembers(next as Readonly<Record<string, unknown>>);
    }
    return this.#tokens + Math.ceil(this.#characters / CHARACTERS_PER_TOKEN);
  }

  #addMembers(holder: Readonly<Record<string, unknown>>): void {
    this.#tokens += TOKENS_PER_OBJECT;
    if (holder["type"] === "url" && isLink(holder)) this.#tokens += TOKENS_PER_MEDIA;
    for (const key in holder) {
      if (SPECIAL_KEYS.has(key)) this.#addSpecial(holder, key);
      else this.add(holder[key]);
    }
  }

  #addSpecial(holder: Readonly<Record<string, unknown>>, key: string): void {
    const item = holder[key];
    if (LINK_KEYS.has(key) && isLink(item)) this.#tokens += TOKENS_PER_MEDIA;
    const media = typeof item === "string" && URL_KEYS.has(key) ? DATA_URL.exec(item) : null;
    if (media !== null && typeof item === "string") this.#tokens += tokensOfMedia(media[1], item.length);
    else if (MEDIA_KEYS.has(key) && typeof item === "string" && BASE64.test(item))
      this.#tokens += tokensOfMedia(holder["mimeType"] ?? holder["media_type"] ?? holder["format"], item.length);
    else if (FREE_KEYS.has(key) && isObject(item)) this.#characters += this.#weightOf(JSON.stringify(item));
    else this.add(item);
  }
}

export const tokensOfCharacters = (characters: number): number => Math.ceil(characters / CHARACTERS_PER_TOKEN);
