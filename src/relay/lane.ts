import type { JsonObject } from "../base/json.ts";
import type { GatewayError } from "../canon/error.ts";
import type { ClientAnswer, Tap, UpstreamFailure, UpstreamRequest } from "../dialects/dialect.ts";
import type { Call, LaneAttempt } from "./call.ts";
import type { Gateway } from "./gateway.ts";
import type { HeldRequest } from "./held-request.ts";
import { NativeLane } from "./native.ts";
import { TranslatedLane } from "./translated.ts";

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

/**
 * Native whenever both sides speak the same dialect, unless the request holds what only the canon takes out, such as an opaque
 * value of another family (H01), or the host hides in its text what the contract has a field for.
 */
export function chooseLane(call: Call, gateway: Gateway, attempt: LaneAttempt): Lane {
  const { dialect } = call.incoming;
  const { target } = attempt;
  const native = target.via === dialect.name && !dialect.native.needsCanon(call.body, target);
  return native ? new NativeLane(call, gateway, attempt) : new TranslatedLane(call, gateway, attempt);
}
