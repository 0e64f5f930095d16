import type { Seed } from "../seed.ts";
import type { Span } from "./plan.ts";
import { lastUserText, type Prompt, type PromptPart } from "./prompt.ts";
import type { SearchResult } from "./search-results.ts";

const QUOTE_CHARACTERS = 160;
const HUGE_CHARACTERS = 2_000_000;

/** English with characters of two, three and four bytes, so that every reader of UTF-8 is tested. */
const CLOSINGS = [
  "If the é in café and the ï in naïve look right, so does your encoding.",
  "“Curly quotes”, an ellipsis … and an em dash — all of them arrived.",
  "This answer cost €0, £0 or ¥0: a simulator is free in every currency.",
  "Three roads meet here 🛣️🚦🙂 and each of them works.",
  "It is 21 °C in here ± ½ °C, which is quite warm enough for a simulator 🌡️.",
  "Plain words only, this time.",
] as const;

export function shorten(text: string, max = QUOTE_CHARACTERS): string {
  const characters = [...text.replace(/\s+/g, " ").trim()];
  return characters.length <= max ? characters.join("") : `${characters.slice(0, max).join("")}…`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function mediaOf(parts: readonly PromptPart[]): string[] {
  return parts.flatMap((part) => {
    if (part.type === "media") return [part.media.description];
    return part.type === "result" ? part.media.map((media) => media.description) : [];
  });
}

function inventory(prompt: Prompt): string {
  const things = [plural(prompt.turns.length, "turn")];
  const system = prompt.system.map((block) => block.text).join("\n");
  if (system !== "") things.push(`a system prompt of ${plural([...system].length, "character")}`);
  if (prompt.tools.length > 0) things.push(plural(prompt.tools.length, "tool"));
  return things.join(", ");
}

/** The answer in plain text: who speaks, what arrived, and a closing line. */
export function standardAnswer(prompt: Prompt, seed: Seed): string {
  const said = lastUserText(prompt);
  const sentences = ["This is Trivium's simulator speaking, not a model."];
  sentences.push(said === "" ? "Your last turn contains no text." : `You wrote: “${shorten(said)}”.`);
  sentences.push(`The request holds ${inventory(prompt)}.`);
  const media = prompt.turns.flatMap((turn) => mediaOf(turn.parts));
  if (media.length > 0) sentences.push(`With it came ${media.map((one) => `[${one}]`).join(" and ")}.`);
  sentences.push(seed.pick("closing", CLOSINGS));
  return sentences.join(" ");
}

/** The answer after tools have run: their results, quoted. */
export function toolResultAnswer(prompt: Prompt, seed: Seed): string {
  const parts = prompt.turns.at(-1)?.parts ?? [];
  const quotes = parts.flatMap((part) => {
    if (part.type !== "result") return [];
    const media = part.media.map((one) => ` [${one.description}]`).join("");
    return [`${part.name} ${part.failed ? "failed with" : "answered"} “${shorten(part.text)}”${media}`];
  });
  return `This is Trivium's simulator speaking, not a model. The tools have run: ${quotes.join("; ")}. ${seed.pick("closing", CLOSINGS)}`;
}

export function searchAnswer(results: readonly SearchResult[]): Span[] {
  const spans: Span[] = [{ text: "This is Trivium's simulator; nothing was really searched. " }];
  for (const result of results) spans.push({ text: result.quote, source: result }, { text: " " });
  return spans;
}

export function thinkingText(prompt: Prompt, seed: Seed): string {
  const said = shorten(lastUserText(prompt), 60);
  const doubt = seed.pick("doubt", [
    "A simulator does not think, but it can show where thinking would stand.",
    "Nothing is weighed here; these words only take the place of thoughts 🤔.",
    "First the shape of the request, then the shape of the answer — that is all.",
  ]);
  return `The caller says “${said}”. ${doubt} The request holds ${inventory(prompt)}.`;
}

export function refusalText(): string {
  return "This is Trivium's simulator, and this model of it declines every request.";
}

export function hugeAnswer(): string {
  const line = "This is Trivium's simulator, and this model of it talks a great deal … and then some more. ";
  return line.repeat(Math.ceil(HUGE_CHARACTERS / line.length));
}
