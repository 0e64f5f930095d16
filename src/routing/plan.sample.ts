import type { Model, Offer, Pricings } from "../catalogue/model.ts";
import { candidatesOf } from "./candidate.ts";
import type { TargetHealth } from "./health/target-health.ts";
import type { PlanContext } from "./plan.ts";
import type { Target } from "./target.ts";

/** An offer of a sample model: its provider's name, and what differs. */
export interface SampleOffer extends Partial<Omit<Offer, "provider" | "upstreamModel">> {
  provider: string;
  /** What prompt and completion cost for a million tokens. */
  price?: readonly [number, number];
  /** Labels of the provider's credentials, and the weight of each. */
  credentials?: Readonly<Record<string, number>>;
}

const flat = (value: number) => [{ value, unit: "perMTokens" as const, currency: "USD" as const }];

/** Targets as planning reads them, with nothing that could be called. */
export function sampleTargets(offers: readonly SampleOffer[], model: Partial<Model> = {}): Target[] {
  const whole = { id: "acme/model", kind: "text", offers: [], ...model } as unknown as Model;
  return offers.flatMap(({ provider, price, credentials = { "": 1 }, ...own }) => {
    const pricings: Pricings = price === undefined ? {} : { prompt: flat(price[0]), completion: flat(price[1]) };
    const offer: Offer = { provider, upstreamModel: "upstream", pricings, ...own };
    return Object.entries(credentials).map(([credential, credentialWeight]) => ({
      id: [whole.id, provider, credential].filter(Boolean).join(" "),
      model: whole,
      offer,
      provider: { name: provider } as Target["provider"],
      credential,
      credentialWeight,
      via: "chat",
      pricings,
    }));
  });
}

export const sampleCandidates = (offers: readonly SampleOffer[], model?: Partial<Model>) =>
  candidatesOf(sampleTargets(offers, model));

export const NOW_MS = 1_000_000;

/** A moment with what is known of targets, by provider, or provider and credential. */
export function samplePlanContext(
  health: Readonly<Record<string, Partial<TargetHealth>>> = {},
  context: Partial<Omit<PlanContext, "health">> = {},
): PlanContext {
  const of = ({ offer: { provider }, credential }: Target): TargetHealth => ({
    state: "closed",
    quietUntilMs: 0,
    firstContentMs: undefined,
    tokensPerSecond: undefined,
    ...health[provider],
    ...health[`${provider} ${credential}`],
  });
  return { nowMs: NOW_MS, health: { of }, turn: 0, draw: 0.5, ...context };
}
