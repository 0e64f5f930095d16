import type { JsonObject } from "../../base/json.ts";
import type { GatewayError } from "../../canon/error.ts";
import type { ClientAnswer, Tap, UnreadTexts, UpstreamRequest } from "../../dialects/dialect.ts";
import type { UpstreamFailure } from "../../dialects/upstream-failure.ts";
import type { PlacedFiles } from "../files/placed-files.ts";
import type { HeldRequest } from "../request/held-request.ts";

/** How an attempt's request is sent and its response is returned. */
export interface Lane {
  readonly name: "native" | "translated";
  /** `files`: set if the request names files that its target gets in its own way. */
  prepareRequest(request: HeldRequest, files?: PlacedFiles): UpstreamRequest | Promise<UpstreamRequest>;
  /** Texts that `readAnswer` does not need; undefined if it may need all of them. */
  readonly unreadTexts: UnreadTexts | undefined;
  /** A whole response as the client receives it. Throws if it is an error with a success status. */
  readAnswer(text: string, body: JsonObject): ClientAnswer;
  /** The same for a count of tokens. */
  readCount(text: string, body: JsonObject): ClientAnswer;
  createTap(): Tap;
  decodeError(failure: UpstreamFailure): GatewayError;
}
