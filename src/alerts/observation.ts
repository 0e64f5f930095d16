import { type AlertDraft, quotedName } from "./alert.ts";

/** Something that can be down, as seen by this process. */
export interface Observation {
  /** The same in all processes. */
  subject: string;
  state: "up" | "down";
  down: () => AlertDraft;
  up: () => AlertDraft;
  /** It is reported even if no row can be written. */
  withoutStore: boolean;
}

type BreakerState = "closed" | "open" | "half_open";

/** How the report of a provider ends that is no longer in the configuration. */
export interface RemovedProvider {
  provider: string;
  observation: Observation;
}

/** For programs, in addition to the sentence for people. */
export const REMOVED = { reason: "provider_removed" } as const;

/** Undefined if the subject is not a provider. */
export function removedProvider(subject: string): RemovedProvider | undefined {
  if (!subject.startsWith(PROVIDER)) return undefined;
  const provider = subject.slice(PROVIDER.length);
  const up = (): AlertDraft => ({
    type: "provider.up",
    text: `The provider ${quotedName(provider)} is no longer in the configuration.`,
    data: { provider, ...REMOVED },
  });
  return { provider, observation: { subject, state: "up", down: up, up, withoutStore: false } };
}

const PROVIDER = "provider ";

/** A provider is down while the breaker of each of its called models is open, or half open without a success. */
export function observeProvider(provider: string, states: readonly BreakerState[]): Observation | undefined {
  if (states.length === 0) return undefined;
  const isUp = states.includes("closed");
  const models =
    states.length === 1 ? "the only model called there fails" : `all ${states.length} models called there fail`;
  return {
    subject: `${PROVIDER}${provider}`,
    state: isUp ? "up" : "down",
    down: () => ({
      type: "provider.down",
      text: `The provider ${quotedName(provider)} is down: ${models}. Calls go to other providers of the same models, if there are any.`,
      data: { provider, models_failing: states.length },
    }),
    up: () => ({
      type: "provider.up",
      text: `The provider ${quotedName(provider)} has recovered.`,
      data: { provider },
    }),
    withoutStore: false,
  };
}

/** The gateway serves calls, but something it depends on is unavailable: receipts wait, or limits are not shared. */
export function observeGateway(place: string, reasons: readonly string[]): Observation {
  return {
    subject: "gateway",
    state: reasons.length === 0 ? "up" : "down",
    down: () => ({
      type: "gateway.degraded",
      text: `The gateway at ${quotedName(place)} is degraded: ${reasons.join("; ")}.`,
      data: { place, reasons: [...reasons] },
    }),
    up: () => ({
      type: "gateway.recovered",
      text: `The gateway at ${quotedName(place)} has recovered.`,
      data: { place },
    }),
    withoutStore: true,
  };
}
