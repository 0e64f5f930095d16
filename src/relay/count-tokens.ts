import type { FieldNote } from "../canon/receipt.ts";
import { estimateFile } from "../dialects/reading/estimate-tokens.ts";
import type { TextTarget } from "../routing/target.ts";
import { answerHeaders } from "./answer/answer-headers.ts";
import { identifiedResponse } from "./answer/identity-headers.ts";
import { relayUnary } from "./answer/unary.ts";
import type { Call } from "./call.ts";
import type { Gateway } from "./gateway.ts";
import { settle } from "./settle/settle.ts";

const ESTIMATED: FieldNote = {
  path: "(count)",
  action: "approximated",
  reason: "no provider of this model can count tokens in this protocol; the count is the gateway's estimate",
};

/** The upstream's count if one of the offers has a counter, otherwise an estimate, which the receipt marks as one. */
export async function relayTokenCount(call: Call, gateway: Gateway, plan: readonly TextTarget[]): Promise<Response> {
  const counting = plan.filter(({ countsTokens }) => countsTokens);
  if (counting.length > 0) return relayUnary(call, gateway, counting);
  const { dialect } = call.incoming;
  let count = dialect.requests.estimateTokens(call.body);
  for (const file of call.request?.received.files?.values() ?? []) count += estimateFile(file) * file.parts;
  call.attempt = { target: plan[0], lane: { name: "native" }, notes: [...call.adapted, ESTIMATED], terms: [] };
  await settle(call, gateway, {
    outcome: "ok",
    whole: true,
    produced: false,
    usage: undefined,
    generatedCharacters: 0,
    reasoningSeen: false,
    stop: undefined,
    firstContentAtMs: undefined,
  });
  const answer = dialect.codec.encodeTokenCount(count);
  call.capture?.answered(answer);
  return identifiedResponse(answer, answerHeaders(call, "application/json"));
}
