import type { JsonObject } from "../../../json.ts";
import { mergeTurns, type Prompt, type PromptPart, type Turn } from "../../../text/prompt.ts";
import { countTokens } from "../../../text/tokens.ts";

/** Tokens by what they were made from. */
export interface ModalityTokens {
  TEXT: number;
  AUDIO: number;
  IMAGE: number;
}

/** A second of sound. */
const TOKENS_PER_SECOND = 25;
/** Enough for a session of an hour, and a bound for what it keeps. */
const MAX_ENTRIES = 4_000;

export const soundTokens = (seconds: number): number => Math.ceil(seconds * TOKENS_PER_SECOND);

function tokensOf(part: PromptPart): ModalityTokens {
  const none = { TEXT: 0, AUDIO: 0, IMAGE: 0 };
  switch (part.type) {
    case "media":
      return part.media.modality === "AUDIO"
        ? { ...none, AUDIO: part.media.tokens }
        : { ...none, IMAGE: part.media.tokens };
    case "call":
      return { ...none, TEXT: countTokens(`${part.name} ${JSON.stringify(part.input)}`) };
    case "result":
    case "text":
    case "past":
      return { ...none, TEXT: countTokens(part.text) };
  }
}

interface Entry {
  role: Turn["role"];
  part: PromptPart;
  tokens: ModalityTokens;
}

/** What was said so far, with what it counts. */
export class History {
  readonly #entries: Entry[];

  constructor(entries: readonly Entry[] = []) {
    this.#entries = [...entries];
  }

  copy(): History {
    return new History(this.#entries);
  }

  get turns(): Turn[] {
    return mergeTurns(this.#entries.map(({ role, part }) => ({ role, parts: [part] })));
  }

  /** The text that was said or written last. */
  get lastWords(): string {
    const part = this.#entries.at(-1)?.part;
    return part?.type === "text" ? part.text : "";
  }

  /** Adds a part. Words that were spoken count as sound. */
  add(role: Turn["role"], part: PromptPart, tokens: ModalityTokens | undefined = tokensOf(part)): void {
    this.#entries.push({ role, part, tokens });
    if (this.#entries.length > MAX_ENTRIES) this.#entries.splice(0, this.#entries.length - MAX_ENTRIES);
  }

  /** What a prompt of all of it counts. */
  tokens(system: Prompt["system"], tools: Prompt["tools"]): ModalityTokens {
    const declared = tools.map(
      ({ name, description, schema }) => `${name} ${description} ${JSON.stringify(schema ?? {})}`,
    );
    const total = { TEXT: 0, AUDIO: 0, IMAGE: 0 };
    for (const text of [...system.map(({ text }) => text), ...declared]) total.TEXT += countTokens(text);
    for (const { tokens } of this.#entries) {
      total.TEXT += tokens.TEXT;
      total.AUDIO += tokens.AUDIO;
      total.IMAGE += tokens.IMAGE;
    }
    return total;
  }
}

/** The counts of a list of details, without those that are zero. */
export function detailsOf(tokens: ModalityTokens): JsonObject[] {
  return Object.entries(tokens).flatMap(([modality, tokenCount]) =>
    tokenCount === 0 ? [] : [{ modality, tokenCount }],
  );
}

export const sumOf = ({ TEXT, AUDIO, IMAGE }: ModalityTokens): number => TEXT + AUDIO + IMAGE;
