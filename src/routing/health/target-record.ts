import type { LimitHeaders } from "../../dialects/codec.ts";
import type { Breaker } from "./breaker.ts";
import { DecayedHistogram } from "./decayed-histogram.ts";
import { DecayedRatio } from "./decayed-ratio.ts";
import type { BreakerState, TargetFailure, TargetHealth } from "./target-health.ts";

/** Everything known about one model at one credential. It contains only numbers and is created once. */
export class TargetRecord implements TargetHealth {
  /** The breaker of the model, and that of its credential, which all of its models share. */
  readonly model: Breaker;
  readonly credential: Breaker;
  /** Attempts that failed through the host's fault, of all that were answered or failed. */
  readonly failures = new DecayedRatio();
  readonly streams = new DecayedRatio();
  readonly wholes = new DecayedRatio();
  readonly speed = new DecayedRatio();
  readonly firstContents = new DecayedHistogram();
  /** The credential was rejected for this model, perhaps only because of the model. */
  wasRejected = false;
  quietUntilMs = 0;
  /** By the monotonic clock; 0 if it has not answered yet. */
  answeredAtMs = 0;
  failed: TargetFailure | undefined;
  /** What its last response said about its limits, and when; the headers are those of its dialect. */
  limits: readonly LimitHeaders[] = [];
  readonly remaining: (string | undefined)[] = [];
  readonly resets: (string | undefined)[] = [];
  limitsAtMs = 0;
  /** The time that readings refer to. */
  readAtMs = 0;

  constructor(model: Breaker, credential: Breaker) {
    this.model = model;
    this.credential = credential;
  }

  /** Measurements that were not shared yet: sums and counts, in the order of `Measured`. */
  readonly unshared = new Float64Array(6);

  /** A refused credential has a new chance. */
  restore(): void {
    this.wasRejected = false;
    this.model.reset();
  }

  get state(): BreakerState {
    const model = this.model.stateAt(this.readAtMs);
    const credential = this.credential.stateAt(this.readAtMs);
    if (model === "open" || credential === "open") return "open";
    return model === "half_open" ? model : credential;
  }

  /** Of streams or, if nothing was streamed lately, of whole responses, whose first content is the whole. */
  get firstContentMs(): number | undefined {
    return this.streams.valueAt(this.readAtMs) ?? this.wholes.valueAt(this.readAtMs);
  }

  get tokensPerSecond(): number | undefined {
    return this.speed.valueAt(this.readAtMs);
  }
}
