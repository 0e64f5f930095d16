/** A repetition of this length is no coincidence. */
const CERTAIN = 32;
/** An overlap of this length inside a word is hardly a coincidence either. */
const DOUBTFUL = 4;
/** How much of the beginning and the end of the response is searched for repetitions. */
const WINDOW = 4096;
/** The longest continuation that is held. */
const MAX_HELD = 64 * 1024;

const LETTERS = /[\p{L}\p{N}]/u;
const isLetter = (character: string | undefined): boolean => character !== undefined && LETTERS.test(character);

/** The verdict on the text of a continuation. */
export type Judgement =
  /** More text is needed. */
  | { is: "open" }
  /** It continues the text after its first `skip` characters, which repeat what was sent. */
  | { is: "continuation"; skip: number }
  | { is: "refused"; reason: string };

const OPEN: Judgement = { is: "open" };
const refused = (reason: string): Judgement => ({ is: "refused", reason });

/** The response that broke off. */
export interface BrokenText {
  /** All text that was sent. */
  said: string;
  /** How much of it the provider received: without the white space at its end, which hosts reject and models write again. */
  given: number;
}

/**
 * Decides whether a text continues one that broke off. It is accepted unchanged, without white space that was sent but not given to
 * the provider, or without a certain repetition at its beginning: at least 32 characters from the start of a word, found nowhere
 * else in a response that was cut inside a sentence. A shorter repetition or a fresh start is rejected: it may be right, but that
 * cannot be known (H17).
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

/** Whether more text could still reveal a repetition. */
function mayRepeat(text: string, rest: string | undefined, said: string, space: string): boolean {
  if (text === "" || (rest === undefined && space.startsWith(text))) return true;
  if (said.startsWith(text)) return true;
  const end = said.slice(-WINDOW);
  return end.includes(text) || (rest !== undefined && space !== "" && end.includes(rest));
}

/** The longest prefix of the text that ends the text so far. */
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
  // After a line or sentence, a text may well repeat itself.
  const insideSentence = /[\p{L}\p{N},(]$/u.test(tail);
  return wholeWord && insideSentence && LETTERS.test(tail) && said.indexOf(tail) === start;
}

/** Repeated words or punctuation, or most of a word: rarely what a model means, and not for the gateway to decide. */
function isDoubtful(said: string, overlap: number): boolean {
  const start = said.length - overlap;
  const tail = said.slice(start).trim();
  if (tail === "") return false;
  if (overlap >= DOUBTFUL || !LETTERS.test(tail)) return true;
  // From the start of a word: models tend to repeat a whole word that was cut.
  return !isLetter(said[start - 1]) || !isLetter(said[start]);
}

/** The text begins like the response: with all of it, or with too much of it to be a coincidence. */
function beginsAgain(text: string, said: string): boolean {
  const words = said.trim();
  const again = text.trimStart();
  if (words === "" || again === "") return false;
  if (again.startsWith(words)) return true;
  const most = Math.min(words.length, again.length, CERTAIN);
  return most === CERTAIN && words.startsWith(again.slice(0, CERTAIN));
}
