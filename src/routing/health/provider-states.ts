import type { ErrorKind } from "../../canon/error.ts";
import type { Provider } from "../../providers/provider.ts";
import type { Target } from "../target.ts";
import type { Health } from "./health.ts";
import { readReset } from "./read-reset.ts";
import type { BreakerState } from "./target-health.ts";
import type { TargetRecord } from "./target-record.ts";

/** The last failure that a host caused. Times are by the wall clock. */
export interface LastError {
  kind: ErrorKind;
  status: number | undefined;
  text: string;
  atMs: number;
}

interface State {
  /** `open`: out of use. Undefined if it was never called. */
  state: BreakerState | undefined;
  /** Undefined if it has been in use since the start. */
  sinceMs: number | undefined;
  /** When the pause of an open breaker ends. */
  untilMs: number | undefined;
  lastError: LastError | undefined;
  lastSuccessMs: number | undefined;
  /** Recent attempts, of which older ones count less. */
  attempts: number;
  failures: number;
}

export interface ModelState extends State {
  /** The provider's own name of it. */
  model: string;
  /** What its host said in its last response. */
  limits: LimitLeft[];
}

/** What is left of a limit at the provider. */
export interface LimitLeft {
  /** The header that says so. */
  header: string;
  remaining: number;
  /** When the limit is renewed, if its host says so. */
  resetsAtMs: number | undefined;
  /** When the host said so. */
  atMs: number;
}

export interface CredentialState extends State {
  /** Null if the provider has only one. */
  label: string | null;
  /** Those that were called. */
  models: ModelState[];
}

export interface ProviderState extends State {
  provider: string;
  credentials: CredentialState[];
}

interface Configured {
  readonly providers: ReadonlyMap<string, readonly Provider[]>;
  readonly targets: { all(): Iterable<Target> };
}

interface Now {
  nowMs: number;
  wallMs: number;
}

/**
 * What this process has seen of every provider: whether it is in use, since when, and what happened last. A credential or a provider
 * is down if all that was called of it is, or if some is and at least half of its recent attempts have failed.
 */
export function providerStates({ providers, targets }: Configured, health: Health, now: Now): ProviderState[] {
  const models = new Map<Provider, ModelState[]>();
  const seen = new Set<object>();
  for (const target of targets.all()) {
    const record = health.record(target);
    if (record === undefined || seen.has(record)) continue;
    seen.add(record);
    const states = models.get(target.provider) ?? [];
    models.set(target.provider, states);
    states.push(modelState(target.offer.upstreamModel, record, now));
  }
  return [...providers].map(([provider, all]) => {
    const credentials = all.map((one): CredentialState => {
      const own = models.get(one) ?? [];
      return { label: one.credential || null, ...together(own), models: own };
    });
    return { provider, ...together(credentials), credentials };
  });
}

function breakerState(breaker: TargetRecord["credential"], state: BreakerState, { nowMs, wallMs }: Now) {
  const sinceMs = breaker.sinceMs(nowMs);
  return {
    state,
    sinceMs: sinceMs === undefined ? undefined : wallMs - (nowMs - sinceMs),
    untilMs: state === "open" ? wallMs + Math.max(0, breaker.openUntilMs - nowMs) : undefined,
  };
}

function modelState(model: string, record: TargetRecord, now: Now): ModelState {
  const wallOf = (ms: number) => now.wallMs - (now.nowMs - ms);
  // A credential that is out of use takes its models with it.
  const own = record.model.stateAt(now.nowMs) === "closed" ? record.credential : record.model;
  const breaker = own.stateAt(now.nowMs) === "closed" ? record.model : own;
  const { above: failures, below: attempts } = record.failures.sumsAt(now.nowMs);
  const { failed, answeredAtMs, limits, remaining, resets, limitsAtMs } = record;
  return {
    model,
    ...breakerState(breaker, breaker.stateAt(now.nowMs), now),
    lastError: failed && { kind: failed.kind, status: failed.status, text: failed.text, atMs: wallOf(failed.atMs) },
    lastSuccessMs: answeredAtMs === 0 ? undefined : wallOf(answeredAtMs),
    attempts,
    failures,
    limits: limits.flatMap((limit, at): LimitLeft[] => {
      const left = remaining[at];
      if (left === undefined || !/^\d{1,15}$/.test(left)) return [];
      const atMs = wallOf(limitsAtMs);
      const resetMs = readReset(resets[at], atMs);
      const resetsAtMs = resetMs === undefined ? undefined : atMs + resetMs;
      return [{ header: limit.remaining, remaining: Number(left), resetsAtMs, atMs }];
    }),
  };
}

const sumOf = (parts: readonly State[], of: "attempts" | "failures"): number =>
  parts.reduce((sum, part) => sum + part[of], 0);

/** Of several. One that is not called does not keep the others up. */
function together(parts: readonly State[]): State {
  const called = parts.filter(({ state }) => state !== undefined);
  const down = called.filter(({ state }) => state !== "closed");
  const errors = called.flatMap(({ lastError }) => lastError ?? []);
  const successes = called.flatMap(({ lastSuccessMs }) => lastSuccessMs ?? []);
  const [attempts, failures] = [sumOf(called, "attempts"), sumOf(called, "failures")];
  const isDown = down.length > 0 && (down.length === called.length || failures * 2 >= attempts);
  const isOpen = down.every(({ state }) => state === "open");
  const sinces = (isDown ? down : called).flatMap(({ sinceMs }) => sinceMs ?? []);
  const untils = down.flatMap(({ untilMs }) => untilMs ?? []);
  return {
    state: called.length === 0 ? undefined : isDown ? (isOpen ? "open" : "half_open") : "closed",
    // It is down since the last of them is.
    sinceMs: sinces.length === 0 ? undefined : Math.max(...sinces),
    untilMs: isDown && untils.length > 0 ? Math.min(...untils) : undefined,
    lastError: errors.toSorted((one, other) => other.atMs - one.atMs)[0],
    lastSuccessMs: successes.length === 0 ? undefined : Math.max(...successes),
    attempts,
    failures,
  };
}
