import type { Provider } from "../../providers/provider.ts";
import type { Target } from "../target.ts";
import type { Health } from "./health.ts";
import type { BreakerState } from "./target-health.ts";

/** The health of one model at one credential, for the Admin API. */
interface ModelReport {
  /** The provider's own name of it. */
  model: string;
  state: BreakerState;
  /** How long the provider asks for a pause; 0 if it does not. */
  quiet_ms: number;
  first_content_ms: number | null;
  p95_first_content_ms: number | null;
  tokens_per_second: number | null;
}

interface CredentialReport {
  /** Never the key; null if the provider has only one credential. */
  label: string | null;
  weight: number;
  /** Those that were called. */
  models: ModelReport[];
}

export interface ProviderReport {
  provider: string;
  credentials: CredentialReport[];
}

interface Configured {
  /** By name, one for each credential. */
  readonly providers: ReadonlyMap<string, readonly Provider[]>;
  readonly targets: { all(): Iterable<Target> };
}

/** The health of all providers of a configuration, as far as they were called. */
export function healthReport({ providers, targets }: Configured, health: Health, nowMs: number): ProviderReport[] {
  const models = new Map<Provider, ModelReport[]>();
  const seen = new Set<object>();
  for (const target of targets.all()) {
    const known = health.known(target);
    if (known === undefined || seen.has(known)) continue;
    seen.add(known);
    const { state, quietUntilMs, firstContentMs, tokensPerSecond } = known;
    const reports = models.get(target.provider) ?? [];
    models.set(target.provider, reports);
    reports.push({
      model: target.offer.upstreamModel,
      state,
      quiet_ms: Math.max(0, Math.round(quietUntilMs - nowMs)),
      first_content_ms: rounded(firstContentMs, 1),
      p95_first_content_ms: rounded(health.p95FirstContentMs(target), 1),
      tokens_per_second: rounded(tokensPerSecond, 10),
    });
  }
  return [...providers].map(([provider, credentials]) => ({
    provider,
    credentials: credentials.map((one) => {
      return { label: one.credential || null, weight: one.weight, models: models.get(one) ?? [] };
    }),
  }));
}

const rounded = (value: number | undefined, parts: number): number | null =>
  value === undefined ? null : Math.round(value * parts) / parts;
