import type { AutoChoice, Complexity } from "../canon/preference.ts";
import { MIDDLE_QUALITY, type Model, type Offer } from "../catalogue/model.ts";

/** A call to this model lets the gateway choose. */
export const AUTO_MODEL = "trivium/auto";

/** A model that could serve the call, and what a choice depends on. */
export interface AutoOption {
  readonly model: Model;
  readonly offers: readonly Offer[];
  /** The expected cost of this call at the cheapest offer; undefined if no price is known. */
  readonly costNanoUsd: number | undefined;
  /** Of its fastest offer; undefined if none was measured lately. */
  readonly tokensPerSecond: number | undefined;
  /** None of its targets can be called now. */
  readonly rests: boolean;
}

export interface AutoChosen {
  readonly option: AutoOption;
  /** Why, for the receipt. */
  readonly why: string;
  /** The next best model, if there is one. */
  readonly next: AutoOption | undefined;
}

/** The minimum quality by complexity of the task (choices 8). Defaults to medium. */
const FLOORS: Readonly<Record<Complexity, number>> = { low: 1, medium: 4, high: 7 };

/** The preferences, if no model is named. */
export const AUTO_PREFERENCES = ["balanced", "performance", "price"] as const;

type AutoPreference = (typeof AUTO_PREFERENCES)[number];

/**
 * The best model by the call's preference (choices 6, 8). Pure. Models below the required quality come after all others, and models
 * that cannot be called now come last. The order of the list breaks ties.
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

/** Built from all models and the eligible ones, among which ranks are counted. */
const COMPARE: Readonly<
  Record<AutoPreference, (options: readonly AutoOption[], eligible: readonly AutoOption[]) => Compare>
> = {
  price: () => (one, other) => cheaper(one, other) || better(one, other),
  performance: () => (one, other) => better(one, other) || faster(one, other) || cheaper(one, other),
  // The sum of the ranks by quality and by price. If prices follow quality, all sums are equal, and the model in the middle of both
  // orders wins.
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
  // Two digits are enough for an estimate.
  const digits = costNanoUsd === 0 ? 2 : Math.max(2, 11 - String(Math.round(costNanoUsd)).length);
  return `about $${(costNanoUsd / 1e9).toFixed(digits)}`;
}
