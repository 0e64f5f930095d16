const TAPS = 47;
const CENTRE = (TAPS - 1) / 2;
/** Of the incoming rate: a little below half of the rate that comes out. */
const CUTOFF = 0.158;

/** A windowed sinc, whose sum is 1. */
const FILTER = (() => {
  const raw = Float64Array.from({ length: TAPS }, (_, index) => {
    const at = index - CENTRE;
    const sinc = at === 0 ? 2 * CUTOFF : Math.sin(2 * Math.PI * CUTOFF * at) / (Math.PI * at);
    return sinc * (0.54 - 0.46 * Math.cos((2 * Math.PI * index) / (TAPS - 1)));
  });
  const sum = raw.reduce((total, one) => total + one, 0);
  return raw.map((one) => one / sum);
})();

/** The same sound at a third of the rate: 24,000 samples a second become 8,000. */
export function thirdOf(samples: Int16Array): Int16Array {
  return Int16Array.from({ length: Math.floor(samples.length / 3) }, (_, index) => {
    let sum = 0;
    for (let tap = 0; tap < TAPS; tap++) sum += (samples[index * 3 + tap - CENTRE] ?? 0) * (FILTER[tap] ?? 0);
    return Math.max(-32_768, Math.min(32_767, Math.round(sum)));
  });
}
