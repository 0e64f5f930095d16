import type { ClientCodec, UpstreamCodec } from "../codec.ts";
import { decodeRequest } from "./decode-request.ts";
import { encodeResponse } from "./encode-response.ts";
import { ResponsesStreamEncoder } from "./encode-stream.ts";
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
