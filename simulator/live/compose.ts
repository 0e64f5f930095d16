import type { Seed } from "../seed.ts";
import { shorten } from "../text/answer-text.ts";
import type { Segment } from "../text/plan.ts";
import { type Prompt, textOf } from "../text/prompt.ts";
import { planCalls } from "../text/tool-calls.ts";
import type { LiveFaults } from "./faults.ts";

type Call = Segment & { type: "call" };

/** What a turn is answered with. */
export type Composed = { type: "calls"; calls: Call[] } | { type: "words"; text: string };

/** About a minute of sound. */
const LONG_CHARACTERS = 1_000;
const FILLER = " This answer is long, so that you can interrupt it.";

/** A turn that was said: how long it was, and whether it was understood. */
export interface Unheard {
  seconds: number;
}

/** Short, because it may be spoken: a word takes about a third of a second. */
function wordsFor(prompt: Prompt, unheard: Unheard | undefined): string {
  const last = prompt.turns.at(-1);
  const results = (last?.role === "user" ? last.parts : []).flatMap((part) =>
    part.type === "result" ? [`${part.name} answered “${shorten(part.text, 80)}”`] : [],
  );
  const media = (last?.parts ?? []).flatMap((part) => (part.type === "media" ? [part.media.description] : []));
  const said = last?.role === "user" ? textOf(last) : "";
  const sentences = ["This is Trivium's simulator."];
  if (results.length > 0) sentences.push(`${results.join("; ")}.`);
  else if (said !== "") sentences.push(`You said: “${shorten(said, 120)}”.`);
  else if (unheard !== undefined)
    sentences.push(`It heard ${unheard.seconds.toFixed(1)} seconds of sound, and understands only its own voice.`);
  else if (media.length === 0) sentences.push("Your turn contains no words.");
  if (media.length > 0) sentences.push(`With it came ${media.map((one) => `[${one}]`).join(" and ")}.`);
  const count = prompt.turns.filter(({ role }) => role === "user").length;
  if (count > 1) sentences.push(`This is turn ${count}.`);
  return sentences.join(" ");
}

/** Decides the answer to the last turn of the prompt. */
export function compose(prompt: Prompt, seed: Seed, faults: LiveFaults, unheard: Unheard | undefined): Composed {
  const calls = planCalls(prompt, seed, false);
  if (calls.length > 0) return { type: "calls", calls };
  const text = wordsFor(prompt, unheard);
  return { type: "words", text: faults.has("long") ? text + longFiller(text.length) : text };
}

const longFiller = (length: number): string => FILLER.repeat(Math.ceil((LONG_CHARACTERS - length) / FILLER.length));
