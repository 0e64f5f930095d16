/** The weight of each byte of a character after its first. */
const WEIGHT_OF_SURPLUS_BYTE = 1.5;

/**
 * The weight of a text for estimating its tokens, at four per token. An English character weighs 1, a two-byte character 2.5,
 * and a three-byte one (Chinese, Japanese, Korean) 4, about one token.
 */
export const textWeight = (text: string): number => weigh(text.length, Buffer.byteLength(text));

/** The same for a text that was already counted. */
export const weigh = (characters: number, bytes: number): number =>
  characters + WEIGHT_OF_SURPLUS_BYTE * (bytes - characters);

/** The minimum weight of a content event: no provider sends less than a token in one (H26). */
export const MIN_WEIGHT = 4;

/** The weight of the text of one event; none where it is empty. */
export const eventWeight = (text: string): number => (text === "" ? 0 : Math.max(MIN_WEIGHT, textWeight(text)));
