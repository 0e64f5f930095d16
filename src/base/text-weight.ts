/** What each byte of a character after its first adds. */
const WEIGHT_OF_SURPLUS_BYTE = 1.5;

/**
 * The length of a text as an estimate of its tokens goes by it: four to a token. A character of English weighs 1, one of two
 * bytes 2.5 and one of three, as Chinese, Japanese and Korean are written, 4: about one token each.
 */
export const textWeight = (text: string): number => weigh(text.length, Buffer.byteLength(text));

/** The same of a text that was counted already. */
export const weigh = (characters: number, bytes: number): number =>
  characters + WEIGHT_OF_SURPLUS_BYTE * (bytes - characters);

/** What one event of content weighs at least: no host sends less than a token in one, however few characters it has (H26). */
export const MIN_WEIGHT = 4;

/** The weight of the text of one event; none where it is empty. */
export const eventWeight = (text: string): number => (text === "" ? 0 : Math.max(MIN_WEIGHT, textWeight(text)));
