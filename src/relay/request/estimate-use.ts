import type { CallEstimate } from "../../access/admit.ts";
import { countsUse, type Level } from "../../access/level.ts";
import { partsCountUse } from "../../access/parts/part-limits.ts";
import type { Principal } from "../../access/principal.ts";
import { type Billable, WEB_SEARCH } from "../../canon/billable.ts";
import { discounted } from "../../catalogue/discounted.ts";
import type { Model, Offer } from "../../catalogue/model.ts";
import { priceOf } from "../../catalogue/price-table.ts";
import { priceUsage } from "../../catalogue/pricing.ts";
import { toolCost } from "../../catalogue/tool-prices.ts";
import { worstCost } from "../../catalogue/worst-prices.ts";
import { outlineOf } from "../../dialects/outline-of.ts";
import { estimateFile } from "../../dialects/reading/estimate-tokens.ts";
import type { ReceivedRequest } from "../../dialects/received-request.ts";
import type { IncomingCall } from "../call.ts";
import { expectedImageCost } from "../media/expected-image-cost.ts";
import { mostAfterDiscount } from "../settle/discount.ts";
import type { ServedModel } from "../settle/served-model.ts";
import { ASSUMED_OUTPUT_TOKENS, outputLimit } from "./output-limit.ts";

/** Whether a level needs an estimate of the usage of the key's calls. */
export const needsEstimate = ({ levels, parts }: Principal): boolean =>
  levels.some(({ limits }) => countsUse(limits)) || (parts !== undefined && partsCountUse(parts));

/** The lowest token limit per minute or day of all levels. */
function leastTokenLimit(levels: readonly Level[]): number | undefined {
  let least: number | undefined;
  for (const { limits } of levels) {
    for (const tokens of [limits.tokensPerMinute, limits.tokensPerDay])
      if (tokens !== undefined && (least === undefined || tokens < least)) least = tokens;
  }
  return least;
}

/**
 * Estimates the call for its limits. Only calls with a token or money limit at some level need it; all others save the walk over
 * the body.
 */
export function estimateUse(
  principal: Principal,
  incoming: IncomingCall,
  served: ServedModel,
  request: ReceivedRequest,
  billables: readonly Billable[],
  cached = 0,
): CallEstimate {
  if (incoming.verb === "count_tokens" || !needsEstimate(principal)) return estimate(incoming, served, 0, 0, 0);
  const { model } = served;
  const { body } = request;
  if (!model.outputModalities.includes("text") && model.kind !== "speech") {
    const count = incoming.dialect.codec.decodeRequest(body).candidateCount ?? 1;
    // A fallback model produces text and is not asked for images.
    const expected = expectedImageCost(count, {}, served.offers);
    const cost = mostAfterDiscount(expected, principal, served);
    return estimate(incoming, served, cost, cost, 0);
  }
  return estimateText(principal, incoming, served, request, billables, cached);
}

const estimate = (
  { dialect }: IncomingCall,
  { model }: ServedModel,
  estimatedCostNanoUsd: number,
  maxCostNanoUsd: number,
  estimatedTokens: number,
): CallEstimate => ({ model: model.id, dialect: dialect.name, estimatedCostNanoUsd, maxCostNanoUsd, estimatedTokens });

