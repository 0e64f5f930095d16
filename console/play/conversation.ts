import type { CatalogueModel, ReceiptDetail } from "../api/types.ts";
import type { Attached, PastTurn, PlaySettings } from "./request.ts";
import type { Progress } from "./send.ts";

export interface Answer {
  model: string;
  progress: Progress;
  receipt: ReceiptDetail | undefined;
  /** Of the input, in characters, for the cost while the call runs. */
  sent: number;
}

/** A prompt, and the answer of each column. */
export interface Turn {
  id: number;
  /** Empty if the body was edited, so that nobody knows what it asks. */
  prompt: string;
  attached: readonly Attached[];
  answers: Readonly<Record<string, Answer | undefined>>;
}

/** The conversation as one column's model knows it. */
export const pastOf = (turns: readonly Turn[], column: string): PastTurn[] =>
  turns.map(({ prompt, attached, answers }) => ({ prompt, attached, answer: answers[column]?.progress.text ?? "" }));

/** The turns with a new state of one answer. */
export const withAnswer = (turns: readonly Turn[], id: number, column: string, answer: Answer): readonly Turn[] =>
  turns.map((turn) => (turn.id === id ? { ...turn, answers: { ...turn.answers, [column]: answer } } : turn));

const USUAL_PROMPT = "Hello";

/** The settings for sample code: while the next prompt is not written, those of the last one, so that the code can be run. */
export function inCode<Settings extends Pick<PlaySettings, "prompt" | "attached" | "history">>(
  settings: Settings,
  turns: readonly Turn[],
): Settings {
  if (settings.prompt.trim() !== "") return settings;
  const at = turns.findLastIndex(({ prompt }) => prompt !== "");
  const { prompt, attached } = turns[at] ?? { prompt: USUAL_PROMPT, attached: settings.attached };
  return { ...settings, prompt, attached, history: at < 0 ? settings.history : settings.history.slice(0, at) };
}

const CHARACTERS_OF_TOKEN = 4;
const NANO = 1_000_000_000;

/** About what a call has cost so far, in nano-dollars, by its text at the first offer's price; undefined without a price. */
export function costSoFar(model: CatalogueModel | undefined, sent: number, received: number): number | undefined {
  const { prompt, completion } = model?.offers[0]?.prices ?? {};
  if (prompt?.unit !== "perMTokens" || completion?.unit !== "perMTokens") return undefined;
  const dollars = (sent * prompt.value + received * completion.value) / CHARACTERS_OF_TOKEN / 1_000_000;
  return Math.round(dollars * NANO);
}
