import type { LiveDialectName } from "../../canon/dialect-name.ts";
import type { LiveAudioFormat } from "../../canon/live.ts";
import { completionTokens, promptTokens, type Usage } from "../../canon/usage.ts";
import { tokensOfCharacters } from "../../dialects/reading/estimate-tokens.ts";
import { secondsOf, tokensOfAudio } from "./live-audio.ts";

/** What the model will read in the next turn, as far as the gateway has seen it. Every turn reads the whole conversation again. */
export class LiveContext {
  readonly #dialect: LiveDialectName;
  readonly #most: number;
  /** What the last turn read and said. */
  #before = 0;
  /** Since then. */
  #characters = 0;
  #audioTokens = 0;
  /** Of speech that has not become an item. */
  #speechSeconds = 0;
  /** Instructions and tools. */
  #settings = 0;

  constructor(dialect: LiveDialectName, contextLength: number | undefined) {
    this.#dialect = dialect;
    this.#most = contextLength ?? Number.POSITIVE_INFINITY;
  }

  /** The settings of the session have this many characters. */
  set settingsCharacters(characters: number) {
    this.#settings = Math.max(this.#settings, characters);
  }

  addText(characters: number): void {
    this.#characters += characters;
  }

  addAudio(bytes: number, format: LiveAudioFormat): void {
    const seconds = secondsOf(bytes, format);
    this.#speechSeconds += seconds;
    this.#audioTokens += tokensOfAudio(this.#dialect, "input", seconds);
  }

  /** The speech since the last time, which has become an item or was thrown away. */
  takeSpeech(): number {
    const seconds = this.#speechSeconds;
    this.#speechSeconds = 0;
    return seconds;
  }

  /** A turn is over that used this. */
  settle(usage: Usage): void {
    const read = promptTokens(usage) + completionTokens(usage);
    this.#before = Math.max(read, this.#before);
    if (read === 0) return;
    this.#characters = 0;
    this.#audioTokens = 0;
  }

  /** The prompt of a turn that begins now. */
  get prompt(): Pick<Usage, "input" | "audioInput"> {
    const audioInput = Math.min(this.#audioTokens, this.#most);
    const fresh = this.#before === 0 ? this.#settings : 0;
    const input = Math.min(this.#before + tokensOfCharacters(this.#characters + fresh), this.#most - audioInput);
    return audioInput === 0 ? { input } : { input, audioInput };
  }
}
