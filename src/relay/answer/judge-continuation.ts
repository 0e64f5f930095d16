/** A repetition of so many characters is no chance. */
const CERTAIN = 32;
/** An overlap of so many characters amid a word is hardly chance either. */
const DOUBTFUL = 4;
/** A repetition is looked for in so much of the answer's beginning and of its end. */
const WINDOW = 4096;
/** No continuation is held for longer than this. */
const MAX_HELD = 64 * 1024;

const LETTERS = /[\p{L}\p{N}]/u;
const isLetter = (character: string | undefined): boolean => character !== undefined && LETTERS.test(character);

/** What the text of a continuation is worth after what was said. */
export type Judgement =
  /** More of it must come before it can be told. */
  | { is: "open" }
  /** It goes on, behind so many characters that were said already. */
  | { is: "continuation"; skip: number }
  | { is: "refused"; reason: string };

const OPEN: Judgement = { is: "open" };
const refused = (reason: string): Judgement => ({ is: "refused", reason });

/** The answer that broke off, as far as a continuation is judged by it. */
export interface BrokenText {
  /** All that was said. */
  said: string;
  /** How much of it the provider was given: without the white space at its end, which hosts refuse and models write anew. */
  given: number;
}

/**
 * Whether a text goes on where another broke off. It is taken as it stands, without white space that was said and not given, or
 * without a repetition at its beginning that is certain: at least 32 characters from the beginning of a word, found nowhere
 * else in the answer, which was cut inside a sentence: there the same words do not come again. What repeats less than that,
 * or begins again, is refused: it may be right, but that cannot be known (H17).
 */
export function judgeContinuation(text: string, { said, given }: BrokenText, ended: boolean): Judgement {
  if (text.length > MAX_HELD) return refused("repeated text that was already sent");
  const space = said.slice(given);
  const rest = text.startsWith(space) ? text.slice(space.length) : undefined;
  if (!ended && mayRepeat(text, rest, said, space)) return OPEN;
  const before = said.slice(0, given);
  const repeated = overlapOf(before, text);
  if (isCertain(before, repeated)) {
    const behind = text.slice(repeated);
    if (behind === "" || behind.startsWith(space))
      return { is: "continuation", skip: repeated + (behind === "" ? 0 : space.length) };
    return refused("did not continue where the text ended");
  }
  if (isDoubtful(before, repeated)) return refused("repeated text that was already sent");
  if (beginsAgain(text, said)) return refused("started the response over");
  if (rest === undefined)
    return text === "" ? { is: "continuation", skip: 0 } : refused("did not continue where the text ended");
  if (space !== "" && isDoubtful(said, overlapOf(said, rest))) return refused("repeated text that was already sent");
  return { is: "continuation", skip: space.length };
}

/** Whether more of the text could still show that it repeats something. */
function mayRepeat(text: string, rest: string | undefined, said: string, space: string): boolean {
  if (text === "" || (rest === undefined && space.startsWith(text))) return true;
  if (said.startsWith(text)) return true;
  const end = said.slice(-WINDOW);
  return end.includes(text) || (rest !== undefined && space !== "" && end.includes(rest));
}

/** The most characters at the end of what was said with which the text begins. */
function overlapOf(said: string, text: string): number {
  if (said.length <= text.length && text.startsWith(said)) return said.length;
  for (let length = Math.min(said.length, text.length, WINDOW); length > 0; length--) {
    if (said.endsWith(text.slice(0, length))) return length;
  }
  return 0;
}

function isCertain(said: string, overlap: number): boolean {
  if (overlap < CERTAIN) return false;
  const start = said.length - overlap;
  const tail = said.slice(start);
  const wholeWord = !isLetter(said[start - 1]) || !isLetter(said[start]);
  // At the end of a line or of a sentence, a text may well say the same again.
  const insideSentence = /[\p{L}\p{N},(]$/u.test(tail);
  return wholeWord && insideSentence && LETTERS.test(tail) && said.indexOf(tail) === start;
}

/** Words or marks that are said twice, or most of a word: rarely what a model means, and never for the gateway to decide. */
function isDoubtful(said: string, overlap: number): boolean {
  const start = said.length - overlap;
  const tail = said.slice(start).trim();
  if (tail === "") return false;
  if (overlap >= DOUBTFUL || !LETTERS.test(tail)) return true;
  // From the beginning of a word: models like to say the whole of one that was cut.
  return !isLetter(said[start - 1]) || !isLetter(said[start]);
}

/** The same beginning as the answer's: all of what was said, or so much of it that it is no chance. */
function beginsAgain(text: string, said: string): boolean {
  const words = said.trim();
  const again = text.trimStart();
  if (words === "" || again === "") return false;
  if (again.startsWith(words)) return true;
  const most = Math.min(words.length, again.length, CERTAIN);
  return most === CERTAIN && words.startsWith(again.slice(0, CERTAIN));
}
