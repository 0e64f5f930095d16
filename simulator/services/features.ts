/** Words that say little of what a text is about. */
const COMMON = new Set(
  "a an and are as at be but by can could do does for from had has have how i in is it its of on or she he that the their them there these they this those to was we were what when where which who why will with would you your".split(
    " ",
  ),
);
const COMMON_WEIGHT = 0.15;
/** Parts of words, by which a word is like its other forms. */
const PART_WEIGHT = 0.6;
const PART_LENGTH = 3;

/** What a text is about, as far as its words say: each word, and its parts. Order, case and punctuation do not count. */
export function featuresOf(text: string): ReadonlyMap<string, number> {
  const features = new Map<string, number>();
  const add = (name: string, weight: number) => features.set(name, (features.get(name) ?? 0) + weight);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    if (COMMON.has(word)) add(word, COMMON_WEIGHT);
    else {
      add(word, 1);
      for (let at = 0; at + PART_LENGTH <= word.length; at++) add(`~${word.slice(at, at + PART_LENGTH)}`, PART_WEIGHT);
    }
  }
  // A text without words is only similar to itself.
  if (features.size === 0) add(`=${text}`, 1);
  return features;
}
