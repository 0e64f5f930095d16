import type { JsonObject } from "../base/json.ts";
import type { GatewayError } from "../canon/error.ts";
import type {
  ClientAnswer,
  NativeAnswerContext,
  ReceivedRequest,
  Tap,
  UpstreamFailure,
  UpstreamRequest,
} from "../dialects/dialect.ts";
import type { TextTarget } from "../routing/target.ts";
import { answerContext, servedOn } from "./answer-context.ts";
import type { Call } from "./call.ts";
import type { Gateway } from "./gateway.ts";
import type { Lane } from "./lane.ts";

/** Both sides speak the same dialect: the bytes stay as they came, but for what the contract wants changed. */
export class NativeLane implements Lane {
  readonly name = "native";
  readonly #call: Call;
  readonly #gateway: Gateway;
  readonly #target: TextTarget;

  constructor(call: Call, gateway: Gateway, target: TextTarget) {
    this.#call = call;
    this.#gateway = gateway;
    this.#target = target;
  }

  prepareRequest(received: ReceivedRequest): UpstreamRequest {
    const { incoming, model, stream } = this.#call;
    const { offer, quirks, traits } = this.#target;
    return incoming.dialect.prepareRequest(received, {
      upstreamModel: offer.upstreamModel,
      stream,
      door: incoming.door,
      maxOutputTokens: traits.maxOutputTokens,
      reasons: model.reasoning,
      quirks,
      priceMultiples: offer.priceMultiples,
      knownEfforts: traits.efforts,
    });
  }

  readAnswer(text: string, body: JsonObject): ClientAnswer {
    return this.#call.incoming.dialect.patchAnswer(text, body, this.#answerContext());
  }

  readCount(text: string): ClientAnswer {
    return { text, usage: undefined, stop: undefined };
  }

  createTap(): Tap {
    return this.#call.incoming.dialect.createTap(this.#answerContext());
  }

  #answerContext(): NativeAnswerContext {
    const context = answerContext(this.#call, this.#gateway, this.#target);
    return { ...context, quirks: this.#target.quirks, served: servedOn(this.#call) };
  }

  decodeError(failure: UpstreamFailure): GatewayError {
    return this.#call.incoming.dialect.decodeError(failure);
  }
}
