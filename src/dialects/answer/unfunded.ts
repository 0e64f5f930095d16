/**
 * How hosts refuse a call because the account behind the credential has no money left, or no right to spend it (H64). They do so with
 * 400, 403 or 429, so that only a code or their words tell it from a mistake in the request. Under 402 every refusal is one.
 */
const CODES: ReadonlySet<string> = new Set([
  // chat and responses
  "insufficient_quota",
  "billing_hard_limit_reached",
  "billing_not_active",
  // messages
  "billing_error",
  "credit_balance_too_low",
  "contract_spend_limit_reached",
  "user_profile_billing_not_authorized",
]);

const WORDS: readonly RegExp[] = [
  // messages, under 400
  /^your credit balance is too low/i,
  /^you have reached your specified api usage limits/i,
  // genai, under 429 and 403
  /^your prepayment credits are depleted/i,
  /^this api method requires billing to be enabled/i,
];

/** The words of a host begin its message: a prompt that it quotes does not. */
export const tellsUnfunded = (code: string | undefined, words: string | undefined): boolean =>
  (code !== undefined && CODES.has(code)) || (words !== undefined && WORDS.some((pattern) => pattern.test(words)));
