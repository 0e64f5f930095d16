import { priceUsage } from "../catalogue/pricing.ts";
import type { NativeAnswerContext } from "../dialects/dialect.ts";
import type { Provider } from "../providers/provider.ts";
import type { PlannedOffer } from "../routing/plan.ts";
import type { Call } from "./call.ts";
import { makeId } from "./ids.ts";

/** What an answer on its way to the client depends on, in either lane. */
export function answerContext(call: Call, planned: PlannedOffer<Provider>): NativeAnswerContext {
  return {
    publicModel: call.modelInAnswer,
    request: call.body,
    bareFinishReason: call.incoming.bareFinishReason,
    arrayFraming: call.incoming.arrayFraming,
    makeId,
    receivedAtMs: call.startedAtMs,
    reasoningBeside: planned.provider.quirksOf(planned.dialect).reasoningBeside,
    costUsd: (usage) => priceUsage(usage, planned.offer.pricings).costNanoUsd / 1e9,
  };
}
