// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html

import { parseObject, stringAt } from "../../base/json.ts";
import type { GatewayError } from "../../canon/error.ts";
import { messageOfException, statusOfException } from "../answer/framed-exception.ts";
import type { UpstreamCodec } from "../codec.ts";
import { failureToError, type UpstreamFailure } from "../upstream-failure.ts";
import { decodeResponse } from "./decode-response.ts";
import { ConverseStreamDecoder } from "./decode-stream.ts";
import { encodeRequest } from "./encode-request.ts";

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

/** The exception's name is in a header and sometimes in the body, where it is more specific than the status. */
function decodeError(failure: UpstreamFailure): GatewayError {
  const body = parseObject(failure.body);
  return failureToError({
    status: statusOfException(stringAt(body, "__type")) ?? failure.status,
    message: messageOfException(body),
    retryAfterSeconds: failure.retryAfterSeconds,
  });
}
