import type { JsonObject } from "../base/json.ts";
import type { GatewayError } from "../canon/error.ts";
import { traitsOf } from "../catalogue/traits.ts";
import type { ClientAnswer, ReceivedRequest, Tap, UpstreamFailure, UpstreamRequest } from "../dialects/dialect.ts";
import { ORIGINS } from "../providers/origins.ts";
import type { Provider } from "../providers/provider.ts";
import type { PlannedOffer } from "../routing/plan.ts";
import type { Call } from "./call.ts";
import type { Gateway } from "./gateway.ts";
import { NativeLane } from "./native.ts";
import { TranslatedLane } from "./translated.ts";

/** How one attempt's request goes up and its answer comes back. */
export interface Lane {
  readonly name: "native" | "translated";
  prepareRequest(received: ReceivedRequest): UpstreamRequest | Promise<UpstreamRequest>;
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
export function chooseLane(call: Call, gateway: Gateway, planned: PlannedOffer<Provider>): Lane {
  const { dialect } = call.incoming;
  const same = planned.dialect === dialect.name;
  const quirks = planned.provider.quirksOf(planned.dialect);
  const systemMessages = () => quirks.systemMessages && traitsOf(call.model, planned.offer).systemMessages === true;
  const isForeignOrigin = (origin: string) =>
    ORIGINS.has(origin) && origin !== planned.provider.originOf(planned.dialect, planned.offer.upstreamModel);
  const native =
    same && !quirks.alwaysTagged && !dialect.carriesForeign(call.body, { systemMessages, isForeignOrigin });
  return native ? new NativeLane(call, planned) : new TranslatedLane(call, gateway, planned);
}
