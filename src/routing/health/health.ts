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
import type { HealthView, TargetHealth } from "./target-health.ts";
import { TargetRecord } from "./target-record.ts";

/** A provider that asks to be left alone for longer than this is asked again nevertheless. */
const MAX_QUIET_MS = 3_600_000;
/** What follows from headers, and was not asked for in so many words, is believed for no longer than this. */
const MAX_INFERRED_QUIET_MS = 60_000;
/** The share of first contents that come in time, for hedging. */
const TAIL = 0.95;

/** One attempt, as its outcome is reported: always the same object. */
export type HealthAttempt = object;

/** What the time until an answer says: to the first content of a stream, or to the whole of an answer in one piece. */
export type Timed = "stream" | "whole";

/** A target is left alone from now on, or is called again. */
export interface HealthChange {
  target: Target;
  /** The credential as a whole, not this model alone. */
  ofCredential: boolean;
  /** How long it is left alone; undefined where it answers again. */
  openMs: number | undefined;
}

/** What one process tells the others of a target: its breaker, or what was measured. */
export interface HealthNews {
  /** Credential and model, as all processes name them. */
  target: string;
  breaker?: { ofCredential: boolean; openMs: number | undefined };
  /** Sums and counts: of first contents of streams, of whole answers, and of tokens and the time that they took. */
  measured?: readonly number[];
}

type Breakers = Pick<RoutingDefaults, "ofProvider">;

export interface HeaderReader {
  get(name: string): string | undefined;
}

/**
 * The health of every target: written by the attempts, read by the plan. It is kept by credential and upstream model, whatever the
 * catalogue calls the model and in whichever dialect it is called, and outlives the configuration. A call allocates nothing here.
 */
export class Health implements HealthView {
  readonly #sources: Sources;
  #routing: Breakers;
  readonly #onChange: (change: HealthChange) => void;
  readonly #records = new Map<string, TargetRecord>();
  readonly #credentials = new Map<string, Breaker>();
  /** Told what other processes should know. */
  onNews: (news: HealthNews) => void = () => {};
  /** So that no call has to make the key of its target. */
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

  /** It was answered after so long, or has shown its first content. */
  answered(target: Target, ms: number, timed: Timed | undefined): void {
    const record = this.#of(target);
    const nowMs = this.#sources.clock.nowMs();
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
    if (effect === "failed") {
      if (record.model.fail(attempt, nowMs)) this.#opened(target, record.model, false, nowMs);
    } else if (effect === "rejected") {
      if (record.credential.trip(attempt, nowMs)) this.#opened(target, record.credential, true, nowMs);
      // The credential may be refused for this model alone: where another model brings it back, this one waits for a probe of its own.
      record.model.trip(attempt, nowMs);
      record.wasRejected = true;
    }
    if (effect === "failed" || effect === "limited") quiet(record, nowMs, askedMs(error), MAX_QUIET_MS);
    this.#forget(record, attempt);
  }

  /** Its outcome says nothing of the target: the client left, another attempt was faster, or the gateway itself has failed. */
  abandoned(target: Target, attempt: HealthAttempt): void {
    this.#forget(this.#of(target), attempt);
  }

  /** What generating these tokens took, without the time that the gateway waited for its client. */
  generated(target: Target, tokens: number, ms: number): void {
    if (tokens <= 0 || ms <= 0) return;
    const record = this.#of(target);
    record.speed.add(tokens * 1000, ms, this.#sources.clock.nowMs());
    count(record, SPEED, tokens * 1000, ms);
  }

  /** Tells what was measured here since the last time. */
  tellMeasured(): void {
    for (const [target, { unshared }] of this.#records) {
      if (unshared.every((sum) => sum === 0)) continue;
      this.onNews({ target, measured: [...unshared] });
      unshared.fill(0);
    }
  }

  /** What another process tells. `targets`: of the configuration; what is not among them is of no use here. */
  hear({ target, breaker, measured }: HealthNews, targets: Iterable<Target>): void {
    const record = this.#records.get(target) ?? this.#makeNamed(target, targets);
    if (record === undefined) return;
    const nowMs = this.#sources.clock.nowMs();
    if (breaker !== undefined) {
      const heard = breaker.ofCredential ? record.credential : record.model;
      if (breaker.openMs === undefined) heard.hearClosed(nowMs);
      else heard.hearOpen(breaker.openMs, nowMs);
    }
    if (measured !== undefined) hearMeasured(record, measured, nowMs);
  }

  /** Where nothing is left of a limit, the target is left alone until it is full again: the next call would be refused (H19). */
  heard(target: Target, headers: HeaderReader, limits: readonly LimitHeaders[]): void {
    for (const { remaining, reset } of limits) {
      if (headers.get(remaining) !== "0") continue;
      const { nowMs, wallMs } = this.#sources.clock;
      quiet(this.#of(target), nowMs(), readReset(headers.get(reset), wallMs()), MAX_INFERRED_QUIET_MS);
    }
  }

  /** The configuration has changed: what it does not name any more is forgotten, and refused credentials have a new chance. */
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

/** The same name with another key, or at another host, is somebody else. */
const credentialKey = ({ name, digest }: Provider): string => `${name} ${digest}`;
const keyOf = ({ provider, offer }: Target): string => `${credentialKey(provider)} ${offer.upstreamModel}`;

/** Where the sums of each are in `unshared`, each before its count. */
const STREAMS = 0;
const WHOLES = 2;
const SPEED = 4;
/** However many calls another process had: its average counts for no more in the distribution. */
const MAX_HEARD = 20;

function count({ unshared }: TargetRecord, at: number, above: number, below: number): void {
  unshared[at] = (unshared[at] ?? 0) + above;
  unshared[at + 1] = (unshared[at + 1] ?? 0) + below;
}

function hearMeasured(record: TargetRecord, measured: readonly number[], nowMs: number): void {
  const [streamMs = 0, streams = 0, wholeMs = 0, wholes = 0, tokens = 0, tokenMs = 0] = measured;
  if (streams > 0) {
    record.streams.add(streamMs, streams, nowMs);
    for (let heard = 0; heard < Math.min(streams, MAX_HEARD); heard++)
      record.firstContents.add(streamMs / streams, nowMs);
  }
  if (wholes > 0) record.wholes.add(wholeMs, wholes, nowMs);
  if (tokenMs > 0) record.speed.add(tokens, tokenMs, nowMs);
}

const askedMs = ({ failure, retryAfterSeconds }: GatewayError): number | undefined => {
  const seconds = failure?.retryAfterSeconds ?? retryAfterSeconds;
  return seconds === undefined ? undefined : seconds * 1000;
};

/** Left alone for so long: never for less than it already is. */
function quiet(record: TargetRecord, nowMs: number, ms: number | undefined, maxMs: number): void {
  if (ms !== undefined) record.quietUntilMs = Math.max(record.quietUntilMs, nowMs + Math.min(ms, maxMs));
}
