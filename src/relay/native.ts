import type { JsonObject } from "../base/json.ts";
import type { GatewayError } from "../canon/error.ts";
import { traitsOf } from "../catalogue/traits.ts";
import type { ClientAnswer, ReceivedRequest, Tap, UpstreamFailure, UpstreamRequest } from "../dialects/dialect.ts";
import type { Provider } from "../providers/provider.ts";
import type { PlannedOffer } from "../routing/plan.ts";
import { answerContext } from "./answer-context.ts";
import type { Call } from "./call.ts";
import type { Lane } from "./lane.ts";

/** Both sides speak the same dialect: the bytes stay as they came, but for what the contract wants changed. */
export class NativeLane implements Lane {
  readonly name = "native";
  readonly #call: Call;
  readonly #planned: PlannedOffer<Provider>;

  constructor(call: Call, planned: PlannedOffer<Provider>) {
    this.#call = call;
    this.#planned = planned;
  }

  prepareRequest(received: ReceivedRequest): UpstreamRequest {
    const { incoming, model, stream } = this.#call;
    const { provider, offer, dialect } = this.#planned;
    return incoming.dialect.prepareRequest(received, {
      upstreamModel: offer.upstreamModel,
      stream,
      door: incoming.door,
      maxOutputTokens: offer.maxOutputTokens ?? model.maxOutputTokens,
      reasons: model.reasoning,
      quirks: provider.quirksOf(dialect),
      priceMultiples: offer.priceMultiples,
      knownEfforts: () => traitsOf(model, offer).efforts,
    });
  }

  readAnswer(text: string, body: JsonObject): ClientAnswer {
    return this.#call.incoming.dialect.patchAnswer(text, body, answerContext(this.#call, this.#planned));
  }

  readCount(text: string): ClientAnswer {
    return { text, usage: undefined, stop: undefined };
  }

  createTap(): Tap {
    return this.#call.incoming.dialect.createTap(answerContext(this.#call, this.#planned));
  }

  decodeError(failure: UpstreamFailure): GatewayError {
    return this.#call.incoming.dialect.decodeError(failure);
  }
}
