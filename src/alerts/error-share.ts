import type { AlertSettings } from "../config/config.ts";
import { quotedName } from "./alert.ts";
import type { Observation } from "./observation.ts";

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
 * be named for it. With too few calls, nothing is too high.
 */
export function observeErrors(
  counts: readonly CallCounts[],
  providers: readonly string[],
  settings: ErrorSettings,
): Observation[] {
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
    subject: provider === "" ? "errors" : `errors of ${provider}`,
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
