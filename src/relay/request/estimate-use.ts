import type { CallEstimate } from "../../access/admit.ts";
import { mostOf, type OfferUse, type TokensAndCost } from "../../access/entries/use-at-offers.ts";
import { countsUse, type Level } from "../../access/level.ts";
import { partsCountUse } from "../../access/parts/part-limits.ts";
import type { Principal } from "../../access/principal.ts";
import { type Billable, WEB_SEARCH } from "../../canon/billable.ts";
import { NO_PREFERENCE, type Preference } from "../../canon/preference.ts";
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
import { discountAt } from "../settle/discount.ts";
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
 * Estimates the call for its limits, at each offer that may answer. Only calls with a token or money limit at some level need figures;
 * all others save the walk over the body.
 */
export function estimateUse(
  principal: Principal,
  incoming: IncomingCall,
  served: ServedModel,
  request: ReceivedRequest,
  billables: readonly Billable[],
  { cached = 0, preference = NO_PREFERENCE }: { cached?: number | undefined; preference?: Preference } = {},
): CallEstimate {
  const { model } = served;
  const isCounted = incoming.verb !== "count_tokens" && needsEstimate(principal);
  const makesImages = !model.outputModalities.includes("text") && model.kind !== "speech";
  const use = !isCounted
    ? () => NO_USE
    : makesImages
      ? imagesUse(incoming, request)
      : textUse(principal, incoming, request, billables, cached);
  // A fallback model produces text and is not asked for images.
  const offers = offersThatMayAnswer(makesImages ? { ...served, fallback: undefined } : served, preference);
  const uses = offers.map(({ model, offer }): OfferUse => {
    const { estimatedCostNanoUsd, maxCostNanoUsd = estimatedCostNanoUsd, ...tokens } = use(model, offer);
    const discount = discountAt(principal, { model, offer });
    return {
      model: model.id,
      provider: offer.provider,
      ...tokens,
      estimatedCostNanoUsd: discounted(estimatedCostNanoUsd, discount),
      maxCostNanoUsd: discounted(maxCostNanoUsd, discount),
    };
  });
  return estimateOf(incoming.dialect.name, model, uses);
}

/** A call with what it may use at each offer. */
export const estimateOf = (dialect: string, { id }: Pick<Model, "id">, uses: readonly OfferUse[]): CallEstimate => ({
  ...mostOf(uses),
  model: id,
  dialect,
  offers: uses.length > 1 ? uses : undefined,
});

/** Those of its models, the providers as far as the call names them. */
function offersThatMayAnswer({ model, offers, fallback }: ServedModel, { providers, fallback: named }: Preference) {
  const last = typeof named === "object" && "provider" in named ? named.provider : undefined;
  const wanted = offers.filter(({ provider }) => provider === last || providers?.includes(provider) !== false);
  const first = (wanted.length > 0 ? wanted : offers).map((offer) => ({ model, offer }));
  const other = fallback?.offers.map((offer) => ({ model: fallback.model, offer }));
  return other === undefined ? first : [...first, ...other];
}

/** What a call may use at an offer, before its discount. */
type UseAt = (model: Model, offer: Offer) => TokensAndCost;

const NO_USE: TokensAndCost = { estimatedCostNanoUsd: 0, estimatedTokens: 0 };

function imagesUse({ dialect }: IncomingCall, { body }: ReceivedRequest): UseAt {
  const count = dialect.codec.decodeRequest(body).candidateCount ?? 1;
  return (_model, offer) => ({ estimatedCostNanoUsd: expectedImageCost(count, {}, [offer]), estimatedTokens: 0 });
}

function textUse(
  principal: Principal,
  incoming: IncomingCall,
  request: ReceivedRequest,
  billables: readonly Billable[],
  cached: number,
): UseAt {
  const { requests } = incoming.dialect;
  const outline = outlineOf(request);
  const ofBody = requests.estimateTokens(request.body, request.surplusBytes);
  const isLimited = requests.outputLimit(outline) !== undefined;
  const terms = namesOf(billables, "term");
  return (model, offer) => {
    const fresh = request.files === undefined ? ofBody : ofBody + tokensOfFiles(request.files, model);
    const input = fresh + cached;
    const limited = { incoming, model, outline };
    const output = outputLimit(limited, incoming.line?.assumedOutputTokens ?? ASSUMED_OUTPUT_TOKENS);
    const tools = billables.length === 0 ? 0 : costOfTools(billables, offer);
    const cost = worstCost(fresh, output, offer, terms, cached) + tools;
    if (isLimited) return { estimatedCostNanoUsd: cost, estimatedTokens: input + output };
    // A line of a batch reserves what it was expected to cost when the batch was made.
    const longest = outputLimit(limited, incoming.line?.assumedOutputTokens ?? Number.MAX_SAFE_INTEGER);
    // An estimate of the response must not block a call forever that asks for no more than its key may use in a minute.
    const most = Math.max(input, leastTokenLimit(principal.levels) ?? input + output);
    return {
      estimatedCostNanoUsd: cost,
      // Without a limit by the caller or the model there is no upper bound.
      maxCostNanoUsd:
        longest < Number.MAX_SAFE_INTEGER ? worstCost(fresh, longest, offer, terms, cached) + tools : cost,
      estimatedTokens: Math.min(input + output, most),
      leastTokens: input,
    };
  };
}

/** No more than the model can read. */
function tokensOfFiles(files: NonNullable<ReceivedRequest["files"]>, { contextLength }: Model): number {
  let tokens = 0;
  for (const file of files.values()) tokens += estimateFile(file) * file.parts;
  return Math.min(tokens, contextLength ?? tokens);
}

const NONE: readonly string[] = [];

const namesOf = (billables: readonly Billable[], kind: Billable["kind"]): readonly string[] =>
  billables.length === 0 ? NONE : billables.filter((one) => one.kind === kind).map(({ name }) => name);

/** The cost of hosted tools. If the request sets no limit on their uses, the vendor's table says how many to assume. */
const costOfTools = (billables: readonly Billable[], { toolPrices, pricings }: Offer): number =>
  billables.reduce((sum, { kind, name, most, crossesAs }) => {
    if (kind === "term") return sum;
    const known = toolPrices?.find(name) ?? (crossesAs === undefined ? undefined : toolPrices?.find(crossesAs));
    const uses = Math.max(1, most ?? known?.assumed ?? 1);
    const asTool = known === undefined ? 0 : toolCost(known, uses);
    if (crossesAs !== WEB_SEARCH || priceOf(pricings, "searches").item === undefined) return sum + asTool;
    // A search may be billed as a tool of its own, which costs more.
    const isOther = known !== undefined && known.name !== WEB_SEARCH;
    return sum + Math.max(priceUsage({ searches: uses }, pricings).costNanoUsd, isOther ? asTool : 0);
  }, 0);
