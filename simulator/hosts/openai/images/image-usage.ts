import type { JsonObject } from "../../../json.ts";
import { countTokens } from "../../../text/tokens.ts";
import type { ImageRequest } from "./read-request.ts";

/** Output tokens of an image of 1024x1024. */
const TOKENS: Readonly<Record<string, number>> = { low: 272, medium: 1_056, high: 4_160 };
const UNIT_PIXELS = 1024 * 1024;
/** What an image counts of which only the URL is known. */
const UNSEEN_TOKENS = 194;

/** The usage of that many images of one request. Streams do not report the details of their output. */
export function imageUsage(request: ImageRequest, images: number, details: boolean): JsonObject {
  const share = (request.width * request.height) / UNIT_PIXELS;
  const made = images * Math.round((TOKENS[request.quality] ?? 0) * share);
  const shown = request.inputs
    .map(({ size }) => (size === undefined ? UNSEEN_TOKENS : Math.ceil((size.width * size.height) / 1_024)))
    .reduce((sum, tokens) => sum + tokens, 0);
  const said = countTokens(request.prompt);
  return {
    input_tokens: said + shown,
    input_tokens_details: { image_tokens: shown, text_tokens: said },
    output_tokens: made,
    ...(details ? { output_tokens_details: { image_tokens: made, text_tokens: 0 } } : {}),
    total_tokens: said + shown + made,
  };
}
