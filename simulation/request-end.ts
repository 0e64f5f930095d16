const RANDOM_CHARACTERS = 12;

/** The random end of a request id, which links its receipt to its call. */
export const requestEnd = (id: string): string => id.slice(-RANDOM_CHARACTERS);
