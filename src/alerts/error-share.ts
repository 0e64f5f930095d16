import type { AlertSettings } from "../config/config.ts";
import { quotedName } from "./alert.ts";
import { type Observation, REMOVED, type RemovedProvider } from "./observation.ts";

/** Outcomes of a provider's calls in the observed range. */
export interface CallCounts {
  /** Empty if no provider was tried. */
  provider: string;
  calls: number;
  /** Failures that an operator can act on; mistakes of clients and client disconnects do not count. */
  failed: number;
}

type ErrorSettings = AlertSettings["errors"];

/**
 * Reports a provider when the share of its calls that fail is too high, and all calls together when their share is too
 * high but no single provider's is. With too few calls nothing is reported. Calls of a provider that is no longer in
 * the configuration do not count: whoever removed it knows that they failed.
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
  // Neither down nor up: a provider is reported instead, and all calls together may have been reported before.
  const isNamed = ofAll.state === "down" && ofProviders.some(({ state }) => state === "down");
  return isNamed ? ofProviders : [...ofProviders, ofAll];
}

const OF_PROVIDER = "errors of ";

/** How the report ends for a provider that is no longer in the configuration; undefined if the subject is not one. */
export function removedFromErrors(subject: string, settings: ErrorSettings): RemovedProvider | undefined {
  if (!subject.startsWith(OF_PROVIDER)) return undefined;
  const provider = subject.slice(OF_PROVIDER.length);
  const none = observation({ provider, calls: 0, failed: 0 }, settings);
  const text = `The provider ${quotedName(provider)} is no longer in the configuration: its calls are not counted.`;
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
        ? `Fewer than ${percent}% of ${whose} fail now: ${counted}.`
        : `Too few calls to tell whether ${percent}% of ${whose} fail: ${counted} failed.`,
      data,
    }),
    withoutStore: false,
  };
}
