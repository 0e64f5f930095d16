/** Costs are counted in whole nano-dollars; beyond this they would lose the last ones. */
export const MAX_BUDGET_USD = 9_000_000;

/** Longer than any key; longer texts are not hashed. */
export const MAX_KEY_LENGTH = 512;

/** Shorter ones can be guessed (S21). */
export const MIN_KEY_LENGTH = 20;
