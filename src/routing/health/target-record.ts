import type { Breaker } from "./breaker.ts";
import { DecayedHistogram } from "./decayed-histogram.ts";
import { DecayedRatio } from "./decayed-ratio.ts";
import type { BreakerState, TargetHealth } from "./target-health.ts";

/** All that is known of one model at one credential. It holds numbers alone, and is made once. */
export class TargetRecord implements TargetHealth {
  /** That of the model, and that of its credential, which all models of the credential share. */
  readonly model: Breaker;
  readonly credential: Breaker;
  readonly streams = new DecayedRatio();
  readonly wholes = new DecayedRatio();
  readonly speed = new DecayedRatio();
  readonly firstContents = new DecayedHistogram();
  /** The credential was refused for this model, which may have been for the model's sake. */
  wasRejected = false;
  quietUntilMs = 0;
  /** The moment that what is read of it is of. */
  readAtMs = 0;

  constructor(model: Breaker, credential: Breaker) {
    this.model = model;
    this.credential = credential;
  }

  /** What was measured here since others were last told: sums and counts, in the order of `Measured`. */
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

  /** Of streams. Where nothing was streamed lately, of answers in one piece, whose first content is the whole. */
  get firstContentMs(): number | undefined {
    return this.streams.valueAt(this.readAtMs) ?? this.wholes.valueAt(this.readAtMs);
  }

  get tokensPerSecond(): number | undefined {
    return this.speed.valueAt(this.readAtMs);
  }
}
