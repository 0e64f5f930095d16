/** What a prompt may ask the simulated media hosts to play, by a word such as `sim:moderated` anywhere in it. */
export const OUTCOMES = [
  /** The host refuses the prompt immediately. */
  "blocked",
  /** The host takes the job, and its moderation holds the result back. */
  "moderated",
  /** Of several images, one is held back or fails. */
  "one-fails",
  /** The host takes the job, and fails at it. */
  "fails",
  /** The link to the result has expired when the host reports it. */
  "expired",
  /** The job takes 5 seconds instead of a moment. */
  "slow",
  /** The host has forgotten the job when it is asked for it. */
  "forgotten",
  /** Every other question about the job, the first included, ends in a 502 of something before the host. */
  "unsteady",
  /** HTTP 429, 500 and 503 immediately. */
  "busy",
  "broken",
  "overloaded",
  /** HTTP 200 with a page of HTML. */
  "garbage",
] as const;

export type Outcome = (typeof OUTCOMES)[number];

export function outcomeOf(prompt: string): Outcome | undefined {
  return OUTCOMES.find((outcome) => new RegExp(`\\bsim:${outcome}\\b`).test(prompt));
}
