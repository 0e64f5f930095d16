import type { AutoChoice, Complexity } from "../canon/preference.ts";
import { MIDDLE_QUALITY, type Model, type Offer } from "../catalogue/model.ts";

/** A call for this model leaves the choice to the gateway. */
export const AUTO_MODEL = "trivium/auto";

/** A model that could serve the call, and what a choice depends on. */
export interface AutoOption {
  readonly model: Model;
  readonly offers: readonly Offer[];
  /** What this very call is expected to cost at the cheapest of its offers; undefined where no price is known. */
  readonly costNanoUsd: number | undefined;
  /** Of the fastest of its offers; undefined where none was measured lately. */
  readonly tokensPerSecond: number | undefined;
  /** None of its targets may be called now. */
  readonly rests: boolean;
}

export interface AutoChosen {
  readonly option: AutoOption;
  /** Why, for the receipt. */
  readonly why: string;
  /** The next best, where there is one. */
  readonly next: AutoOption | undefined;
}

/** By how complex the task is: the least quality that will do (choices 8). Where the call does not say, the middle. */
const FLOORS: Readonly<Record<Complexity, number>> = { low: 1, medium: 4, high: 7 };

/** Words by which it chooses where no model is named. */
export const AUTO_PREFERENCES = ["balanced", "performance", "price"] as const;

type AutoPreference = (typeof AUTO_PREFERENCES)[number];

/**
 * The best of the models by what the call prefers (choices 6, 8). Pure. Models below the quality that the task needs come after
 * all others, and those that cannot be called now after those; between equals the order of the list decides.
 */
export function chooseModel(options: readonly AutoOption[], choice: AutoChoice, preferred?: Model): AutoChosen {
  const floor = FLOORS[choice.complexity ?? "medium"];
  const preference = AUTO_PREFERENCES.find((word) => word === choice.preference) ?? "balanced";
  const compare = COMPARE[preference](
    options,
    options.filter((option) => qualityOf(option) >= floor),
  );
  const ordered = [...options].sort(
    (one, other) =>
      Number(one.rests) - Number(other.rests) ||
      Number(other.model === preferred) - Number(one.model === preferred) ||
      Number(qualityOf(one) < floor) - Number(qualityOf(other) < floor) ||
      compare(one, other),
  );
  const [option, next] = ordered;
  if (option === undefined) throw new Error("a choice needs a model");
  const reason = option.model === preferred ? "the preferred model" : WORDS[preference](option);
  const below =
    qualityOf(option) < floor && option.model !== preferred ? `, though below the required quality of ${floor}` : "";
  return {
    option,
    why: `${AUTO_MODEL} chose ${option.model.id} from ${options.length} models: ${reason}${below}`,
    next,
  };
}

const qualityOf = ({ model }: AutoOption): number => model.quality ?? MIDDLE_QUALITY;
const costOf = ({ costNanoUsd }: AutoOption): number => costNanoUsd ?? Number.POSITIVE_INFINITY;
const compareNumbers = (one: number, other: number): number => (one < other ? -1 : one > other ? 1 : 0);

type Compare = (one: AutoOption, other: AutoOption) => number;

const cheaper: Compare = (one, other) => compareNumbers(costOf(one), costOf(other));
const better: Compare = (one, other) => compareNumbers(qualityOf(other), qualityOf(one));
const faster: Compare = (one, other) => compareNumbers(other.tokensPerSecond ?? 0, one.tokensPerSecond ?? 0);

/** Each made for all models and those of them that are good enough, among which ranks are counted. */
const COMPARE: Readonly<
  Record<AutoPreference, (options: readonly AutoOption[], eligible: readonly AutoOption[]) => Compare>
> = {
  price: () => (one, other) => cheaper(one, other) || better(one, other),
  performance: () => (one, other) => better(one, other) || faster(one, other) || cheaper(one, other),
  // Both by rank: a place in the order of quality and one in the order of price, added up. Where prices follow quality all sums
  // are equal, and the one that is as far up in the one order as in the other is in the middle of both.
  balanced: (options, eligible) => {
    const sums = new Map<AutoOption, number>();
    const apart = new Map<AutoOption, number>();
    for (const option of options) {
      const byQuality = placeOf(option, eligible, better);
      const byPrice = placeOf(option, eligible, cheaper);
      sums.set(option, byQuality + byPrice);
      apart.set(option, Math.abs(byQuality - byPrice));
    }
    const by = (places: ReadonlyMap<AutoOption, number>, one: AutoOption, other: AutoOption): number =>
      (places.get(one) ?? 0) - (places.get(other) ?? 0);
    return (one, other) => by(sums, one, other) || by(apart, one, other) || cheaper(one, other);
  },
};

const placeOf = (option: AutoOption, options: readonly AutoOption[], compare: Compare): number =>
  options.filter((other) => compare(other, option) < 0).length;

const WORDS: Readonly<Record<AutoPreference, (option: AutoOption) => string>> = {
  price: (option) => `cheapest for this call (${costWords(option)})`,
  performance: (option) => `highest quality (${qualityOf(option)} of 10)`,
  balanced: (option) => `best balance of quality (${qualityOf(option)} of 10) and price (${costWords(option)})`,
};

function costWords({ costNanoUsd }: AutoOption): string {
  if (costNanoUsd === undefined) return "unknown";
  // Two digits say enough of an estimate.
  const digits = costNanoUsd === 0 ? 2 : Math.max(2, 11 - String(Math.round(costNanoUsd)).length);
  return `about $${(costNanoUsd / 1e9).toFixed(digits)}`;
}
