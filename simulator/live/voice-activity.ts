/** A change that was noticed, in milliseconds of audio since the beginning. */
export type Activity = { type: "started"; atMs: number } | { type: "stopped"; atMs: number };

export interface ActivitySettings {
  /** The loudness of speech, from 0 to 1. */
  threshold: number;
  /** How much must be loud before it counts as speech. */
  onsetMs: number;
  /** How much silence ends speech. */
  silenceMs: number;
}

/** Loudness is measured over this much. */
const FRAME_MS = 10;
/** The threshold 1 is this loud, of 32,767: a threshold of 0.5 is a quiet voice. */
const LOUDEST_THRESHOLD = 1_000;

/** Notices speech by its loudness. Time is what the samples last, not what passes while they arrive. */
export class VoiceActivity {
  readonly #frameSamples: number;
  #settings: ActivitySettings;
  #frames = 0;
  #filled = 0;
  #energy = 0;
  #loudMs = 0;
  #quietMs = 0;
  #isSpeaking = false;

  constructor(rate: number, settings: ActivitySettings) {
    this.#frameSamples = Math.max(1, Math.round((rate * FRAME_MS) / 1_000));
    this.#settings = settings;
  }

  get isSpeaking(): boolean {
    return this.#isSpeaking;
  }

  set settings(settings: ActivitySettings) {
    this.#settings = settings;
  }

  /** Takes the speech that runs as ended. */
  reset(): void {
    this.#isSpeaking = false;
    this.#loudMs = 0;
    this.#quietMs = 0;
  }

  /** The changes in these samples, in order. */
  hear(samples: Int16Array): Activity[] {
    const found: Activity[] = [];
    for (const sample of samples) {
      this.#energy += sample * sample;
      if (++this.#filled < this.#frameSamples) continue;
      const change = this.#endFrame(Math.sqrt(this.#energy / this.#filled));
      if (change !== undefined) found.push(change);
      this.#filled = 0;
      this.#energy = 0;
    }
    return found;
  }

  #endFrame(loudness: number): Activity | undefined {
    const { threshold, onsetMs, silenceMs } = this.#settings;
    const endMs = ++this.#frames * FRAME_MS;
    const isLoud = loudness >= threshold * LOUDEST_THRESHOLD && loudness > 0;
    this.#loudMs = isLoud ? this.#loudMs + FRAME_MS : 0;
    this.#quietMs = isLoud ? 0 : this.#quietMs + FRAME_MS;
    if (!this.#isSpeaking && isLoud && this.#loudMs >= onsetMs) {
      this.#isSpeaking = true;
      return { type: "started", atMs: Math.max(0, endMs - this.#loudMs) };
    }
    if (this.#isSpeaking && this.#quietMs >= silenceMs) {
      this.#isSpeaking = false;
      return { type: "stopped", atMs: endMs };
    }
    return undefined;
  }
}
