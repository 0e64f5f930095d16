/** Samples a second of everything that the simulator says, mono, 16 bits each. */
export const SPEECH_RATE = 24_000;

/** How long a tone lasts at the ordinary speed: two make a byte, so that a sentence takes about as long as one that is spoken. */
export const TONE_SECONDS = 0.03;

/** A sentence begins with this tone, twice: no other sound does. */
export const LEAD_HZ = 400;
export const LEAD_TONES = 2;

/** After it three tones say how long each of the others lasts, in this unit. */
export const LENGTH_TONES = 3;
export const LENGTH_UNIT_SECONDS = 0.0001;

/**
 * The tone for half a byte. Tones are far enough apart to be distinguished at four times the speed, and below half of the
 * lowest common rate.
 */
export const hertzOf = (half: number): number => 600 + 200 * half;

/** What comes before the sentence itself lasts as long at every speed. */
export const HEAD_SECONDS = (LEAD_TONES + LENGTH_TONES) * TONE_SECONDS;
