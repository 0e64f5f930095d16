import type { Sources } from "../../base/sources.ts";
import type { GatewayError } from "../../canon/error.ts";
import type { BreakerSettings } from "../../canon/routing-settings.ts";
import type { LimitHeaders } from "../../dialects/codec.ts";
import type { Provider } from "../../providers/provider.ts";
import type { RoutingDefaults } from "../call-routing.ts";
import type { Target } from "../target.ts";
import { Breaker } from "./breaker.ts";
import { effectOf } from "./health-effect.ts";
import { readReset } from "./read-reset.ts";
import type { HealthView, TargetFailure, TargetHealth } from "./target-health.ts";
import { TargetRecord } from "./target-record.ts";

/** The longest pause that a provider can ask for. */
const MAX_QUIET_MS = 3_600_000;
/** The longest pause that is inferred from headers without an explicit request. */
const MAX_INFERRED_QUIET_MS = 60_000;
const MAX_FAILURE_TEXT = 500;
/** The share of first contents that arrive in time, for hedging. */
const TAIL = 0.95;

/** One attempt, identified by the same object in every report. */
export type HealthAttempt = object;

/** What a response time measures: the first content of a stream, or a whole response. */
export type Timed = "stream" | "whole";

/** A target is taken out of use, or is used again. */
export interface HealthChange {
  target: Target;
  /** The whole credential, not only this model. */
  ofCredential: boolean;
  /** How long it is out of use; undefined if it responds again. */
  openMs: number | undefined;
}

/** News about a target for other processes: its breaker, or measurements. */
export interface HealthNews {
  /** Credential and model, as all processes name them. */
  target: string;
  breaker?: { ofCredential: boolean; openMs: number | undefined };
  /** Sums and counts: of first contents, of whole responses, and of tokens and the time they took. */
  measured?: readonly number[];
}

type Breakers = Pick<RoutingDefaults, "ofProvider">;

export interface HeaderReader {
  get(name: string): string | undefined;
}

/**
 * The health of all targets: written by attempts, read by plans. It is kept by credential and upstream model, independent of
 * dialects and catalogue names, and outlives the configuration. A call allocates nothing here.
 */
export class Health implements HealthView {
  readonly #sources: Sources;
  #routing: Breakers;
  readonly #onChange: (change: HealthChange) => void;
  readonly #records = new Map<string, TargetRecord>();
  readonly #credentials = new Map<string, Breaker>();
  /** Called with news for other processes. */
  onNews: (news: HealthNews) => void = () => {};
  /** Saves each call from building the key of its target. */
  #byTarget = new WeakMap<Target, TargetRecord>();

  constructor(sources: Sources, routing: Breakers, onChange: (change: HealthChange) => void = () => {}) {
    this.#sources = sources;
    this.#routing = routing;
    this.#onChange = onChange;
  }

  of(target: Target, nowMs = this.#sources.clock.nowMs()): TargetHealth {
    const record = this.#of(target);
    record.readAtMs = nowMs;
    return record;
  }

  /** The same, unless it was never called. */
  known(target: Target): TargetHealth | undefined {
    return this.#records.has(keyOf(target)) ? this.of(target) : undefined;
  }

  /** What is remembered of a target; undefined if it was never called. For reports: planning reads `of`. */
  record(target: Target): TargetRecord | undefined {
    return this.#records.get(keyOf(target));
  }

  /** The time within which nearly all streams show their first content; undefined while too few were measured. */
  p95FirstContentMs(target: Target): number | undefined {
    return this.#of(target).firstContents.quantileAt(TAIL, this.#sources.clock.nowMs());
  }

  /** An attempt begins. */
  begin(target: Target, attempt: HealthAttempt): void {
    const record = this.#of(target);
    const nowMs = this.#sources.clock.nowMs();
    record.model.begin(attempt, nowMs);
    record.credential.begin(attempt, nowMs);
  }

  /** It was answered after this time, or has shown its first content. */
  answered(target: Target, ms: number, timed: Timed | undefined): void {
    const record = this.#of(target);
    const nowMs = this.#sources.clock.nowMs();
    record.answeredAtMs = nowMs;
    record.failures.add(0, 1, nowMs);
    if (record.model.answer(nowMs - ms, nowMs)) this.#closed(target, false);
    if (record.credential.answer(nowMs - ms, nowMs)) this.#closed(target, true);
    if (timed === "stream") {
      record.streams.add(ms, 1, nowMs);
      record.firstContents.add(ms, nowMs);
      count(record, STREAMS, ms, 1);
    } else if (timed === "whole") {
      record.wholes.add(ms, 1, nowMs);
      count(record, WHOLES, ms, 1);
    }
  }

