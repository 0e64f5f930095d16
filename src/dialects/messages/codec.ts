import type { ClientCodec, UpstreamCodec } from "../codec.ts";
import { counting } from "./count-tokens.ts";
import { decodeRequest } from "./decode-request.ts";
import { decodeResponse } from "./decode-response.ts";
import { MessagesStreamDecoder } from "./decode-stream.ts";
import { encodeRequest } from "./encode-request.ts";
import { encodeResponse } from "./encode-response.ts";
import { MessagesStreamEncoder } from "./encode-stream.ts";
import { decodeError } from "./errors.ts";

/** The messages protocol through the canon: towards providers, and towards clients. */
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
