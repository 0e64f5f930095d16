import type { Json, JsonObject } from "../../../json.ts";
import { compose, type Unheard } from "../../../live/compose.ts";
import { faultsOf, type LiveFaults } from "../../../live/faults.ts";
import type { LiveWire } from "../../../live/live-host.ts";
import { speechParts } from "../../../live/speech-parts.ts";
import { Seed } from "../../../seed.ts";
import type { Prompt } from "../../../text/prompt.ts";
import { countTokens, fragments } from "../../../text/tokens.ts";
import { SPEECH_RATE } from "../../../voice/tones.ts";
import { detailsOf, type History, type ModalityTokens, soundTokens, sumOf } from "./history.ts";
import { INTERNAL } from "./refusal.ts";
import type { Setup } from "./setup.ts";

/** What a turn of the model needs of its session. */
export interface TurnSession {
  readonly wire: LiveWire;
  readonly setup: Setup;
  readonly history: History;
  send(message: JsonObject): void;
  makeId(prefix: string): string;
  wait(ms: number, signal: AbortSignal): Promise<void>;
  readonly partDelayMs: number;
  /** From now on nothing is answered. */
  fallSilent(): void;
  close(code: number, reason: string): void;
  called(id: string, name: string): void;
  ended(turn: LiveTurn): void;
}

const LATE_MS = 3_000;
/** Longer than any session. */
const FOREVER_MS = 3_600_000;
const PARTS_PER_SECOND = 4;
const BYTES_PER_SECOND = SPEECH_RATE * 2;
const TOKENS_PER_PART = 4;
const SLOW_TEXT_MS = 100;
const GOING_AWAY = 1001;

const FAILURES: readonly [fault: "fails" | "broken" | "busy" | "overloaded", reason: string][] = [
  ["fails", "Internal error encountered."],
  ["broken", "Internal error encountered."],
  ["busy", "You exceeded your current quota, please check your plan and billing details."],
  ["overloaded", "The service is currently unavailable."],
];

/** One turn of the model. */
export class LiveTurn {
  readonly #session: TurnSession;
  readonly #faults: LiveFaults;
  readonly #prompt: Prompt;
  readonly #input: ModalityTokens;
  readonly #unheard: Unheard | undefined;
  readonly #left = new AbortController();
  #output: ModalityTokens = { TEXT: 0, AUDIO: 0, IMAGE: 0 };
  #said = "";
  #isOver = false;

