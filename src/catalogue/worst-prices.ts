import type { UsageCounter } from "../canon/usage.ts";
import type { Pricings } from "./model.ts";
import { dearestTerms, type PriceList } from "./price-call.ts";
import type { CallSize } from "./price-table.ts";
import { nanoPerMillion } from "./pricing.ts";

/** It is not known in advance whether a prompt will be cached, or how much of an answer will be reasoning. */
const PROMPT: readonly UsageCounter[] = ["input", "cacheWrite5m", "cacheWrite1h"];
const ANSWER: readonly UsageCounter[] = ["output", "reasoning"];

const MILLION = 1_000_000;

/** The highest price of a token, in nano-dollars per million. */
interface WorstPrices {
  prompt: number;
  answer: number;
}

/** Undefined where the prices depend on the size of the call. */
const known = new WeakMap<Pricings, WorstPrices | "tiers">();

/**
 * The highest possible cost of a number of tokens at an offer, before any discount. What has no price adds nothing: such calls were
 * refused before, or are marked. It is computed once per price list; only tiered prices are looked up for every call. `cached`: tokens of
 * the prompt that are certainly read from a cache.
 */
export function worstCost(
  input: number,
  output: number,
  offer: PriceList,
  terms: readonly string[],
  cached = 0,
): number {
  const { pricings } = offer;
  if (cached > 0) return worstCachedCost(input, output, offer, terms, cached);
  let worst = known.get(pricings);
  if (worst === undefined) {
    worst = hasTiers(pricings) ? "tiers" : worstAt(pricings, { prompt: 0, completion: 0 });
    known.set(pricings, worst);
  }
  const { prompt, answer } = worst === "tiers" ? worstAt(pricings, { prompt: input, completion: output }) : worst;
  return dearestTerms(charge(input, prompt, output, answer), input, terms, offer);
}

function worstCachedCost(
  input: number,
  output: number,
  offer: PriceList,
  terms: readonly string[],
  cached: number,
): number {
  const { pricings } = offer;
  const prompt = input + cached;
  const size = { prompt, completion: output };
  const worst = worstAt(pricings, size);
  const read = nanoPerMillion(pricings, "cacheRead", size) ?? 0;
  const cost = charge(input, worst.prompt, output, worst.answer) + charge(cached, read, 0, 0);
  return dearestTerms(cost, prompt, terms, offer);
}

function worstAt(pricings: Pricings, size: CallSize): WorstPrices {
  return { prompt: highest(PROMPT, pricings, size), answer: highest(ANSWER, pricings, size) };
}

function highest(counters: readonly UsageCounter[], pricings: Pricings, size: CallSize): number {
  let most = 0;
  for (const counter of counters) most = Math.max(most, nanoPerMillion(pricings, counter, size) ?? 0);
  return most;
}

const hasTiers = (pricings: Pricings): boolean =>
  Object.values(pricings).some((items) => items.some(({ conditions }) => conditions !== undefined));

/** Rounded once, as the bill is. */
function charge(input: number, prompt: number, output: number, answer: number): number {
  const sum = input * prompt + output * answer;
  if (Number.isSafeInteger(sum)) return Math.floor((sum + MILLION / 2) / MILLION);
  const exact = BigInt(Math.ceil(input)) * BigInt(prompt) + BigInt(Math.ceil(output)) * BigInt(answer);
  return Number((exact + BigInt(MILLION / 2)) / BigInt(MILLION));
}
