import { LONG_CONTEXT, type ServedOn } from "../canon/terms.ts";
import { priceCall } from "../catalogue/price-call.ts";
import type { AnswerContext } from "../dialects/answer-context.ts";
import type { AttemptRecord, Call, LaneAttempt } from "./call.ts";
import type { Gateway } from "./gateway.ts";

/** What the host says of its terms holds instead of what was asked; a long context it does not speak of. */
export const servedOn =
  (attempt: Pick<AttemptRecord, "terms">): ServedOn =>
  (terms) => {
    attempt.terms = attempt.terms.includes(LONG_CONTEXT) ? [...terms, LONG_CONTEXT] : terms;
  };

/** What an answer on its way to the client depends on, in either lane. */
export function answerContext(call: Call, { random }: Pick<Gateway, "random">, attempt: LaneAttempt): AnswerContext {
  return {
    publicModel: call.modelInAnswer,
    request: call.body,
    options: call.incoming.options,
    makeId: random.id,
    receivedAtMs: call.startedAtMs,
    costUsd: (usage) => priceCall(usage, attempt.target, attempt.terms).costNanoUsd / 1e9,
  };
}
