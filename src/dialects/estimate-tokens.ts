import { isObject } from "../canon/json.ts";
import { textWeight } from "../canon/text-weight.ts";

/** English prose and code come to about four characters a token in the tokenizers of all large vendors; others: textWeight. */
const CHARACTERS_PER_TOKEN = 4;
/** What a picture or a page costs is up to the model; this is the order of magnitude that the vendors publish. */
const TOKENS_PER_MEDIA = 1000;
const TOKENS_PER_OBJECT = 3;

const DATA_URL = /^data:[\w.+-]+\/[\w.+-]+[^,]{0,100};base64,/;
const BASE64 = /^[A-Za-z0-9+/_-]{2000}/;
/** Where the protocols have media; words that only look like it are words elsewhere. */
const MEDIA_KEYS: ReadonlySet<string> = new Set(["data", "file_data", "b64_json", "bytesBase64Encoded"]);

/** A rough count for where no upstream can be asked. Base64 data counts as one picture, not as text. */
export function estimateTokens(roots: readonly unknown[]): number {
  let characters = 0;
  let tokens = 0;
  const waiting: unknown[] = [...roots];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === "string") {
      if (DATA_URL.test(value)) tokens += TOKENS_PER_MEDIA;
      else characters += textWeight(value);
    } else if (Array.isArray(value)) for (const item of value) waiting.push(item);
    else if (isObject(value)) {
      tokens += TOKENS_PER_OBJECT;
      for (const [key, item] of Object.entries(value)) {
        if (MEDIA_KEYS.has(key) && typeof item === "string" && BASE64.test(item)) tokens += TOKENS_PER_MEDIA;
        else waiting.push(item);
      }
    } else characters += 2;
  }
  return tokens + Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

export const tokensOfCharacters = (characters: number): number => Math.ceil(characters / CHARACTERS_PER_TOKEN);
