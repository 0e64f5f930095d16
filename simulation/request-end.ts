const RANDOM_CHARACTERS = 12;

/** The random end of a request's id, by which its receipt is matched with its call. */
export const requestEnd = (id: string): string => id.slice(-RANDOM_CHARACTERS);
