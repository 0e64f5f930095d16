import type { JsonObject } from "../../base/json.ts";
import type { GatewayError } from "../../canon/error.ts";
import type { ClientAnswer, Tap, UnreadTexts, UpstreamRequest } from "../../dialects/dialect.ts";
import type { UpstreamFailure } from "../../dialects/upstream-failure.ts";
import { CallAnswerContext } from "../answer/answer-context.ts";
import type { Call, LaneAttempt } from "../call.ts";
import type { PlacedFiles } from "../files/placed-files.ts";
import type { Gateway } from "../gateway.ts";
import { guardedTap } from "../guard/guarded-tap.ts";
import type { HeldRequest } from "../request/held-request.ts";
import type { Lane } from "./lane.ts";
import { upstreamName } from "./upstream-name.ts";

/** Both sides speak the same dialect: the bytes are passed on unchanged, except for the patches that the contract needs. */
export class NativeLane implements Lane {
  readonly name = "native";
  readonly #call: Call;
  readonly #gateway: Gateway;
  readonly #attempt: LaneAttempt;

  constructor(call: Call, gateway: Gateway, attempt: LaneAttempt) {
    this.#call = call;
    this.#gateway = gateway;
    this.#attempt = attempt;
  }

  prepareRequest({ received: asked }: HeldRequest, files?: PlacedFiles): UpstreamRequest {
    const { incoming, model, stream } = this.#call;
    const received = files === undefined ? asked : files.inRequest(asked, incoming.dialect);
    const { offer, quirks, traits } = this.#attempt.target;
    return incoming.dialect.native.prepareRequest(received, {
      upstreamModel: offer.upstreamModel,
      stream,
      door: incoming.door,
      maxOutputTokens: traits.maxOutputTokens,
      counting: incoming.verb === "count_tokens",
      reasons: model.reasoning,
      quirks,
      mayUnbind: traits.bindsThinking === true && this.#call.guards?.hasEdited === true,
      knownEfforts: traits.efforts,
      upstreamName: upstreamName(this.#call, this.#gateway, this.#attempt),
    });
  }

  /** A guard looks at all texts, and so does whoever asks for an answer that is stored. */
  get unreadTexts(): UnreadTexts | undefined {
    const { incoming, guards, saver } = this.#call;
    return guards === undefined && saver === undefined ? incoming.dialect.native.unreadTexts : undefined;
  }

  readAnswer(text: string, body: JsonObject): ClientAnswer {
    const context = new CallAnswerContext(this.#call, this.#gateway, this.#attempt);
    return this.#call.incoming.dialect.native.patchAnswer(text, body, context);
  }

  readCount(text: string): ClientAnswer {
    return { text, usage: undefined, stop: undefined };
  }

  createTap(): Tap {
    const context = new CallAnswerContext(this.#call, this.#gateway, this.#attempt);
    const tap = this.#call.incoming.dialect.native.createTap(context);
    return guardedTap(tap, this.#call, this.#gateway, this.#attempt);
  }

  decodeError(failure: UpstreamFailure): GatewayError {
    return this.#call.incoming.dialect.codec.decodeError(failure, this.#attempt.target.quirks);
  }
}
