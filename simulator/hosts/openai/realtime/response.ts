import type { Json, JsonObject } from "../../../json.ts";
import { compose, type Unheard } from "../../../live/compose.ts";
import { faultsOf, type LiveFaults } from "../../../live/faults.ts";
import type { LiveWire } from "../../../live/live-host.ts";
import { speechParts } from "../../../live/speech-parts.ts";
import { Seed } from "../../../seed.ts";
import { type Prompt, textOf } from "../../../text/prompt.ts";
import { countTokens, fragments } from "../../../text/tokens.ts";
import { type Conversation, turnsOf } from "./conversation.ts";
import { audioTokens, type Item, type ItemAudio, showItem } from "./items.ts";
import { type AnswerSettings, readChoice } from "./session-settings.ts";
import { cachedUnits, type PromptUnit, unitsOf, usageOf } from "./usage.ts";

/** What a response needs of its session. */
export interface ResponseSession {
  readonly wire: LiveWire;
  readonly conversation: Conversation;
  send(type: string, fields: JsonObject): void;
  makeId(prefix: string): string;
  wait(ms: number, signal: AbortSignal): Promise<void>;
  readonly partDelayMs: number;
  /** The units of the last prompt that was sent to the model, which are cached. */
  lastUnits: readonly PromptUnit[];
  /** From now on nothing is answered. */
  fallSilent(): void;
  /** Closes the connection with a reason. */
  close(code: number, reason: string): void;
  ended(response: RealtimeResponse): void;
}

export interface ResponseRequest {
  settings: AnswerSettings;
  /** The prompt. */
  items: readonly Item[];
  /** Whether the answer becomes part of the conversation. */
  isInBand: boolean;
  metadata: Json;
}

type CancelReason = "client_cancelled" | "turn_detected";

const LATE_MS = 3_000;
/** Longer than any session. */
const FOREVER_MS = 3_600_000;
const PARTS_PER_SECOND = 4;
const TOKENS_PER_DELTA = 2;
const SLOW_TEXT_MS = 100;
const RATE_LIMITS = [
  { name: "requests", limit: 1_000, remaining: 999, reset_seconds: 0.06 },
  { name: "tokens", limit: 200_000, remaining: 199_000, reset_seconds: 0.3 },
];

/** The item that is being written, and where its parts are. */
interface Writing {
  item: Item;
  index: number;
  /** Sends what ends it. */
  end: () => void;
}

/** One response, from `response.created` to `response.done`. */
export class RealtimeResponse {
  readonly id: string;
  readonly isInBand: boolean;
  readonly #session: ResponseSession;
  readonly #request: ResponseRequest;
  readonly #faults: LiveFaults;
  readonly #prompt: Prompt;
  readonly #units: readonly PromptUnit[];
  readonly #cached: readonly PromptUnit[];
  readonly #left = new AbortController();
  readonly #output: Item[] = [];
  #spent = { text: 0, audio: 0 };
  #writing: Writing | undefined;
  #status = "in_progress";
  #details: JsonObject | null = null;