  /** It failed, before its first content or after it. */
  failed(target: Target, attempt: HealthAttempt, error: GatewayError): void {
    const record = this.#of(target);
    const nowMs = this.#sources.clock.nowMs();
    const effect = effectOf(error);
    if (effect !== "none") record.failed = failureOf(error, nowMs);
    if (effect === "failed") {
      if (record.model.fail(attempt, nowMs)) this.#opened(target, record.model, false, nowMs);
    } else if (effect === "rejected") {
      if (record.credential.trip(attempt, nowMs)) this.#opened(target, record.credential, true, nowMs);
      // The credential may be rejected for this model only. If another model restores it, this one waits for its own probe.
      record.model.trip(attempt, nowMs);
      record.wasRejected = true;
    }
    if (effect === "failed" || effect === "rejected") record.failures.add(1, 1, nowMs);
    if (effect === "failed" || effect === "limited") quiet(record, nowMs, askedMs(error), MAX_QUIET_MS);
    this.#forget(record, attempt);
  }

  /** Its outcome does not count: the client left, another attempt was faster, or the gateway itself failed. */
  abandoned(target: Target, attempt: HealthAttempt): void {
    this.#forget(this.#of(target), attempt);
  }

  /** The time to generate these tokens, without the time spent waiting for the client. */
  generated(target: Target, tokens: number, ms: number): void {
    if (tokens <= 0 || ms <= 0) return;
    const record = this.#of(target);
    record.speed.add(tokens * 1000, ms, this.#sources.clock.nowMs());
    count(record, SPEED, tokens * 1000, ms);
  }

  /** Publishes what was measured since the last time. */
  publishMeasurements(): void {
    for (const [target, { unshared }] of this.#records) {
      if (unshared.every((sum) => sum === 0)) continue;
      this.onNews({ target, measured: [...unshared] });
      unshared.fill(0);
    }
  }

  /** Applies news from another process. `targets` are those of the configuration; others are ignored. */
  applyNews({ target, breaker, measured }: HealthNews, targets: Iterable<Target>): void {
    const record = this.#records.get(target) ?? this.#makeNamed(target, targets);
    if (record === undefined) return;
    const nowMs = this.#sources.clock.nowMs();
    if (breaker !== undefined) {
      const own = breaker.ofCredential ? record.credential : record.model;
      if (breaker.openMs === undefined) own.closeRemotely(nowMs);
      else own.openRemotely(breaker.openMs, nowMs);
    }
    if (measured !== undefined) applyMeasurements(record, measured, nowMs);
  }

  /** If a limit is used up, the target rests until it is renewed: the next call would be rejected (H19). */
  noteLimits(target: Target, headers: HeaderReader, limits: readonly LimitHeaders[]): void {
    if (limits.length === 0) return;
    const record = this.#of(target);
    const { nowMs, wallMs } = this.#sources.clock;
    for (let at = 0; at < limits.length; at++) {
      const limit = limits[at];
      if (limit === undefined) continue;
      const remaining = headers.get(limit.remaining);
      if (remaining === undefined) continue;
      record.limits = limits;
      record.limitsAtMs = nowMs();
      record.remaining[at] = remaining;
      record.resets[at] = headers.get(limit.reset);
      if (remaining === "0")
        quiet(record, record.limitsAtMs, readReset(record.resets[at], wallMs()), MAX_INFERRED_QUIET_MS);
    }
  }

  /** The configuration has changed: forgets removed targets and gives rejected credentials a new chance. */
  reconfigure(targets: Iterable<Target>, routing: Breakers): void {
    this.#routing = routing;
    const records = new Set<TargetRecord>();
    const credentials = new Set<string>();
    this.#byTarget = new WeakMap();
    for (const target of targets) {
      const found = this.#records.get(keyOf(target));
      credentials.add(credentialKey(target.provider));
      if (found === undefined) continue;
      records.add(found);
      found.model.configure(this.#settingsOf(target));
      found.credential.configure(this.#settingsOf(target));
    }
    for (const [key, record] of this.#records) {
      if (!records.has(record)) this.#records.delete(key);
      else if (record.wasRejected) record.restore();
    }
    for (const [key, breaker] of this.#credentials) {
      if (credentials.has(key)) breaker.reset();
      else this.#credentials.delete(key);
    }
  }

  #closed(target: Target, ofCredential: boolean): void {
    this.#onChange({ target, ofCredential, openMs: undefined });
    this.onNews({ target: keyOf(target), breaker: { ofCredential, openMs: undefined } });
  }

  #opened(target: Target, { openUntilMs }: Breaker, ofCredential: boolean, nowMs: number): void {
    this.#onChange({ target, ofCredential, openMs: openUntilMs - nowMs });
    this.onNews({ target: keyOf(target), breaker: { ofCredential, openMs: openUntilMs - nowMs } });
  }

  #settingsOf({ provider }: Target): BreakerSettings {
    return this.#routing.ofProvider(provider.name).breaker;
  }

