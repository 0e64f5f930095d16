/** Runs in the audio thread of the page, as a file of its own: makes frames of 40 ms at 24,000 samples a second. */
const RATE = 24_000;
const FRAME_SAMPLES = 960;

class Recorder extends AudioWorkletProcessor {
  constructor() {
    super();
    this.frame = new Int16Array(FRAME_SAMPLES);
    this.filled = 0;
    /** Of the samples that make the next one: their sum, and how many they are. */
    this.sum = 0;
    this.weight = 0;
    /** Incoming samples for each outgoing one. */
    this.step = sampleRate / RATE;
  }

  process([input]) {
    for (const sample of input?.[0] ?? []) this.take(sample);
    return true;
  }

  /** Averages what one outgoing sample lasts, which keeps most of what is too high for the lower rate out. */
  take(sample) {
    let left = 1;
    while (this.weight + left >= this.step) {
      const part = this.step - this.weight;
      this.put((this.sum + sample * part) / this.step);
      left -= part;
      this.sum = 0;
      this.weight = 0;
    }
    this.sum += sample * left;
    this.weight += left;
  }

  put(value) {
    this.frame[this.filled++] = Math.max(-1, Math.min(1, value)) * 32_767;
    if (this.filled < FRAME_SAMPLES) return;
    this.port.postMessage(this.frame.slice());
    this.filled = 0;
  }
}

registerProcessor("recorder", Recorder);
