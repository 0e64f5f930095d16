import { isObject } from "../base/json.ts";

/** What the operator states about an offer: how long its provider keeps the data of calls, and where it processes them. */
export interface OfferTraits {
  /** `zero`, or a number of days such as `30d`. */
  readonly retention?: string | undefined;
  readonly region?: string | readonly string[] | undefined;
}

const TRAIT_NAMES = ["retention", "region"] as const;
type TraitName = (typeof TRAIT_NAMES)[number];

/** The traits that every offer of a call must have. A call, its key and the gateway may each add some. */
export type Requirements = readonly { readonly trait: TraitName; readonly value: string }[];

const FORMS: Readonly<Record<TraitName, { form: RegExp; right: string }>> = {
  retention: { form: /^(zero|[1-9]\d{0,3}d)$/, right: '"zero" or a number of days such as "30d"' },
  region: { form: /^[a-z][a-z0-9-]{0,31}$/, right: 'a region such as "eu", in lower case' },
};

/** Reads `{ retention, region }`. Calls `refuse` with the name of a wrong member and what is right. */
export function readRequirements(given: unknown, refuse: (name: string, why: string) => never): Requirements {
  if (!isObject(given)) refuse("", 'must be an object such as {"retention": "zero"}');
  return Object.entries(given).map(([name, value]) => {
    const trait = TRAIT_NAMES.find((known) => known === name);
    if (trait === undefined) refuse(name, `is not a trait of offers; use ${TRAIT_NAMES.join(" or ")}`);
    const { form, right } = FORMS[trait];
    if (typeof value !== "string" || !form.test(value)) refuse(name, `must be ${right}`);
    return { trait, value };
  });
}

/** The reverse of `readRequirements`, for requirements of one origin. */
export const requirementsView = (required: Requirements): Record<string, string> =>
  Object.fromEntries(required.map(({ trait, value }) => [trait, value]));

/** `retention=zero, region=eu`, as errors and the header write them. */
export const describeRequirements = (required: Requirements): string =>
  required.map(({ trait, value }) => `${trait}=${value}`).join(", ");

/** All requirements of both. Neither can relax the other. */
export function addRequirements(one: Requirements | undefined, other: Requirements | undefined) {
  if (one === undefined || other === undefined || one === other) return one ?? other;
  const added = one.filter(({ trait, value }) => !other.some((has) => has.trait === trait && has.value === value));
  return added.length === 0 ? other : [...other, ...added];
}

/** Whether an offer has all of them. A trait that is not stated is missing. */
export const meets = (traits: OfferTraits, required: Requirements): boolean =>
  required.every(({ trait, value }) =>
    trait === "retention" ? daysOf(traits.retention) <= daysOf(value) : regionsOf(traits).includes(value),
  );

const daysOf = (retention: string | undefined): number =>
  retention === "zero" ? 0 : retention === undefined ? Number.POSITIVE_INFINITY : Number.parseInt(retention, 10);

const regionsOf = ({ region }: OfferTraits): readonly string[] =>
  typeof region === "string" ? [region] : (region ?? []);