function estimateText(
  principal: Principal,
  incoming: IncomingCall,
  served: ServedModel,
  request: ReceivedRequest,
  billables: readonly Billable[],
  cached: number,
): CallEstimate {
  const { model } = served;
  const { body, surplusBytes } = request;
  const { requests } = incoming.dialect;
  const ofBody = requests.estimateTokens(body, surplusBytes);
  const fresh = request.files === undefined ? ofBody : ofBody + tokensOfFiles(request.files, served);
  const input = fresh + cached;
  const limited = { incoming, model, outline: outlineOf(request) };
  const output = outputLimit(limited, incoming.line?.assumedOutputTokens ?? ASSUMED_OUTPUT_TOKENS);
  const terms = namesOf(billables, "term");
  const tools = billables.length === 0 ? 0 : mostForTools(billables, principal, served);
  const cost = highestCost(principal, served, { input: fresh, cached, output }, terms) + tools;
  if (requests.outputLimit(limited.outline) !== undefined)
    return estimate(incoming, served, cost, cost, input + output);
  // A line of a batch reserves what it was expected to cost when the batch was made.
  const longest = outputLimit(limited, incoming.line?.assumedOutputTokens ?? Number.MAX_SAFE_INTEGER);
  // An estimate of the response must not block a call forever that asks for no more than its key may use in a minute.
  const most = Math.max(input, leastTokenLimit(principal.levels) ?? input + output);
  // Without a limit by the caller or the model there is no upper bound.
  const highestPossible =
    longest < Number.MAX_SAFE_INTEGER
      ? highestCost(principal, served, { input: fresh, cached, output: longest }, terms) + tools
      : cost;
  return { ...estimate(incoming, served, cost, highestPossible, Math.min(input + output, most)), leastTokens: input };
}

/** No more than the model can read. */
function tokensOfFiles(files: NonNullable<ReceivedRequest["files"]>, { model, fallback }: ServedModel): number {
  let tokens = 0;
  for (const file of files.values()) tokens += estimateFile(file) * file.parts;
  const known = [model, ...(fallback === undefined ? [] : [fallback.model])].map(({ contextLength }) => contextLength);
  const longest = known.reduce<number>((most, length) => Math.max(most, length ?? Number.POSITIVE_INFINITY), 0);
  return Math.min(tokens, longest);
}

const NONE: readonly string[] = [];

const namesOf = (billables: readonly Billable[], kind: Billable["kind"]): readonly string[] =>
  billables.length === 0 ? NONE : billables.filter((one) => one.kind === kind).map(({ name }) => name);

/**
 * The cost of hosted tools at the most expensive offer. If the request sets no limit on their uses, the vendor's table says how
 * many to assume.
 */
function mostForTools(billables: readonly Billable[], principal: Principal, served: ServedModel): number {
  const offers = [...served.offers, ...(served.fallback?.offers ?? [])];
  const costs = offers.map(({ toolPrices, pricings }) =>
    billables.reduce((sum, { kind, name, most, crossesAs }) => {
      if (kind === "term") return sum;
      const known = toolPrices?.find(name) ?? (crossesAs === undefined ? undefined : toolPrices?.find(crossesAs));
      const uses = Math.max(1, most ?? known?.assumed ?? 1);
      const asTool = known === undefined ? 0 : toolCost(known, uses);
      if (crossesAs !== WEB_SEARCH || priceOf(pricings, "searches").item === undefined) return sum + asTool;
      // A search may be billed as a tool of its own, which costs more.
      const isOther = known !== undefined && known.name !== WEB_SEARCH;
      return sum + Math.max(priceUsage({ searches: uses }, pricings).costNanoUsd, isOther ? asTool : 0);
    }, 0),
  );
  return mostAfterDiscount(Math.max(0, ...costs), principal, served);
}

/** The tokens of a call: those of its prompt that are certainly cached apart from the others. */
interface CallTokens {
  input: number;
  cached: number;
  output: number;
}

/** The cost of these tokens at the most expensive offer that may answer. */
function highestCost(
  principal: Principal,
  { model, offers, fallback }: ServedModel,
  tokens: CallTokens,
  terms: readonly string[],
): number {
  const first = highestCostOf(principal, model, offers, tokens, terms);
  if (fallback === undefined) return first;
  return Math.max(first, highestCostOf(principal, fallback.model, fallback.offers, tokens, terms));
}

function highestCostOf(
  { discounts }: Principal,
  model: Model,
  offers: readonly Offer[],
  { input, cached, output }: CallTokens,
  terms: readonly string[],
): number {
  let most = 0;
  for (const offer of offers) {
    const listed = worstCost(input, output, offer, terms, cached);
    const cost = discounts === undefined ? listed : discounted(listed, discounts.of(model.id, offer.provider));
    if (cost > most) most = cost;
  }
  return most;
}
