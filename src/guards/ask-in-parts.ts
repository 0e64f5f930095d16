import type { HookText } from "./text-hook.ts";

/** What was asked does not take these texts: they are too many, too long, or not what it reads. */
export class RefusedTextError extends Error {}

/** A shorter text is not cut. */
const SHORTEST = 2_000;
/** What both parts of a text have, so that nothing is cut in two. */
const OVERLAP = 200;
/** At most so many questions for one. */
const MAX_QUESTIONS = 32;

/** A text, and the place of the whole that it belongs to. */
type Part = HookText & { readonly place: number };

/**
 * Asks about texts. If they are refused, asks about halves of them, until each part is read or turns out to be unreadable: it then has
 * no answer.
 */
export async function askInParts<Answer>(
  texts: readonly HookText[],
  ask: (texts: readonly HookText[]) => Promise<readonly Answer[]>,
): Promise<{ place: number; answer: Answer | undefined }[]> {
  let questions = 0;
  const askAll: (parts: readonly Part[]) => ReturnType<typeof askInParts<Answer>> = async (parts) => {
    const unread = () => parts.map(({ place }) => ({ place, answer: undefined }));
    if (++questions > MAX_QUESTIONS) return unread();
    try {
      const answers = await ask(parts);
      return parts.map(({ place }, index) => ({ place, answer: answers[index] }));
    } catch (thrown) {
      if (!(thrown instanceof RefusedTextError)) throw thrown;
      const halves = halvesOf(parts);
      if (halves === undefined) return unread();
      return [...(await askAll(halves[0])), ...(await askAll(halves[1]))];
    }
  };
  return await askAll(texts.map((text, place) => ({ ...text, place })));
}

function halvesOf(parts: readonly Part[]): [Part[], Part[]] | undefined {
  const [only] = parts;
  if (only === undefined) return undefined;
  const middle = Math.ceil(parts.length / 2);
  if (parts.length > 1) return [parts.slice(0, middle), parts.slice(middle)];
  const { text } = only;
  if (text.length <= SHORTEST) return undefined;
  const cut = Math.floor(text.length / 2);
  return [[{ ...only, text: text.slice(0, cut + OVERLAP) }], [{ ...only, text: text.slice(cut - OVERLAP) }]];
}
