/** The most processes that serve calls on one machine. */
export const MAX_WORKERS = 256;
