import { hasBudget, type Level } from "../access/level.ts";
import type { Principal } from "../access/principal.ts";
import type { JsonObject } from "../base/json.ts";
import type { Usage } from "../canon/usage.ts";
import type { Model, Offer } from "../catalogue/model.ts";
import { priceCall } from "../catalogue/price-call.ts";
import { askedTerms } from "../dialects/priced-fields.ts";
import type { IncomingCall } from "./call.ts";
import { expectedImageCost } from "./media/expected-image-cost.ts";
import { DEFAULT_OUTPUT, outputLimit } from "./output-limit.ts";

const NO_ESTIMATE = { estimatedCostNanoUsd: 0, estimatedTokens: 0 };

const countsUse = ({ limits }: Level): boolean => limits.tokensPerMinute !== undefined || hasBudget(limits);

/** What every level allows in a minute. */
function tokensPerMinute(levels: readonly Level[]): number | undefined {
  let least: number | undefined;
  for (const { limits } of levels) {
    const { tokensPerMinute: tokens } = limits;
    if (tokens !== undefined && (least === undefined || tokens < least)) least = tokens;
  }
  return least;
}

/** Only calls with a token or money limit at some level need an estimate; for all others the walk over the body is saved. */
export function estimateUse(
  principal: Principal,
  incoming: IncomingCall,
  model: Model,
  offers: readonly Offer[],
  body: JsonObject,
) {
  const { levels } = principal;
  if (!levels.some(countsUse) || incoming.verb === "count_tokens") return NO_ESTIMATE;
  return estimate(tokensPerMinute(levels), incoming, model, offers, body);
}

function estimate(
  minute: number | undefined,
  incoming: IncomingCall,
  model: Model,
  offers: readonly Offer[],
  body: JsonObject,
) {
  if (!model.outputModalities.includes("text") && model.kind !== "speech") {
    const count = incoming.dialect.codec.decodeRequest(body).candidateCount ?? 1;
    return { estimatedCostNanoUsd: expectedImageCost(count, {}, offers), estimatedTokens: 0 };
  }
  const input = incoming.dialect.requests.estimateTokens(body);
  const asked = incoming.dialect.requests.outputLimit(body);
  const output = outputLimit({ incoming, model, body }, DEFAULT_OUTPUT);
  const terms = askedTerms(body, incoming.dialect.requests.pricedFields);
  const costOf = (tokens: number) => Math.max(0, ...offers.map((offer) => dearest(input, tokens, offer, terms)));
  // A guess at the answer must not keep a call out for ever that asks for no more than its key may have in a minute.
  const most = asked === undefined ? Math.max(input, minute ?? input + output) : input + output;
  const longest = asked === undefined ? outputLimit({ incoming, model, body }, Number.MAX_SAFE_INTEGER) : output;
  return {
    estimatedCostNanoUsd: costOf(output),
    // Without a limit of the caller's or the model's there is no upper bound.
    maxCostNanoUsd: costOf(longest < Number.MAX_SAFE_INTEGER ? longest : output),
    estimatedTokens: Math.min(input + output, most),
  };
}

/** It is not known in advance whether a prompt will be cached, or how much of an answer will be reasoning. */
function dearest(input: number, output: number, offer: Offer, terms: readonly string[]): number {
  const prompts: Usage[] = [{ input }, { cacheWrite5m: input }, { cacheWrite1h: input }];
  const answers: Usage[] = [{ output }, { reasoning: output }];
  const ways = prompts.flatMap((prompt) => answers.map((answer) => ({ ...prompt, ...answer })));
  // Cheaper terms may not be had: the ordinary price is the least.
  return Math.max(
    ...ways.map((usage) =>
      Math.max(priceCall(usage, offer, []).costNanoUsd, priceCall(usage, offer, terms).costNanoUsd),
    ),
  );
}
