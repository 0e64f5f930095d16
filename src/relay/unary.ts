import { GatewayError } from "../canon/error.ts";
import { parseObject } from "../canon/json.ts";
import { priceUsage } from "../catalogue/pricing.ts";
import type { NativeAnswer, NativeAnswerContext } from "../dialects/dialect.ts";
import type { Provider } from "../providers/provider.ts";
import type { PlannedOffer } from "../routing/plan.ts";
import { answerHeaders } from "./answer-headers.ts";
import type { Attempt } from "./attempt.ts";
import type { Call } from "./call.ts";
import type { Gateway } from "./gateway.ts";
import { makeId } from "./ids.ts";
import { settle } from "./settle.ts";
import { tryOffers } from "./try-offers.ts";

/** Images in base64 make answers of this size possible; nothing honest is larger. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

export function answerContext(call: Call, planned: PlannedOffer<Provider>): NativeAnswerContext {
  return {
    publicModel: call.model.id,
    request: call.body,
    bareFinishReason: call.incoming.bareFinishReason,
    arrayFraming: call.incoming.arrayFraming,
    makeId,
    costUsd: (usage) => priceUsage(usage, planned.offer.pricings).costNanoUsd / 1e9,
  };
}

/** An answer in one piece: read, patched, settled, sent. */
export async function relayUnary(
  call: Call,
  gateway: Gateway,
  plan: readonly PlannedOffer<Provider>[],
): Promise<Response> {
  const { answer, planned } = await tryOffers(call, gateway, plan, (attempt) => wholeAnswer(call, attempt));
  await settle(call, gateway, {
    outcome: "ok",
    planned,
    produced: true,
    usage: answer.usage,
    generatedCharacters: answer.usage ? 0 : answer.text.length,
    stop: answer.stop,
    firstContentAtMs: gateway.nowMs(),
  });
  return new Response(answer.text, { headers: answerHeaders(call, "application/json") });
}

async function wholeAnswer(
  call: Call,
  attempt: Attempt,
): Promise<{ answer: NativeAnswer; planned: PlannedOffer<Provider> }> {
  const { planned } = attempt;
  const response = await attempt.open();
  const text = await attempt.readText(response, MAX_ANSWER_BYTES);
  attempt.finish();
  const body = parseObject(text);
  if (!body) throw new GatewayError("upstream_failed", "The provider's answer is not JSON.");
  if (call.incoming.verb === "count_tokens") return { answer: { text, usage: undefined, stop: undefined }, planned };
  return { answer: call.incoming.dialect.patchAnswer(text, body, answerContext(call, planned)), planned };
}
