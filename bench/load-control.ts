import { postJson } from "./post-json.ts";
import type { Pair } from "./translated-pairs.ts";

export interface UnaryJob {
  url: string;
  body: "small" | "large";
  requests: number;
  atOnce: number;
}

/** The large request, or a small one, from a client of the first protocol to a host of the second. */
export interface TranslatedJob {
  url: string;
  pair: Pair;
  requests: number;
  atOnce: number;
}

/** A call of the chat protocol as any gateway takes it. */
export interface PlainJob {
  url: string;
  headers?: Readonly<Record<string, string>> | undefined;
  /** `translated` is the large request to a host of messages. */
  what: "small" | "large" | "translated" | "stream";
  requests: number;
  atOnce: number;
}

export interface StreamJob {
  url: string;
  /** Chat where absent. */
  dialect?: "chat" | "responses";
  streams: number;
  atOnce: number;
  contentChunks: number;
}

/** Streams that are begun at once. */
export interface StreamsJob {
  url: string;
  streams: number;
  /** Native chat where absent. */
  pair?: Pair | undefined;
}

export interface FirstByteJob {
  targets: string[];
  requests: number;
  stream: boolean;
}

/** Tells the process of `load.ts` what to do. Every method rejects when an answer was wrong. */
export class LoadControl {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  unary = (job: UnaryJob): Promise<void> => postJson(`${this.#url}/unary`, job);
  plain = (job: PlainJob): Promise<void> => postJson(`${this.#url}/plain`, job);
  /** The small request, to which the host sends one of its long answers. */
  longAnswer = (job: TranslatedJob): Promise<void> => postJson(`${this.#url}/longAnswer`, job);
  translated = (job: TranslatedJob): Promise<void> => postJson(`${this.#url}/translated`, job);
  stream = (job: StreamJob): Promise<void> => postJson(`${this.#url}/stream`, job);
  /** Resolves when all the streams are open and have brought content. */
  hold = (job: StreamsJob): Promise<void> => postJson(`${this.#url}/hold`, job);
  /** Events that the held streams have brought so far. */
  held = (): Promise<number> => postJson(`${this.#url}/held`, {});
  /** Resolves when the held streams have ended properly, with the number of their events. */
  ended = (): Promise<number> => postJson(`${this.#url}/ended`, {});
  translatedStream = (job: TranslatedJob): Promise<void> => postJson(`${this.#url}/translatedStream`, job);
  /** Milliseconds to the first content of streams that start at the same time. */
  firstContents = (job: StreamsJob): Promise<number[]> => postJson(`${this.#url}/firstContents`, job);
  /** Milliseconds of every call, a list per target. */
  firstBytes = (job: FirstByteJob): Promise<number[][]> => postJson(`${this.#url}/firstBytes`, job);
}