  constructor(session: ResponseSession, request: ResponseRequest) {
    const { settings, items } = request;
    this.#session = session;
    this.#request = request;
    this.isInBand = request.isInBand;
    this.id = session.makeId("resp");
    this.#units = unitsOf(settings.instructions, settings.tools, items);
    this.#cached = cachedUnits(this.#units, session.lastUnits);
    session.lastUnits = this.#units;
    const { system, turns } = turnsOf(items);
    this.#prompt = {
      system: [{ text: settings.instructions }, ...system],
      turns,
      tools: settings.tools,
      choice: readChoice(settings.toolChoice, settings.tools, "response"),
      parallel: true,
      format: { type: "text" },
      stop: [],
      thinking: "off",
      search: false,
      storedTokens: 0,
    };
    const last = turnsOf(items.slice(-1)).turns.at(-1);
    this.#faults = faultsOf(`${textOf(last)} ${settings.instructions}`);
  }

  async run(): Promise<void> {
    const session = this.#session;
    session.send("response.created", { response: this.#show() });
    session.send("rate_limits.updated", { rate_limits: RATE_LIMITS });
    if (this.#faults.has("late")) await this.#wait(LATE_MS);
    const failure = this.#failure();
    if (this.#isOver) return;
    if (failure !== undefined) return this.#finish("failed", failure);
    if (this.#faults.has("blocked")) return this.#finish("incomplete", { reason: "content_filter" });
    await this.#answer();
    if (this.#isOver) return;
    this.#finish("completed", undefined);
    if (this.#faults.has("go-away")) this.#expire();
  }

  /** Ends it at once. */
  cancel(reason: CancelReason): void {
    if (!this.#isOver) this.#finish("cancelled", { reason });
  }

  /** The connection is closed. */
  leave(): void {
    this.#status = "left";
    this.#left.abort();
  }

  get #isOver(): boolean {
    return this.#status !== "in_progress";
  }

  async #answer(): Promise<void> {
    const seed = new Seed(JSON.stringify(this.#units.map(({ key }) => key)));
    const composed = compose(this.#prompt, seed, this.#faults, this.#unheard());
    if (composed.type === "words") {
      await (this.#request.settings.modality === "audio" ? this.#speak(composed.text) : this.#write(composed.text));
      return;
    }
    for (const { name, input } of composed.calls) {
      if (!this.#isOver) await this.#call(name, typeof input === "string" ? input : JSON.stringify(input));
    }
  }

  async #speak(text: string): Promise<void> {
    const { outputFormat, voice, speed } = this.#request.settings;
    const partBytes = (outputFormat.rate * outputFormat.bytesPerSample) / PARTS_PER_SECOND;
    const parts = speechParts(text, {
      voice: JSON.stringify(voice),
      speed,
      encode: outputFormat.encode,
      partBytes: this.#faults.has("odd-audio") ? partBytes - 1 : partBytes,
    });
    const part: ItemAudio = { type: "audio", ms: 0, tokens: 0, words: "", transcript: "", bytes: new Uint8Array() };
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    const place = this.#beginMessage({ type: "audio", transcript: "" }, (at) => {
      part.bytes = Buffer.concat(chunks);
      this.#session.send("response.output_audio.done", at);
      this.#session.send("response.output_audio_transcript.done", { ...at, transcript: part.transcript });
      return { type: "audio", transcript: part.transcript };
    });
    place.parts.push(part);
    await this.#each(parts, this.#faults.has("slow") ? 1_000 / PARTS_PER_SECOND : undefined, (one) => {
      const words = `${part.words ?? ""}${one.words}`;
      const ms = Math.round(((bytes + one.bytes.length) * 1_000) / (outputFormat.rate * outputFormat.bytesPerSample));
      if (!this.#mayWrite(countTokens(words), audioTokens(ms, "assistant"))) return;
      if (one.words !== "")
        this.#session.send("response.output_audio_transcript.delta", { ...place.at, delta: one.words });
      this.#session.send("response.output_audio.delta", {
        ...place.at,
        delta: Buffer.from(one.bytes).toString("base64"),
      });
      chunks.push(one.bytes);
      bytes += one.bytes.length;
      Object.assign(part, { words, transcript: words, ms, tokens: audioTokens(ms, "assistant") });
    });
    this.#endItem("completed");
  }

  async #write(text: string): Promise<void> {
    const part = { type: "text" as const, text: "" };
    const place = this.#beginMessage({ type: "text", text: "" }, (at) => {
      this.#session.send("response.output_text.done", { ...at, text: part.text });
      return { type: "text", text: part.text };
    });
    place.parts.push(part);
    const delay = this.#faults.has("slow") ? SLOW_TEXT_MS : undefined;
    await this.#each(fragments(text, TOKENS_PER_DELTA), delay, ({ text: delta }) => {
      if (!this.#mayWrite(countTokens(part.text + delta), 0)) return;
      part.text += delta;
      this.#session.send("response.output_text.delta", { ...place.at, delta });
    });
    this.#endItem("completed");
  }

  async #call(name: string, text: string): Promise<void> {
    const session = this.#session;
    const before = this.#spent.text;
    const callId = session.makeId("call");
    const item: Item = {
      id: session.makeId("item"),
      status: "in_progress",
      type: "function_call",
      name,
      callId,
      arguments: "",
    };
    const at = this.#beginItem(item, () => {
      session.send("response.function_call_arguments.done", {
        ...at,
        call_id: callId,
        name,
        arguments: item.arguments,
      });
    });
    await this.#each(fragments(text, TOKENS_PER_DELTA), undefined, ({ text: delta }) => {
      if (!this.#mayWrite(before + countTokens(`${name} ${item.arguments}${delta}`), 0)) return;
      item.arguments += delta;
      session.send("response.function_call_arguments.delta", { ...at, call_id: callId, delta });
    });
    this.#endItem("completed");
  }

  /** Whether the answer may be this long. If not, it ends here. */
  #mayWrite(text: number, audio: number): boolean {
    const { maxOutputTokens } = this.#request.settings;
    if (maxOutputTokens !== "inf" && text + audio > maxOutputTokens) {
      this.#finish("incomplete", { reason: "max_output_tokens" });
      return false;
    }
    this.#spent = { text, audio };
    return true;
  }

  /** Sends the parts of an answer, and plays what goes wrong in the middle. */
  async #each<Part>(parts: readonly Part[], delayMs: number | undefined, send: (part: Part) => void): Promise<void> {
    const middle = Math.max(1, Math.floor(parts.length / 2));
    for (const [index, part] of parts.entries()) {
      await this.#wait(delayMs ?? this.#session.partDelayMs);
      if (this.#isOver) return;
      send(part);
      if (index === middle - 1 && !this.#isOver) await this.#goWrong();
      if (this.#isOver) return;
    }
  }

  async #goWrong(): Promise<void> {
    const session = this.#session;
    if (this.#faults.has("garbage")) session.wire.send('{"type":"response.output_text.delta","delta":');
    if (this.#faults.has("unknown-event"))
      session.send("response.simulated.progress", { response_id: this.id, percent: 50 });
    if (this.#faults.has("cut")) session.wire.drop();
    else if (this.#faults.has("close"))
      session.close(this.#faults.closeCode, "Simulated: the host closes the connection.");
    else if (this.#faults.has("deaf")) session.fallSilent();
    else if (this.#faults.has("silent")) await this.#wait(FOREVER_MS);
  }

  #failure(): JsonObject | undefined {
    const failed = (type: string, code: string, message: string): JsonObject => ({ error: { type, code, message } });
    if (this.#faults.has("busy")) {
      const message = "Rate limit reached for this model on tokens per min. Please try again in 1s.";
      return failed("tokens", "rate_limit_exceeded", message);
    }
    if (this.#faults.has("overloaded"))
      return failed("server_error", "overloaded", "Simulated: the engine is currently overloaded.");
    if (!this.#faults.has("fails") && !this.#faults.has("broken")) return undefined;
    return failed("server_error", "server_error", "Simulated: the server had an error while processing your request.");
  }

  #expire(): void {
    const message = "Your session hit the maximum duration of 60 minutes.";
    const error = { type: "invalid_request_error", code: "session_expired", message, param: null, event_id: null };
    this.#session.send("error", { error });
    this.#session.close(1001, "session_expired");
  }

  #unheard(): Unheard | undefined {
    const last = this.#request.items.at(-1);
    const audio = last?.type === "message" ? last.parts.find((part) => part.type === "audio") : undefined;
    return audio?.type === "audio" && audio.words === undefined ? { seconds: audio.ms / 1_000 } : undefined;
  }

  #wait(ms: number): Promise<void> {
    return this.#session.wait(ms, this.#left.signal);
  }

  /** Begins an item of the output. Returns the fields of events about it. */
  #beginItem(item: Item, end: () => void): JsonObject {
    const index = this.#output.length;
    this.#output.push(item);
    this.#session.send("response.output_item.added", {
      response_id: this.id,
      output_index: index,
      item: showItem(item),
    });
    if (this.isInBand) {
      this.#session.conversation.add(item);
      this.#session.send("conversation.item.added", this.#inConversation(item));
    }
    this.#writing = { item, index, end };
    return { response_id: this.id, item_id: item.id, output_index: index };
  }

  /** Begins a message with one part. `end` sends what ends the part, and returns the part. */
  #beginMessage(empty: JsonObject, end: (at: JsonObject) => JsonObject) {
    const session = this.#session;
    const item: Item & { type: "message" } = {
      id: session.makeId("item"),
      status: "in_progress",
      type: "message",
      role: "assistant",
      parts: [],
    };
    const at: JsonObject = {
      ...this.#beginItem(item, () => session.send("response.content_part.done", { ...at, part: end(at) })),
      content_index: 0,
    };
    session.send("response.content_part.added", { ...at, part: empty });
    return { at, parts: item.parts };
  }

  #endItem(status: "completed" | "incomplete"): void {
    const writing = this.#writing;
    if (writing === undefined) return;
    this.#writing = undefined;
    const { item, index } = writing;
    item.status = status;
    writing.end();
    if (this.isInBand) this.#session.send("conversation.item.done", this.#inConversation(item));
    this.#session.send("response.output_item.done", {
      response_id: this.id,
      output_index: index,
      item: showItem(item),
    });
  }

  #inConversation(item: Item): JsonObject {
    return { previous_item_id: this.#session.conversation.before(item), item: showItem(item) };
  }

  #finish(status: "completed" | "cancelled" | "failed" | "incomplete", why: JsonObject | undefined): void {
    this.#endItem("incomplete");
    this.#status = status;
    this.#details = why === undefined ? null : { type: status, ...why };
    this.#left.abort();
    const spent = { units: this.#units, cached: this.#cached, output: this.#spent };
    const usage = status === "failed" ? undefined : usageOf(spent, this.#faults);
    this.#session.ended(this);
    this.#session.send("response.done", { response: { ...this.#show(), usage: usage ?? null } });
  }

  #show(): JsonObject {
    const { settings, metadata } = this.#request;
    const { outputFormat, voice, modality, maxOutputTokens } = settings;
    return {
      object: "realtime.response",
      id: this.id,
      status: this.#status,
      status_details: this.#details,
      output: this.#output.map((item) => showItem(item)),
      conversation_id: this.isInBand ? this.#session.conversation.id : null,
      output_modalities: [modality],
      max_output_tokens: maxOutputTokens,
      audio: { output: { format: outputFormat.shown, voice } },
      usage: null,
      metadata,
    };
  }
}
