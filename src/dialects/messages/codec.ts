import type { ClientCodec, UpstreamCodec } from "../codec.ts";
import { decodeResponse } from "./answer/decode-response.ts";
import { MessagesStreamDecoder } from "./answer/decode-stream.ts";
import { encodeResponse } from "./answer/encode-response.ts";
import { MessagesStreamEncoder } from "./answer/encode-stream.ts";
import { decodeError } from "./answer/errors.ts";
import { counting } from "./count-tokens.ts";
import { decodeRequest } from "./request/decode-request.ts";
import { encodeRequest } from "./request/encode-request.ts";

/** The messages protocol through the canon, for providers and for clients. */
export const messagesCodec: UpstreamCodec & ClientCodec = {
  name: "messages",
  decodeRequest,
  encodeRequest,
  decodeResponse,
  encodeResponse,
  createStreamDecoder: (context) => new MessagesStreamDecoder(context),
  createStreamEncoder: (context) => new MessagesStreamEncoder(context),
  decodeError,
  counting,
  encodeTokenCount: (tokens) => JSON.stringify({ input_tokens: tokens }),
  limitHeaders: ["requests", "tokens", "input-tokens", "output-tokens"].map((limit) => ({
    remaining: `anthropic-ratelimit-${limit}-remaining`,
    reset: `anthropic-ratelimit-${limit}-reset`,
  })),
  oneFamily: true,
  reasoning: { shown: "summary", unasked: false },
  showsImages: false,
};
