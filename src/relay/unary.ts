import { GatewayError } from "../canon/error.ts";
import { parseObject } from "../canon/json.ts";
import type { NativeAnswer } from "../dialects/dialect.ts";
import type { Provider } from "../providers/provider.ts";
import type { PlannedOffer } from "../routing/plan.ts";
import { answerHeaders } from "./answer-headers.ts";
import { type Attempt, beginAttempt } from "./attempt.ts";
import type { Call } from "./call.ts";
import type { Gateway } from "./gateway.ts";
import { identifiedResponse } from "./identity-headers.ts";
import { settle } from "./settle.ts";
import { tryOffers } from "./try-offers.ts";

/** Images in base64 make answers of this size possible; nothing honest is larger. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

/** An answer in one piece: read, patched, settled, sent. */
export async function relayUnary(
  call: Call,
  gateway: Gateway,
  plan: readonly PlannedOffer<Provider>[],
): Promise<Response> {
  const { answer, attempt } = await tryOffers(call, gateway, plan, beginAttempt(call, gateway), (attempt) =>
    wholeAnswer(call, attempt),
  );
  await settle(call, gateway, {
    outcome: "ok",
    planned: attempt.planned,
    lane: attempt.lane.name,
    produced: true,
    usage: answer.usage,
    generatedCharacters: answer.usage ? 0 : answer.text.length,
    stop: answer.stop,
    firstContentAtMs: gateway.nowMs(),
  });
  return identifiedResponse(answer.text, answerHeaders(call, "application/json"));
}

async function wholeAnswer(call: Call, attempt: Attempt): Promise<{ answer: NativeAnswer; attempt: Attempt }> {
  const text = await attempt.readText(await attempt.open(), MAX_ANSWER_BYTES);
  attempt.finish();
  const body = parseObject(text);
  if (!body) throw new GatewayError("upstream_failed", "The provider's answer is not JSON.");
  const { verb } = call.incoming;
  return {
    answer: verb === "generate" ? attempt.lane.readAnswer(text, body) : attempt.lane.readCount(text, body),
    attempt,
  };
}
