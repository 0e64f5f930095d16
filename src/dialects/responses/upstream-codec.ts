import { WEB_SEARCH } from "../../canon/billable.ts";
import type { DecodeAnswerContext, UpstreamCodec } from "../codec.ts";
import { decodeError } from "./answer/decode-error.ts";
import { decodeResponse } from "./answer/decode-response.ts";
import { ResponsesStreamDecoder } from "./answer/decode-stream.ts";
import { counting } from "./count-tokens.ts";
import type { ResponsesQuirks } from "./quirks.ts";
import { encodeRequest } from "./request/encode-request.ts";
import { MIN_OUTPUT } from "./request/encode-settings.ts";
import { OWN_ORIGIN } from "./request/reasoning.ts";

const takesTool = (type: string, { toolTypes }: ResponsesQuirks): boolean => toolTypes?.includes(type) ?? true;

/** The Responses dialect towards providers. */
export const responsesUpstream: UpstreamCodec = {
  name: OWN_ORIGIN,
  encodeRequest,
  decodeResponse,
  createStreamDecoder: (context: DecodeAnswerContext) => new ResponsesStreamDecoder(context),
  decodeError,
  limitHeaders: ["requests", "tokens"].map((limit) => ({
    remaining: `x-ratelimit-remaining-${limit}`,
    reset: `x-ratelimit-reset-${limit}`,
  })),
  counting,
  leastOutputLimit: MIN_OUTPUT,
  oneFamily: true,
  reasoning: { shown: "summary", unasked: true },
  takesTool,
  takesSearch: (quirks: ResponsesQuirks) => takesTool(WEB_SEARCH, quirks),
};
