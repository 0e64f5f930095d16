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

/** What a process has seen of a provider. */
interface ProviderSeen {
  provider: string;
  /** Undefined if nothing of it was called. */
  isDown: boolean | undefined;
  models: readonly { model: string; state: BreakerState }[];
}

/** How the report of a provider ends that is no longer in the configuration. */
export interface RemovedProvider {
  provider: string;
  observation: Observation;
}

/** For programs, in addition to the sentence for people. */
export const REMOVED = { reason: "provider_removed" } as const;

/** Undefined if the subject is neither a provider nor a model of one. */
export function removedProvider(subject: string): RemovedProvider | undefined {
  const isModel = subject.startsWith(MODEL);
  if (!isModel && !subject.startsWith(PROVIDER)) return undefined;
  const [provider = ""] = isModel
    ? (JSON.parse(subject.slice(MODEL.length)) as string[])
    : [subject.slice(PROVIDER.length)];
  const up = (): AlertDraft => ({
    type: isModel ? "model.up" : "provider.up",
    text: `The provider ${quotedName(provider)} is no longer in the configuration.`,
    data: { provider, ...REMOVED },
  });
  return { provider, observation: { subject, state: "up", down: up, up, withoutStore: false } };
}

const PROVIDER = "provider ";
const MODEL = "model ";

/**
 * Observes a provider, and each of its models while the provider is up. Nothing is known of a model whose pause is over and that was not
 * called since: when a provider has recovered, some models wait for their next call for hours.
 */
export function observeProvider({ provider, isDown, models }: ProviderSeen): Observation[] {
  if (isDown === undefined) return [];
  const failing = models.filter(({ state }) => state !== "closed").map(({ model }) => model);
  const whole = observeWhole(provider, isDown, { failing, called: models.length });
  if (isDown) return [whole];
  return [whole, ...models.filter(({ state }) => state !== "half_open").map((one) => observeModel(provider, one))];
}

const ELSEWHERE = "Calls go to other providers of the same models, if there are any.";

function observeWhole(provider: string, isDown: boolean, { failing, called }: { failing: string[]; called: number }) {
  const models =
    called === 1
      ? "the only model called there fails"
      : failing.length === called
        ? `all ${called} models called there fail`
        : `at least half of the attempts there fail, and ${failing.length} of ${called} models are paused`;
  return {
    subject: `${PROVIDER}${provider}`,
    state: isDown ? ("down" as const) : ("up" as const),
    down: (): AlertDraft => ({
      type: "provider.down",
      text: `The provider ${quotedName(provider)} is down: ${models}. ${ELSEWHERE}`,
      data: { provider, models: failing, models_failing: failing.length },
    }),
    up: (): AlertDraft => ({
      type: "provider.up",
      text: `The provider ${quotedName(provider)} has recovered.`,
      data: { provider },
    }),
    withoutStore: false,
  };
}

function observeModel(provider: string, { model, state }: ProviderSeen["models"][number]): Observation {
  const whose = `The model ${quotedName(model)} of the provider ${quotedName(provider)}`;
  const data = { provider, models: [model] };
  return {
    subject: `${MODEL}${JSON.stringify([provider, model])}`,
    state: state === "open" ? "down" : "up",
    down: () => ({ type: "model.down", text: `${whose} is down. ${ELSEWHERE}`, data }),
    up: () => ({ type: "model.up", text: `${whose} has recovered.`, data }),
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
