import { GatewayError } from "../canon/error.ts";
import { parseObject } from "../canon/json.ts";
import type { NativeAnswer } from "../dialects/dialect.ts";
import type { Provider } from "../providers/provider.ts";
import type { PlannedOffer } from "../routing/plan.ts";
import { answerCharacters } from "./answer-characters.ts";
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
  const { answer, characters, attempt } = await tryOffers(call, gateway, plan, beginAttempt(call, gateway), (attempt) =>
    wholeAnswer(call, attempt),
  );
  await settle(call, gateway, {
    outcome: "ok",
    planned: attempt.planned,
    lane: attempt.lane.name,
    produced: true,
    usage: answer.usage,
    generatedCharacters: characters,
    stop: answer.stop,
    firstContentAtMs: gateway.nowMs(),
  });
  return identifiedResponse(answer.text, answerHeaders(call, "application/json"));
}

interface WholeAnswer {
  answer: NativeAnswer;
  /** Counted only where the upstream did not tell its usage. */
  characters: number;
  attempt: Attempt;
}

async function wholeAnswer(call: Call, attempt: Attempt): Promise<WholeAnswer> {
  const text = await attempt.readText(await attempt.open(), MAX_ANSWER_BYTES);
  attempt.finish();
  const body = parseObject(text);
  if (!body) throw new GatewayError("upstream_failed", "The provider's answer is not JSON.");
  if (call.incoming.verb !== "generate") return { answer: attempt.lane.readCount(text, body), characters: 0, attempt };
  const answer = attempt.lane.readAnswer(text, body);
  const told = answer.usage?.output !== undefined;
  return { answer, characters: told ? 0 : answerCharacters(body, attempt.planned), attempt };
}
