import { Alerts } from "../alerts/alerts.ts";
import type { RefusedCredential } from "../alerts/credential-alerts.ts";
import type { CallCounts } from "../alerts/error-share.ts";
import { type Observation, observeGateway, observeProvider } from "../alerts/observation.ts";
import type { PostAlert } from "../alerts/post.ts";
import type { RetiringModel } from "../alerts/retirement-alerts.ts";
import type { Sources } from "../base/sources.ts";
import { daysUntil } from "../catalogue/days.ts";
import type { Config } from "../config/config.ts";
import { lastDays, summariseUsage } from "../ledger/queries.ts";
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
    credentials: () => refusedCredentials(gateway),
    models: {
      retiring: () => retiringModels(gateway),
      callsOf: async (model, days) => {
        const range = lastDays(days, gateway.clock.wallMs());
        const sums = await summariseUsage(storage, { ...range, by: ["key"], model });
        return sums.map(({ groups: [key = ""], calls }) => ({ key, calls }));
      },
    },
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

/** By credential: what its provider said last, for those that are out of use. */
function refusedCredentials({ snapshot, health, clock }: Gateway): RefusedCredential[] {
  const refused = new Map<string, RefusedCredential>();
  for (const target of snapshot.targets.all()) {
    const record = health.record(target);
    if (record?.wasRejected !== true || record.credential.stateAt(clock.nowMs()) === "closed") continue;
    const { kind, status, text = "" } = record.failed ?? {};
    const { provider, credential: label } = target;
    const reason = kind === "upstream_unfunded" ? "unfunded" : "refused";
    refused.set(`${provider.name} ${label}`, { provider: provider.name, label, reason, status, text });
  }
  return [...refused.values()];
}

/** What is further away needs no warning yet. */
const SOON_DAYS = 30;

const retiringModels = ({ snapshot, clock }: Pick<Gateway, "snapshot" | "clock">): RetiringModel[] =>
  snapshot.catalogue.list().flatMap(({ id: model, retiresOn, replacedBy }) => {
    const days = retiresOn === undefined ? undefined : daysUntil(retiresOn, clock.wallMs());
    return retiresOn === undefined || days === undefined || days > SOON_DAYS
      ? []
      : [{ model, retiresOn, days, replacedBy }];
  });

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
