import type { ClientCodec, UpstreamCodec } from "../codec.ts";
import { encodeResponse } from "./answer/encode-response.ts";
import { ResponsesStreamEncoder } from "./answer/encode-stream.ts";
import { decodeRequest } from "./request/decode-request.ts";
import { responsesUpstream } from "./upstream-codec.ts";

/** Responses through the canon, in both directions. */
export const responsesCodec: UpstreamCodec & ClientCodec = {
  ...responsesUpstream,
  decodeRequest,
  encodeResponse,
  createStreamEncoder: (context) => new ResponsesStreamEncoder(context),
  encodeTokenCount: (tokens) => JSON.stringify({ object: "response.input_tokens", input_tokens: tokens }),
  showsImages: true,
};
