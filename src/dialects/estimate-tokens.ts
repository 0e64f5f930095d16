import { isObject } from "../base/json.ts";
import { textWeight } from "../base/text-weight.ts";

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

/** A rough count for where no upstream can be asked. Base64 data counts as media, not as text. */
export function estimateTokens(roots: readonly unknown[]): number {
  let characters = 0;
  let tokens = 0;
  const waiting: unknown[] = [...roots];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === "string") characters += textWeight(value);
    else if (Array.isArray(value)) for (const item of value) waiting.push(item);
    else if (isObject(value)) {
      tokens += TOKENS_PER_OBJECT;
      if (value["type"] === "url" && isLink(value)) tokens += TOKENS_PER_MEDIA;
      for (const [key, item] of Object.entries(value)) {
        if (LINK_KEYS.has(key) && isLink(item)) tokens += TOKENS_PER_MEDIA;
        const media = typeof item === "string" && URL_KEYS.has(key) ? DATA_URL.exec(item) : null;
        if (media !== null && typeof item === "string") tokens += tokensOfMedia(media[1], item.length);
        else if (MEDIA_KEYS.has(key) && typeof item === "string" && BASE64.test(item))
          tokens += tokensOfMedia(value["mimeType"] ?? value["media_type"] ?? value["format"], item.length);
        else if (FREE_KEYS.has(key) && isObject(item)) characters += textWeight(JSON.stringify(item));
        else waiting.push(item);
      }
    } else characters += 2;
  }
  return tokens + Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

export const tokensOfCharacters = (characters: number): number => Math.ceil(characters / CHARACTERS_PER_TOKEN);
