import { type AlertDraft, quotedName } from "./alert.ts";

/** Something that can be down, as this process sees it. */
export interface Observation {
  /** The same in all processes. */
  subject: string;
  state: "up" | "down";
  down: () => AlertDraft;
  up: () => AlertDraft;
  /** It is told of even where no row can be written of it. */
  withoutStore: boolean;
}

type BreakerState = "closed" | "open" | "half_open";

/** How what was told of a provider ends that is not in the configuration any more. */
export interface RemovedProvider {
  provider: string;
  observation: Observation;
}

/** For programs, beside the sentence for people. */
export const REMOVED = { reason: "provider_removed" } as const;

/** Undefined where the subject is not a provider. */
export function removedProvider(subject: string): RemovedProvider | undefined {
  if (!subject.startsWith(PROVIDER)) return undefined;
  const provider = subject.slice(PROVIDER.length);
  const up = (): AlertDraft => ({
    type: "provider.up",
    text: `The provider ${quotedName(provider)} is not in the configuration any more.`,
    data: { provider, ...REMOVED },
  });
  return { provider, observation: { subject, state: "up", down: up, up, withoutStore: false } };
}

const PROVIDER = "provider ";

/** A provider is down while each of its models that were called is left alone, or has not answered since. */
export function observeProvider(provider: string, states: readonly BreakerState[]): Observation | undefined {
  if (states.length === 0) return undefined;
  const isUp = states.includes("closed");
  const models =
    states.length === 1
      ? "the one model of it that was called fails"
      : `all ${states.length} models of it that were called fail`;
  return {
    subject: `${PROVIDER}${provider}`,
    state: isUp ? "up" : "down",
    down: () => ({
      type: "provider.down",
      text: `The provider ${quotedName(provider)} is down: ${models}. Calls go to other providers of a model where it has any.`,
      data: { provider, models_failing: states.length },
    }),
    up: () => ({
      type: "provider.up",
      text: `The provider ${quotedName(provider)} answers again.`,
      data: { provider },
    }),
    withoutStore: false,
  };
}

/** The gateway answers calls, but something that it needs is away: receipts wait, or limits are not shared. */
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
      text: `The gateway at ${quotedName(place)} is well again.`,
      data: { place },
    }),
    withoutStore: true,
  };
}
