import { WEB_SEARCH } from "../../canon/billable.ts";
import type { ClientCodec, DecodeAnswerContext, UpstreamCodec } from "../codec.ts";
import { decodeResponse } from "./answer/decode-response.ts";
import { InteractionsStreamDecoder } from "./answer/decode-stream.ts";
import { encodeResponse } from "./answer/encode-response.ts";
import { InteractionsStreamEncoder } from "./answer/encode-stream.ts";
import { decodeError } from "./answer/errors.ts";
import { decodeRequest } from "./request/decode-request.ts";
import { encodeRequest } from "./request/encode-request.ts";
import { OWN_ORIGIN } from "./signature.ts";

/** Tools that the usage counts, which comes with the last event. */
const GROUNDING: ReadonlySet<string> = new Set(["google_maps", "retrieval", "file_search"]);

/** Interactions through the canon, in both directions. */
export const interactionsCodec: UpstreamCodec & ClientCodec = {
  name: OWN_ORIGIN,
  encodeRequest,
  decodeResponse,
  createStreamDecoder: (context: DecodeAnswerContext) => new InteractionsStreamDecoder(context),
  decodeError,
  oneFamily: true,
  reasoning: { shown: "summary", unasked: true },
  isCountedLast: (tool) => tool === WEB_SEARCH || GROUNDING.has(tool),
  decodeRequest,
  encodeResponse,
  createStreamEncoder: (context) => new InteractionsStreamEncoder(context),
  encodeTokenCount: (tokens) => JSON.stringify({ totalTokens: tokens }),
  showsImages: true,
};
