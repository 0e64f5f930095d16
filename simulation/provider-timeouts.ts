/** The providers' timeouts, in milliseconds. */
export const TIMEOUT_MS = { first_byte: 5_000, idle: 4_000, content: 20_000, total: 120_000 };
