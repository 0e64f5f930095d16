import type { Factor, Preference } from "../canon/preference.ts";
import type { Target } from "./target.ts";
import { turnOrder } from "./turn-order.ts";
import type { UsableCandidate } from "./usable-candidate.ts";
import { weightedOrder } from "./weighted-order.ts";

/** One offer's place in a plan, and the reason for it. */
export interface Place<T extends Target> {
  readonly usable: UsableCandidate<T>;
  readonly why: string;
}

/** Tie-breakers, if neither the configuration nor measurements decide. */
export interface Chance {
  /** The number of the model's call. */
  readonly turn: number;
  /** In [0, 1). */
  readonly draw: number;
}

/** The share of calls that goes to unmeasured offers, so that they get measured. */
const UNMEASURED_SHARE = 0.1;
/** The share of calls that checks whether a slower offer has become faster (choices 6). */
const EXPLORATION = 0.01;

/** The usable offers of a model in the preferred order. */
export function inOrder<T extends Target>(
  candidates: readonly UsableCandidate<T>[],
  preference: Preference,
  chance: Chance,
): Place<T>[] {
  const { type = "priority", primaryFactor, providers } = preference;
  switch (type) {
    case "priority":
      if (providers !== undefined) return asListed(candidates, providers);
      return byFactor(candidates, primaryFactor, chance);
    case "round_robin":
      return byTurn(candidates, primaryFactor, chance);
    case "least_latency":
      return byLatency(candidates, chance);
  }
}

/** They are already in the order of the list. */
function asListed<T extends Target>(
  candidates: readonly UsableCandidate<T>[],
  providers: readonly string[],
): Place<T>[] {
  return candidates.map((usable) => {
    const place = providers.indexOf(usable.candidate.offer.provider);
    const why = place === 0 ? "first of the requested providers" : `number ${place + 1} of the requested providers`;
    return { usable, why };
  });
}

function byFactor<T extends Target>(
  candidates: readonly UsableCandidate<T>[],
  factor: Factor | undefined,
  chance: Chance,
): Place<T>[] {
  if (factor === undefined) return places(byWeight(candidates, chance.draw, noDifference), catalogueWords);
  const { compare, words } = FACTORS_IN_USE[factor];
  const ordered = byWeight([...candidates].sort(compare), chance.draw, compare);
  if (factor !== "speed") return places(ordered, words);
  return withItsTurn(places(ordered, words), ordered.filter(isUnmeasured), chance);
}

/** The offer whose turn it is, and the others by the factor if there is one, or else by their next turns. */
function byTurn<T extends Target>(
  candidates: readonly UsableCandidate<T>[],
  factor: Factor | undefined,
  chance: Chance,
): Place<T>[] {
  const weights = candidates.map(weightOf);
  const ordered = pick(candidates, turnOrder(weights, chance.turn));
  const [first, ...rest] = ordered;
  if (first === undefined) return [];
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const share = candidates.some(hasWeight) ? `, with ${weightOf(first)} of ${total} turns` : "";
  const others =
    factor === undefined
      ? rest.map((usable) => ({ usable, why: "next in turn" }))
      : places(rest.sort(FACTORS_IN_USE[factor].compare), FACTORS_IN_USE[factor].words, 1);
  return [{ usable: first, why: `its turn${share}` }, ...others];
}

function byLatency<T extends Target>(candidates: readonly UsableCandidate<T>[], chance: Chance): Place<T>[] {
  const ordered = byWeight([...candidates].sort(sooner), chance.draw, sooner);
  const placed = places(ordered, latencyWords);
  const exploring = (chance.draw - (1 - EXPLORATION)) / EXPLORATION;
  if (exploring < 0) return withItsTurn(placed, ordered.filter(isUnmeasuredLatency), chance);
  // Any but the fastest, with equal probability.
  return moveToFront(placed, 1 + Math.floor(exploring * (placed.length - 1)), "1% exploration");
}

/** In some calls, moves the unmeasured offer whose turn it is to the front. In all calls, if no offer is measured. */
function withItsTurn<T extends Target>(
  placed: Place<T>[],
  unmeasured: readonly UsableCandidate<T>[],
  { turn, draw }: Chance,
): Place<T>[] {
  const known = placed.length - unmeasured.length;
  if (unmeasured.length === 0 || (known > 0 && draw >= UNMEASURED_SHARE)) return placed;
  const chosen = unmeasured[turn % unmeasured.length];
  const at = placed.findIndex(({ usable }) => usable === chosen);
  return moveToFront(placed, at, "not measured yet: its turn");
}

function moveToFront<T extends Target>(placed: Place<T>[], at: number, why: string): Place<T>[] {
  const found = placed[at];
  if (found === undefined) return placed;
  return [{ usable: found.usable, why }, ...placed.slice(0, at), ...placed.slice(at + 1)];
}

