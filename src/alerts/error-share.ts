import type { AlertSettings } from "../config/config.ts";
import { quotedName } from "./alert.ts";
import { type Observation, REMOVED, type RemovedProvider } from "./observation.ts";

/** What became of the calls of a provider within the time that is looked at. */
export interface CallCounts {
  /** Empty where no provider was tried. */
  provider: string;
  calls: number;
  /** Those that are the operator's affair: the mistakes of clients, and clients that left, are none. */
  failed: number;
}

type ErrorSettings = AlertSettings["errors"];

/**
 * A provider is told of when the share of its calls that fail is too high, and all calls together when it is and no provider is to
 * be named for it. With too few calls, nothing is too high. The calls of a provider that has left the configuration count for nothing: whoever
 * removed it knows that they failed.
 */
export function observeErrors(
  ofLedger: readonly CallCounts[],
  providers: readonly string[],
  settings: ErrorSettings,
): Observation[] {
  const counts = ofLedger.filter(({ provider }) => provider === "" || providers.includes(provider));
  const named = counts.filter(({ provider }) => provider !== "");
  const without = providers
    .filter((provider) => named.every((count) => count.provider !== provider))
    .map((provider): CallCounts => ({ provider, calls: 0, failed: 0 }));
  const ofProviders = [...named, ...without].map((count) => observation(count, settings));
  const sum = (amount: (count: CallCounts) => number) => counts.reduce((all, count) => all + amount(count), 0);
  const ofAll = observation(
    { provider: "", calls: sum(({ calls }) => calls), failed: sum(({ failed }) => failed) },
    settings,
  );
  // Neither too high nor well: a provider is told of for it, and all together may have been before.
  const isNamed = ofAll.state === "down" && ofProviders.some(({ state }) => state === "down");
  return isNamed ? ofProviders : [...ofProviders, ofAll];
}

const OF_PROVIDER = "errors of ";

/** How it ends for a provider that has left the configuration; undefined where the subject is not one. */
export function removedFromErrors(subject: string, settings: ErrorSettings): RemovedProvider | undefined {
  if (!subject.startsWith(OF_PROVIDER)) return undefined;
  const provider = subject.slice(OF_PROVIDER.length);
  const none = observation({ provider, calls: 0, failed: 0 }, settings);
  const text = `The provider ${quotedName(provider)} is not in the configuration any more: its calls are not counted.`;
  const up = () => ({ ...none.up(), text, data: { ...none.up().data, ...REMOVED } });
  return { provider, observation: { ...none, up } };
}

function observation({ provider, calls, failed }: CallCounts, settings: ErrorSettings): Observation {
  const { percent, minutes, minCalls } = settings;
  const isJudged = calls >= minCalls;
  const isHigh = isJudged && failed * 100 >= percent * calls;
  const share = calls === 0 ? 0 : Math.floor((failed * 100) / calls);
  const whose = provider === "" ? "all calls" : `the calls of the provider ${quotedName(provider)}`;
  const counted = `${failed} of ${calls} in the last ${minutes === 1 ? "minute" : `${minutes} minutes`}`;
  const data = {
    level: provider === "" ? "gateway" : "provider",
    provider: provider === "" ? null : provider,
    threshold_percent: percent,
    failed_percent: share,
    failed_calls: failed,
    calls,
    minutes,
  };
  return {
    subject: provider === "" ? "errors" : `${OF_PROVIDER}${provider}`,
    state: isHigh ? "down" : "up",
    down: () => ({ type: "errors.high", text: `${share}% of ${whose} failed: ${counted}.`, data }),
    up: () => ({
      type: "errors.normal",
      text: isJudged
        ? `Less than ${percent}% of ${whose} fail again: ${counted}.`
        : `Of ${whose} there are too few to say that ${percent}% fail: ${counted} failed.`,
      data,
    }),
    withoutStore: false,
  };
}
