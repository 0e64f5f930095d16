// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html

import type { UpstreamCodec } from "../codec.ts";
import { decodeResponse } from "./decode-response.ts";
import { ConverseStreamDecoder } from "./decode-stream.ts";
import { encodeRequest } from "./encode-request.ts";
import { decodeError } from "./errors.ts";

/** One protocol for all models of a cloud that hosts many families. Only providers use it, no client does. */
export const converseCodec: UpstreamCodec = {
  name: "converse",
  encodeRequest,
  decodeResponse,
  createStreamDecoder: (context) => new ConverseStreamDecoder(context),
  decodeError,
  oneFamily: false,
  reasoning: { shown: "summary", unasked: false },
  takesSearch: () => false,
};
