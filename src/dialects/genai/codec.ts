import { WEB_SEARCH } from "../../canon/billable.ts";
import type { ClientCodec, EncodeAnswerContext, UpstreamCodec } from "../codec.ts";
import { counting } from "./count-tokens.ts";
import { decodeRequest } from "./decode-request.ts";
import { decodeResponse } from "./decode-response.ts";
import { GenaiStreamDecoder } from "./decode-stream.ts";
import { encodeRequest } from "./encode-request.ts";
import { encodeResponse } from "./encode-response.ts";
import { GenaiStreamEncoder } from "./encode-stream.ts";
import { decodeError } from "./errors.ts";
import type { GenaiOptions } from "./options.ts";

/** Other tools whose results come with the last chunk. */
const GROUNDING: ReadonlySet<string> = new Set(["enterpriseWebSearch", "googleMaps", "fileSearch", "retrieval"]);

/** Both walks of the generative-content protocol through the canon. */
export const genaiCodec: UpstreamCodec & ClientCodec = {
  name: "genai",
  decodeRequest,
  encodeRequest,
  decodeResponse,
  encodeResponse,
  createStreamDecoder: (context) => new GenaiStreamDecoder(context),
  createStreamEncoder: (context: EncodeAnswerContext<GenaiOptions>) => new GenaiStreamEncoder(context),
  decodeError,
  counting,
  encodeTokenCount: (tokens) => JSON.stringify({ totalTokens: tokens }),
  oneFamily: true,
  reasoning: { shown: "summary", unasked: true },
  isCountedLast: (tool) => tool === WEB_SEARCH || GROUNDING.has(tool),
  showsImages: true,
};
