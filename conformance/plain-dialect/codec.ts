import type { ClientCodec, UpstreamCodec } from "../../src/dialects/codec.ts";
import { decodeRequest } from "./decode-request.ts";
import { decodeResponse } from "./decode-response.ts";
import { PlainStreamDecoder } from "./decode-stream.ts";
import { encodeRequest } from "./encode-request.ts";
import { encodeResponse } from "./encode-response.ts";
import { PlainStreamEncoder } from "./encode-stream.ts";
import { decodeError } from "./errors.ts";

export const plainCodec: ClientCodec & UpstreamCodec = {
  name: "plain",
  decodeRequest,
  encodeRequest,
  decodeResponse,
  encodeResponse,
  createStreamDecoder: () => new PlainStreamDecoder(),
  createStreamEncoder: (context) => new PlainStreamEncoder(context),
  decodeError,
  encodeTokenCount: (tokens) => JSON.stringify({ tokens }),
  oneFamily: false,
  reasoning: { shown: "whole", unasked: false },
  showsImages: false,
};