  #forget({ model, credential }: TargetRecord, attempt: HealthAttempt): void {
    model.forget(attempt);
    credential.forget(attempt);
  }

  #of(target: Target): TargetRecord {
    return this.#byTarget.get(target) ?? this.#make(target);
  }

  #make(target: Target): TargetRecord {
    const key = keyOf(target);
    let record = this.#records.get(key);
    if (record === undefined) {
      const credential = this.#credentialOf(target);
      record = new TargetRecord(this.#breaker(target), credential);
      this.#records.set(key, record);
    }
    this.#byTarget.set(target, record);
    return record;
  }

  #makeNamed(name: string, targets: Iterable<Target>): TargetRecord | undefined {
    for (const target of targets) if (keyOf(target) === name) return this.#make(target);
    return undefined;
  }

  #credentialOf(target: Target): Breaker {
    const key = credentialKey(target.provider);
    const breaker = this.#credentials.get(key) ?? this.#breaker(target);
    this.#credentials.set(key, breaker);
    return breaker;
  }

  #breaker(target: Target): Breaker {
    return new Breaker(this.#settingsOf(target), () => (this.#sources.random.bytes(1)[0] ?? 0) / 256);
  }
}

/** The same name with another key or host is a different credential. */
const credentialKey = ({ name, digest }: Provider): string => `${name} ${digest}`;
const keyOf = ({ provider, offer }: Target): string => `${credentialKey(provider)} ${offer.upstreamModel}`;

/** The positions of the sums in `unshared`, each followed by its count. */
const STREAMS = 0;
const WHOLES = 2;
const SPEED = 4;
/** The most samples that another process's average adds to the distribution. */
const MAX_REMOTE_SAMPLES = 20;

function count({ unshared }: TargetRecord, at: number, above: number, below: number): void {
  unshared[at] = (unshared[at] ?? 0) + above;
  unshared[at + 1] = (unshared[at + 1] ?? 0) + below;
}

function applyMeasurements(record: TargetRecord, measured: readonly number[], nowMs: number): void {
  const [streamMs = 0, streams = 0, wholeMs = 0, wholes = 0, tokens = 0, tokenMs = 0] = measured;
  if (streams > 0) {
    record.streams.add(streamMs, streams, nowMs);
    for (let sample = 0; sample < Math.min(streams, MAX_REMOTE_SAMPLES); sample++)
      record.firstContents.add(streamMs / streams, nowMs);
  }
  if (wholes > 0) record.wholes.add(wholeMs, wholes, nowMs);
  if (tokenMs > 0) record.speed.add(tokens, tokenMs, nowMs);
}

/** Nothing else of the error is kept: it may hold a whole response. */
const failureOf = ({ kind, message, failure }: GatewayError, atMs: number): TargetFailure => ({
  kind,
  status: failure?.status,
  text: (failure?.said ?? message).slice(0, MAX_FAILURE_TEXT),
  atMs,
});

const askedMs = ({ failure, retryAfterSeconds }: GatewayError): number | undefined => {
  const seconds = failure?.retryAfterSeconds ?? retryAfterSeconds;
  return seconds === undefined ? undefined : seconds * 1000;
};

/** Pauses a target; never shortens a pause. */
function quiet(record: TargetRecord, nowMs: number, ms: number | undefined, maxMs: number): void {
  if (ms !== undefined) record.quietUntilMs = Math.max(record.quietUntilMs, nowMs + Math.min(ms, maxMs));
}
