import { Alerts } from "../alerts/alerts.ts";
import type { CallCounts } from "../alerts/error-share.ts";
import { type Observation, observeGateway, observeProvider } from "../alerts/observation.ts";
import type { PostAlert } from "../alerts/post.ts";
import type { Sources } from "../base/sources.ts";
import type { Config } from "../config/config.ts";
import type { Gateway } from "../relay/gateway.ts";
import { providerStates } from "../routing/health/provider-states.ts";
import type { BreakerState } from "../routing/health/target-health.ts";
import type { GatewayCondition } from "../server/condition.ts";
import { type OutcomeCount, selectOutcomeCounts } from "../storage/receipts/outcome-counts.ts";
import type { Storage } from "../storage/storage.ts";
import { outcomeClass } from "../telemetry/outcome-class.ts";
import { placeOf } from "./check-others.ts";
import { webhookPost } from "./webhook-post.ts";

interface AlertsParts {
  gateway: Gateway;
  storage: Storage;
  sources: Sources;
  condition: () => GatewayCondition;
  /** Delivers to a webhook; over the network if absent. */
  post?: PostAlert;
}

export function makeAlerts({ alerts, exports }: Config, parts: AlertsParts): Alerts {
  const { gateway, storage, sources, condition, post = webhookPost() } = parts;
  const { log, instance } = gateway;
  return new Alerts({
    ...sources,
    storage,
    instance,
    settings: alerts,
    hasExports: exports.length > 0,
    post,
    countCalls: async (range) => countsOf(await selectOutcomeCounts(storage, range)),
    providers: () => [...gateway.snapshot.providers.keys()],
    observe: () => [...observeProviders(gateway), ...observeCondition(condition())],
    onProblem: (err, what) => log.warn({ err }, what),
  });
}

const observeProviders = ({ snapshot, health, clock }: Gateway): Observation[] =>
  providerStates(snapshot, health, { nowMs: clock.nowMs(), wallMs: clock.wallMs() }).flatMap(
    ({ provider, state, credentials }) => {
      const models = new Map<string, BreakerState>();
      // A model is up while one of the credentials reaches it.
      for (const { model, state = "closed" } of credentials.flatMap((one) => one.models))
        if (models.get(model) !== "closed" && models.get(model) !== "half_open") models.set(model, state);
      return observeProvider({
        provider,
        isDown: state === undefined ? undefined : state !== "closed",
        models: [...models].map(([model, state]) => ({ model, state })),
      });
    },
  );

/** The same outcomes that metrics call `failed`. */
function countsOf(outcomes: readonly OutcomeCount[]): CallCounts[] {
  const byProvider = new Map<string, CallCounts>();
  for (const { provider, outcome, calls } of outcomes) {
    const counts = byProvider.get(provider) ?? { provider, calls: 0, failed: 0 };
    counts.calls += calls;
    if (outcomeClass(outcome) === "failed") counts.failed += calls;
    byProvider.set(provider, counts);
  }
  return [...byProvider.values()];
}

/** A gateway that is starting or stopping needs no alert. */
function observeCondition({ reasons }: GatewayCondition): Observation[] {
  if (reasons.some((reason) => reason === "starting" || reason === "draining")) return [];
  return [observeGateway(placeOf(process.pid), reasons)];
}
