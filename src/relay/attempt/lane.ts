import type { JsonObject } from "../../base/json.ts";
import type { GatewayError } from "../../canon/error.ts";
import type { ClientAnswer, Tap, UpstreamRequest } from "../../dialects/dialect.ts";
import type { UpstreamFailure } from "../../dialects/upstream-failure.ts";
import type { HeldRequest } from "../request/held-request.ts";

/** How one attempt's request goes up and its answer comes back. */
export interface Lane {
  readonly name: "native" | "translated";
  prepareRequest(request: HeldRequest): UpstreamRequest | Promise<UpstreamRequest>;
  /** An answer in one piece, as the client reads it. Throws where it is an error under a status of success. */
  readAnswer(text: string, body: JsonObject): ClientAnswer;
  /** The same for a count of tokens. */
  readCount(text: string, body: JsonObject): ClientAnswer;
  createTap(): Tap;
  decodeError(failure: UpstreamFailure): GatewayError;
}