type Compare = (one: UsableCandidate<Target>, other: UsableCandidate<Target>) => number;
/** The reason for a place: the first, or a later one. */
type Words = (usable: UsableCandidate<Target>, isFirst: boolean) => string;

const places = <T extends Target>(ordered: readonly UsableCandidate<T>[], words: Words, from = 0): Place<T>[] =>
  ordered.map((usable, index) => ({ usable, why: words(usable, from + index === 0) }));

const noDifference: Compare = () => 0;

const catalogueWords: Words = ({ candidate: { offer } }, isFirst) => {
  if (offer.weight !== undefined)
    return isFirst ? `chosen by its weight of ${offer.weight}` : `next by weight: ${offer.weight}`;
  return isFirst ? "first in catalogue order" : "next in catalogue order";
};

const FACTORS_IN_USE: Readonly<Record<Factor, { compare: Compare; words: Words }>> = {
  cost: {
    compare: ({ candidate: one }, { candidate: other }) =>
      compareNumbers(one.price?.usd ?? Number.POSITIVE_INFINITY, other.price?.usd ?? Number.POSITIVE_INFINITY),
    words: ({ candidate: { price } }, isFirst) =>
      price === undefined ? "price unknown" : `${isFirst ? "cheapest" : "next by cost"}: ${price.words}`,
  },
  speed: {
    compare: (one, other) => compareNumbers(other.tokensPerSecond ?? 0, one.tokensPerSecond ?? 0) || sooner(one, other),
    words: (usable, isFirst) => {
      const { tokensPerSecond, firstContentMs } = usable;
      if (isUnmeasured(usable)) return "speed not measured yet";
      const measured =
        tokensPerSecond === undefined
          ? `${Math.round(firstContentMs ?? 0)} ms to first content`
          : `${Math.round(tokensPerSecond)} tokens per second`;
      return `${isFirst ? "fastest" : "next by speed"}: ${measured}`;
    },
  },
  quality: {
    // Offers of the same model may have narrower limits.
    compare: ({ candidate: one }, { candidate: other }) =>
      compareNumbers(other.quality, one.quality) ||
      compareNumbers(other.offer.contextLength ?? 0, one.offer.contextLength ?? 0) ||
      compareNumbers(other.offer.maxOutputTokens ?? 0, one.offer.maxOutputTokens ?? 0),
    words: ({ candidate: { quality } }, isFirst) =>
      `${isFirst ? "highest quality" : "next by quality"}: ${quality} of 10 in the catalogue`,
  },
};

const sooner: Compare = (one, other) =>
  compareNumbers(one.firstContentMs ?? Number.POSITIVE_INFINITY, other.firstContentMs ?? Number.POSITIVE_INFINITY);

const latencyWords: Words = ({ firstContentMs }, isFirst) => {
  if (firstContentMs === undefined) return "latency not measured yet";
  return `${isFirst ? "fastest to first content" : "next by latency"}: ${Math.round(firstContentMs)} ms`;
};

const isUnmeasuredLatency = ({ firstContentMs }: UsableCandidate<Target>): boolean => firstContentMs === undefined;
const isUnmeasured = ({ firstContentMs, tokensPerSecond }: UsableCandidate<Target>): boolean =>
  firstContentMs === undefined && tokensPerSecond === undefined;

const compareNumbers = (one: number, other: number): number => (one < other ? -1 : one > other ? 1 : 0);

const hasWeight = ({ candidate: { offer } }: UsableCandidate<Target>): boolean => offer.weight !== undefined;
const weightOf = ({ candidate: { offer } }: UsableCandidate<Target>): number => offer.weight ?? 1;

const pick = <Item>(items: readonly Item[], indexes: readonly number[]): Item[] =>
  indexes.flatMap((index) => items[index] ?? []);

/** Orders runs of equal candidates by weight if any has one; otherwise they keep their order. */
function byWeight<T extends Target>(
  sorted: readonly UsableCandidate<T>[],
  draw: number,
  compare: Compare,
): readonly UsableCandidate<T>[] {
  if (!sorted.some(hasWeight)) return sorted;
  const ordered: UsableCandidate<T>[] = [];
  for (let from = 0; from < sorted.length; ) {
    const first = sorted[from];
    let to = from + 1;
    for (let next = sorted[to]; first && next && compare(first, next) === 0; next = sorted[to]) to++;
    const equals = sorted.slice(from, to);
    ordered.push(...(equals.some(hasWeight) ? pick(equals, weightedOrder(equals.map(weightOf), draw)) : equals));
    from = to;
  }
  return ordered;
}