  constructor(session: TurnSession, unheard: Unheard | undefined) {
    const { setup, history } = session;
    this.#session = session;
    this.#unheard = unheard;
    this.#input = history.tokens(setup.system, setup.tools);
    const { turns } = history;
    this.#prompt = {
      system: setup.system,
      turns,
      tools: setup.tools,
      choice: { mode: "auto" },
      parallel: true,
      format: { type: "text" },
      stop: [],
      thinking: "off",
      search: false,
      storedTokens: 0,
    };
    const instructions = setup.system.map(({ text }) => text).join(" ");
    this.#faults = faultsOf(`${history.lastWords} ${instructions}`);
  }

  async run(): Promise<void> {
    const session = this.#session;
    if (this.#faults.has("late")) await this.#wait(LATE_MS);
    if (this.#isOver) return;
    const failure = FAILURES.find(([fault]) => this.#faults.has(fault));
    if (failure !== undefined) return session.close(INTERNAL, failure[1]);
    if (this.#faults.has("blocked")) return this.#complete({ turnCompleteReason: "PROHIBITED_INPUT_CONTENT" });
    const seed = new Seed(JSON.stringify([this.#prompt.turns, this.#prompt.system]));
    const composed = compose(this.#prompt, seed, this.#faults, this.#unheard);
    if (composed.type === "calls") return this.#call(composed.calls);
    await (session.setup.modality === "AUDIO" ? this.#speak(composed.text) : this.#write(composed.text));
    if (this.#isOver) return;
    session.send({ serverContent: { generationComplete: true } });
    this.#complete({});
    if (this.#faults.has("go-away")) session.close(GOING_AWAY, "The session has reached its maximum duration.");
  }

  /** The user speaks: what was generated until now is all. */
  interrupt(): void {
    if (this.#isOver) return;
    this.#session.send({ serverContent: { interrupted: true } });
    this.#complete({});
  }

  /** The connection is closed. */
  leave(): void {
    this.#isOver = true;
    this.#left.abort();
  }

  async #speak(text: string): Promise<void> {
    const { setup } = this.#session;
    const partBytes = BYTES_PER_SECOND / PARTS_PER_SECOND;
    const parts = speechParts(text, {
      voice: setup.voice,
      speed: 1,
      encode: (samples) => new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength),
      partBytes: this.#faults.has("odd-audio") ? partBytes - 1 : partBytes,
    });
    let bytes = 0;
    await this.#each(parts, this.#faults.has("slow") ? 1_000 / PARTS_PER_SECOND : undefined, (one) => {
      const tokens = soundTokens((bytes + one.bytes.length) / BYTES_PER_SECOND);
      if (tokens > setup.maxOutputTokens) return false;
      bytes += one.bytes.length;
      this.#output.AUDIO = tokens;
      this.#said += one.words;
      const data = Buffer.from(one.bytes).toString("base64");
      this.#sendPart({ inlineData: { mimeType: `audio/pcm;rate=${SPEECH_RATE}`, data } });
      if (setup.outputTranscription && one.words !== "")
        this.#session.send({ serverContent: { outputTranscription: { text: one.words } } });
      return true;
    });
  }

  async #write(text: string): Promise<void> {
    const { setup } = this.#session;
    const delay = this.#faults.has("slow") ? SLOW_TEXT_MS : undefined;
    await this.#each(fragments(text, TOKENS_PER_PART), delay, ({ text: part, tokens }) => {
      if (this.#output.TEXT + tokens > setup.maxOutputTokens) return false;
      this.#output.TEXT += tokens;
      this.#said += part;
      this.#sendPart({ text: part });
      return true;
    });
  }

  #sendPart(part: JsonObject): void {
    this.#session.send({ serverContent: { modelTurn: { role: "model", parts: [part] } } });
  }

  /** The turn goes on with the results. */
  #call(calls: readonly { name: string; input: Json }[]): void {
    const { history } = this.#session;
    const functionCalls = calls.map(({ name, input }) => {
      const id = this.#session.makeId("function-call-");
      history.add("assistant", { type: "call", id, name, input });
      this.#output.TEXT += countTokens(`${name} ${JSON.stringify(input)}`);
      this.#session.called(id, name);
      return { id, name, args: input };
    });
    this.#isOver = true;
    this.#session.ended(this);
    this.#session.send({ toolCall: { functionCalls }, ...this.#usage() });
  }

  async #each<Part>(parts: readonly Part[], delayMs: number | undefined, send: (part: Part) => boolean): Promise<void> {
    const middle = Math.max(1, Math.floor(parts.length / 2));
    for (const [index, part] of parts.entries()) {
      await this.#wait(delayMs ?? this.#session.partDelayMs);
      if (this.#isOver || !send(part)) return;
      if (index === middle - 1) await this.#goWrong();
      if (this.#isOver) return;
    }
  }

  async #goWrong(): Promise<void> {
    const session = this.#session;
    if (this.#faults.has("garbage")) session.wire.send('{"serverContent":{"modelTurn":');
    if (this.#faults.has("unknown-event")) session.send({ simulatedProgress: { percent: 50 } });
    if (this.#faults.has("go-away")) session.send({ goAway: { timeLeft: "2s" } });
    if (this.#faults.has("cut")) session.wire.drop();
    else if (this.#faults.has("close"))
      session.close(this.#faults.closeCode, "Simulated: the host closes the connection.");
    else if (this.#faults.has("deaf")) session.fallSilent();
    else if (this.#faults.has("silent")) await this.#wait(FOREVER_MS);
  }

  #wait(ms: number): Promise<void> {
    return this.#session.wait(ms, this.#left.signal);
  }

  #complete(why: JsonObject): void {
    this.#isOver = true;
    if (this.#said !== "") {
      const tokens = this.#output.AUDIO > 0 ? { TEXT: 0, AUDIO: this.#output.AUDIO, IMAGE: 0 } : undefined;
      this.#session.history.add("assistant", { type: "text", text: this.#said }, tokens);
    }
    this.#session.send({ serverContent: { turnComplete: true, ...why }, ...this.#usage() });
    this.#left.abort();
    this.#session.ended(this);
  }

  #usage(): JsonObject {
    if (this.#faults.has("no-usage")) return {};
    if (this.#faults.has("zero-usage"))
      return { usageMetadata: { promptTokenCount: 0, responseTokenCount: 0, totalTokenCount: 0 } };
    // Numbers that cannot be.
    if (this.#faults.has("wrong-usage"))
      return { usageMetadata: { promptTokenCount: -5, responseTokenCount: "many", totalTokenCount: -1 } };
    const [input, output] = [sumOf(this.#input), sumOf(this.#output)];
    return {
      usageMetadata: {
        promptTokenCount: input,
        responseTokenCount: output,
        totalTokenCount: input + output,
        promptTokensDetails: detailsOf(this.#input),
        responseTokensDetails: detailsOf(this.#output),
      },
    };
  }
}
