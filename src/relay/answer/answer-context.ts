import type { JsonObject } from "../../base/json.ts";
import type { ServedOn } from "../../canon/terms.ts";
import type { Usage } from "../../canon/usage.ts";
import type { Catalogue } from "../../catalogue/catalogue.ts";
import type { SealedOrigins } from "../../dialects/answer/sealed-origins.ts";
import type { NativeAnswerContext } from "../../dialects/dialect.ts";
import type { MediaQuirks } from "../../dialects/request/media-quirks.ts";
import type { Call, LaneAttempt } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { answeredBy, billUsage } from "../settle/bill-usage.ts";
import { discountAt } from "../settle/discount.ts";

/** Everything that encoding a response for the client depends on, in both lanes. */
export class CallAnswerContext implements NativeAnswerContext {
  readonly publicModel: string;
  readonly request: JsonObject;
  readonly options: unknown;
  readonly makeId: () => string;
  readonly receivedAtMs: number;
  readonly nowSeconds: () => number;
  readonly quirks: MediaQuirks;
  readonly origin: string;
  readonly sealed: SealedOrigins;
  readonly served: ServedOn;
  readonly keep?: (answer: JsonObject) => void;
  readonly answerId?: string;
  readonly #attempt: LaneAttempt;
  readonly #call: Pick<Call, "otherLegs" | "outrunOthers" | "principal">;
  readonly #catalogue: Catalogue;

  constructor(
    call: Call,
    { random, sealed, snapshot, clock }: Pick<Gateway, "random" | "sealed" | "snapshot" | "clock">,
    attempt: LaneAttempt,
    { isEnding = false } = {},
  ) {
    const { model } = attempt.target;
    // A fallback may be another model, and the response must name the one that answered.
    this.publicModel = model === call.model ? call.modelInAnswer : model.id;
    this.request = call.outline;
    this.options = call.incoming.options;
    this.makeId = random.id;
    this.receivedAtMs = call.startedAtMs;
    this.nowSeconds = () => Math.floor(clock.wallMs() / 1000);
    this.quirks = attempt.target.quirks;
    this.origin = attempt.target.origin;
    this.sealed = sealed;
    this.served = attempt;
    this.#attempt = attempt;
    this.#call = call;
    this.#catalogue = snapshot.catalogue;
    const { saver, guards } = call;
    if (saver === undefined) return;
    this.keep =
      guards?.inForce.actsOnResponse && !isEnding
        ? (answer) => guards.hold(attempt, answer)
        : (answer) => saver.take(attempt, answer);
    this.answerId = saver.answerId;
  }

  costUsd(usage: Usage): number {
    const { target, terms } = this.#attempt;
    this.#call.outrunOthers?.(this.#attempt);
    const { principal, otherLegs = [] } = this.#call;
    const legs = billUsage(usage, {
      prices: target,
      provider: target.offer.provider,
      terms,
      discount: discountAt(principal, target),
      discounts: principal.discounts,
      catalogue: this.#catalogue,
      answered: answeredBy(this.#attempt, this.#catalogue),
    });
    return [...otherLegs, ...legs].reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0) / 1e9;
  }
}
