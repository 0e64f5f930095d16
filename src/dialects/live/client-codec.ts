import { AudioConverter, isSameFormat } from "../../audio/audio-converter.ts";
import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { Turn } from "../../canon/call.ts";
import { asGatewayError, GatewayError } from "../../canon/error.ts";
import type {
  LiveAudioFormat,
  LiveClientCodec,
  LiveCommand,
  LiveEvent,
  LiveItem,
  LiveSettings,
} from "../../canon/live.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { errorBody } from "../genai/answer/errors.ts";
import { parseArguments } from "../genai/arguments.ts";
import { genaiCodec } from "../genai/codec.ts";
import { normaliseGenaiRequest } from "../genai/normalise.ts";
import type { LiveClientContext } from "../live-dialect.ts";
import { decodeAudio } from "../session/decode-audio.ts";
import { mergeSettings } from "../session/merge-settings.ts";
import { parseClientFrame } from "../session/parse-client-frame.ts";
import { refuse } from "../session/refuse.ts";
import { SessionNotes } from "../session/session-notes.ts";
import { encodeDuration } from "./duration.ts";
import { encodeEnd } from "./end-reason.ts";
import { camelKeys } from "./keys.ts";
import { decodeContextUpdate, decodeSetup } from "./settings.ts";
import { encodeUsage } from "./usage.ts";

const OUTPUT: LiveAudioFormat = { type: "pcm", rate: 24_000 };
const DEFAULT_INPUT_RATE = 16_000;
const RATE = /rate=(\d{4,6})\b/;
const NO_FRAMES: readonly string[] = [];
/** Several blobs at once: the older form of the input. */
const MAX_CHUNKS = 100;

/** Reads it even if a field is not valid. */
const completesTurn = (content: unknown): boolean =>
  isObject(content) && (content["turnComplete"] === true || content["turn_complete"] === true);

/** Speaks to a client of the live protocol. */
export class LiveClientSide implements LiveClientCodec {
  readonly #context: LiveClientContext;
  readonly #notes = new SessionNotes();
  #settings: LiveSettings = { paths: {}, extras: [] };
  #isSetUp = false;
  #isConfirmed = false;
  #turn: string | undefined;
  #wasInterrupted = false;
  #calls: JsonObject[] = [];
  #output: { from: LiveAudioFormat; converter: AudioConverter } | undefined;
  /** The user's item whose transcript has begun. */
  #transcribed: string | undefined;

  constructor(context: LiveClientContext) {
    this.#context = context;
  }

  takeNotes(): readonly FieldNote[] {
    return this.#notes.take();
  }

  decode(text: string): readonly LiveCommand[] {
    let message: JsonObject | undefined;
    try {
      message = camelKeys(parseClientFrame(text));
      return this.#decode(message);
    } catch (thrown) {
      // Whatever is wrong with a message concerns only this message.
      const error = asGatewayError(thrown);
      const names = Object.keys(message ?? {});
      const [name] = names;
      const isAsked = completesTurn(message?.["clientContent"]);
      const asksTurn = isAsked || names.includes("toolResponse");
      if (!this.#context.native || name === undefined || !this.#isSetUp || names.includes("setup"))
        return [{ type: "invalid", error, asksTurn }];
      if (asksTurn) return [{ type: "respond", cause: isAsked ? "asked" : "results" }];
      return [{ type: "unknown", name: name.slice(0, 80), unread: error }];
    }
  }

  #decode(message: JsonObject): LiveCommand[] {
    const names = Object.keys(message).filter((name) => message[name] !== null);
    const commands = names.flatMap((name) => this.#read(name, message[name]));
    if (names.length > 0) return commands;
    throw new GatewayError(
      "invalid_request",
      "The message is empty. Send setup, clientContent, realtimeInput or toolResponse.",
    );
  }

  #read(name: string, value: unknown): LiveCommand[] {
    if (name === "setup") {
      if (this.#isSetUp) refuse("setup", "can be sent only once, as the first message.");
      this.#isSetUp = true;
      this.#settings = decodeSetup(camelKeys(value));
      return [{ type: "settings", settings: this.#settings }];
    }
    if (!this.#isSetUp) refuse("setup", "must be the first message.");
    switch (name) {
      case "clientContent":
        return this.#readContent(camelKeys(value));
      case "realtimeInput":
        return this.#readInput(camelKeys(value));
      case "toolResponse":
        return this.#readResults(camelKeys(value));
      case "contextUpdate":
        return [{ type: "settings", settings: decodeContextUpdate(camelKeys(value)) }];
      default:
        return [{ type: "unknown", name: name.slice(0, 80) }];
    }
  }

  #readContent(content: JsonObject): LiveCommand[] {
    const turns = this.#readTurns(content["turns"], "clientContent.turns");
    const items = turns.map((turn): LiveCommand => ({ type: "item", item: this.#itemOf(turn) }));
    return content["turnComplete"] === true ? [...items, { type: "respond", cause: "asked" }] : items;
  }

  #itemOf(turn: Turn): LiveItem {
    return { id: `item_${this.#context.makeId()}`, turn };
  }

  #readTurns(contents: unknown, path: string): readonly Turn[] {
    const body = normaliseGenaiRequest({ contents: contents ?? [] }) as JsonObject;
    return genaiCodec.decodeRequest(body).turns.map((turn) => rooted(turn, path));
  }

  #readInput(input: JsonObject): LiveCommand[] {
    const commands: LiveCommand[] = [];
    const known = new Set(["mediaChunks", "audio", "video", "text", "activityStart", "activityEnd", "audioStreamEnd"]);
    // The start comes before what it starts, and the end after it.
    if (isPresent(input, "activityStart")) commands.push({ type: "activity-start" });
    const chunks = arrayAt(input, "mediaChunks").slice(0, MAX_CHUNKS);
    for (const [index, chunk] of chunks.entries())
      commands.push(this.#readBlob(chunk, `realtimeInput.mediaChunks[${index}]`));
    if (isPresent(input, "audio")) commands.push(this.#readBlob(input["audio"], "realtimeInput.audio"));
    if (isPresent(input, "video")) commands.push(this.#readBlob(input["video"], "realtimeInput.video"));
    const text = stringAt(input, "text");
    if (text !== undefined) commands.push({ type: "typed", text });
    if (isPresent(input, "activityEnd")) commands.push({ type: "activity-end" });
    if (input["audioStreamEnd"] === true) commands.push({ type: "audio-end" });
    for (const name of Object.keys(input))
      if (!known.has(name)) commands.push({ type: "unknown", name: `realtimeInput.${name.slice(0, 60)}` });
    return commands;
  }

  #readBlob(raw: unknown, path: string): LiveCommand {
    const blob = camelKeys(raw);
    const mimeType = stringAt(blob, "mimeType") ?? refuse(`${path}.mimeType`, "must be a media type.");
    const data = stringAt(blob, "data") ?? refuse(`${path}.data`, "must be base64.");
    if (/^(image|video)\//.test(mimeType)) return { type: "video", mimeType, data, path };
    if (!/^audio\/(pcm|l16)\b/i.test(mimeType))
      return refuse(`${path}.mimeType`, "must be audio/pcm;rate=16000, or an image.");
    const audio = decodeAudio(data) ?? refuse(`${path}.data`, "must be base64.");
    const rate = Number(RATE.exec(mimeType)?.[1] ?? DEFAULT_INPUT_RATE);
    if (!RATES.has(rate)) refuse(`${path}.mimeType`, `must have a rate of ${[...RATES].join(", ")} Hz.`);
    return { type: "audio", audio, format: { type: "pcm", rate } };
  }

  #readResults(response: JsonObject): LiveCommand[] {
    const raw = response["functionResponses"];
    const list = Array.isArray(raw) ? raw : raw === undefined || raw === null ? [] : [raw];
    if (list.length === 0) return refuse("toolResponse.functionResponses", "must have at least one result.");
    const contents = list.map((one) => ({ role: "user", parts: [{ functionResponse: one }] }));
    const turns = this.#readTurns(contents, "toolResponse.functionResponses");
    const items = turns.map((turn): LiveCommand => ({ type: "item", item: this.#itemOf(turn) }));
    // Results that only inform the model do not make it speak.
    const isSilent = list.every((one) => stringAt(camelKeys(one), "scheduling")?.toUpperCase() === "SILENT");
    return isSilent ? items : [...items, { type: "respond", cause: "results" }];
  }

  encode(event: LiveEvent): readonly string[] {
    switch (event.type) {
      case "settings-applied":
        return this.#confirm(event.settings);
      case "input-transcript-delta":
        this.#transcribed = event.itemId;
        return this.#hears ? [contentFrame({ inputTranscription: { text: event.text } })] : NO_FRAMES;
      case "input-transcript": {
        if (!this.#hears) return NO_FRAMES;
        const text = this.#transcribed === event.itemId ? {} : { text: event.text };
        this.#transcribed = undefined;
        return [contentFrame({ inputTranscription: { ...text, finished: true } })];
      }
      case "turn-began":
        this.#turn = event.id;
        this.#wasInterrupted = false;
        return NO_FRAMES;
      case "text-delta":
        return this.#model({ text: event.text });
      case "reasoning-delta":
        return this.#model({ text: event.text, thought: true });
      case "transcript-delta":
        this.#begin();
        return this.#settings.outputTranscription === true
          ? [contentFrame({ outputTranscription: { text: event.text } })]
          : NO_FRAMES;
      case "audio-delta": {
        const audio = this.#converterFrom(event.format).push(event.audio);
        return audio.length === 0 ? NO_FRAMES : this.#speak(audio);
      }
      case "tool-call": {
        this.#begin();
        const args = event.arguments.trim() === "" ? {} : parseArguments(event.arguments);
        if (args === undefined)
          this.#notes.approximated("toolCall", "the call's arguments are not a JSON object; an empty object was sent");
        this.#calls.push({ id: event.id, name: event.name, args: args ?? {} });
        return NO_FRAMES;
      }
      case "tool-calls-cancelled":
        return [JSON.stringify({ toolCallCancellation: { ids: event.ids } })];
      case "interrupted":
        return this.#interrupt();
      case "turn-ended":
        return this.#end(event);
      case "used":
        return [JSON.stringify({ usageMetadata: encodeUsage(event.usage) })];
      case "going-away":
        return event.timeLeftMs === undefined ? NO_FRAMES : this.encodeGoingAway(event.timeLeftMs);
      case "error":
        return this.encodeError(event.error);
      // This protocol confirms nothing, and shows neither items nor who speaks.
      case "ready":
      case "speech-started":
      case "speech-stopped":
      case "input-committed":
      case "input-cleared":
      case "input-transcript-failed":
      case "item-added":
      case "item-deleted":
      case "item-truncated":
      case "work-began":
      case "work-ended":
      case "unknown":
        return NO_FRAMES;
      default:
        return event satisfies never;
    }
  }

  /**
   * The protocol has no errors besides closing the connection. SDKs ignore the member `error`, and a client that waits for the turn sees
   * its end. One that waits for another turn must not: it would take each answer for that of the turn before.
   */
  encodeError(error: GatewayError, _eventId?: string, endsTurn = true): readonly string[] {
    const { error: body } = JSON.parse(errorBody(error)) as JsonObject;
    const told = JSON.stringify({ error: body });
    if (!endsTurn || !this.#isConfirmed || this.#turn !== undefined) return [told];
    return [told, contentFrame({ turnComplete: true, turnCompleteReason: "RESPONSE_REJECTED" })];
  }

  encodeCut(error: GatewayError): readonly string[] {
    const { error: body } = JSON.parse(errorBody(error)) as JsonObject;
    const told = JSON.stringify({ error: body });
    if (this.#turn === undefined) return [told];
    return [...this.encode({ type: "turn-ended", id: this.#turn, status: "failed" }), told];
  }

  encodeGoingAway(timeLeftMs: number): readonly string[] {
    return [JSON.stringify({ goAway: { timeLeft: encodeDuration(timeLeftMs) } })];
  }

  get #hears(): boolean {
    return this.#settings.inputTranscription != null;
  }

  /** Once, when the host has accepted the client's setup. */
  #confirm(settings: LiveSettings): readonly string[] {
    // The host's transcripts are not the client's if it asked for none.
    const { inputTranscription: _heard, outputTranscription: _said, ...others } = settings;
    if (this.#isConfirmed) this.#settings = mergeSettings(this.#settings, others);
    if (this.#isConfirmed) return NO_FRAMES;
    this.#isConfirmed = true;
    return [JSON.stringify({ setupComplete: { sessionId: this.#context.sessionId } })];
  }

  /** Content without a turn begins one: what a host generates is never lost. */
  #begin(): void {
    if (this.#turn !== undefined) return;
    this.#turn = `turn_${this.#context.makeId()}`;
    this.#wasInterrupted = false;
  }

  #model(part: JsonObject): readonly string[] {
    this.#begin();
    return [contentFrame({ modelTurn: { role: "model", parts: [part] } })];
  }

  /** Base64 needs no escapes. */
  #speak(audio: Uint8Array): readonly string[] {
    this.#begin();
    const data = Buffer.from(audio.buffer, audio.byteOffset, audio.byteLength).toString("base64");
    return [
      `{"serverContent":{"modelTurn":{"role":"model","parts":[{"inlineData":{"mimeType":"audio/pcm;rate=24000","data":"${data}"}}]}}}`,
    ];
  }

  #converterFrom(from: LiveAudioFormat): AudioConverter {
    if (this.#output !== undefined && isSameFormat(this.#output.from, from)) return this.#output.converter;
    this.#output = { from, converter: new AudioConverter(from, OUTPUT) };
    return this.#output.converter;
  }

  #interrupt(): readonly string[] {
    if (this.#wasInterrupted) return NO_FRAMES;
    this.#wasInterrupted = true;
    this.#output?.converter.flush();
    return [contentFrame({ interrupted: true })];
  }

  #end(event: LiveEvent & { type: "turn-ended" }): readonly string[] {
    this.#begin();
    const { status, usage } = event;
    const counted = usage === undefined ? {} : { usageMetadata: encodeUsage(usage) };
    const calls = this.#calls;
    this.#calls = [];
    const frames: string[] = [];
    const rest = this.#output?.converter.flush();
    if (status === "completed" && rest !== undefined && rest.length > 0) frames.push(...this.#speak(rest));
    this.#turn = undefined;
    if (status === "completed" && calls.length > 0)
      return [...frames, JSON.stringify({ toolCall: { functionCalls: calls }, ...counted })];
    if (status === "cancelled") frames.push(...this.#interrupt());
    else frames.push(contentFrame({ generationComplete: true }));
    const reason = encodeEnd(event);
    const ended = { turnComplete: true, ...withoutAbsent({ turnCompleteReason: reason }) };
    const failed = event.error === undefined ? [] : [JSON.stringify({ error: errorOf(event.error) })];
    return [...frames, ...failed, JSON.stringify({ serverContent: ended, ...counted })];
  }
}

/** The rates that microphones and telephones have. */
const RATES: ReadonlySet<number> = new Set([8000, 16_000, 24_000, 32_000, 48_000, 44_100]);

const isPresent = (object: JsonObject, key: string): boolean => object[key] !== undefined && object[key] !== null;

const contentFrame = (serverContent: JsonObject): string => JSON.stringify({ serverContent });

const errorOf = (error: GatewayError): unknown => objectAt(JSON.parse(errorBody(error)), "error");

/** The same turn with the paths of a message instead of a request. */
function rooted(turn: Turn, root: string): Turn {
  const move = (path: string): string => path.replace(/^contents/, root);
  const parts = turn.parts.map((part) => (part.path === undefined ? part : { ...part, path: move(part.path) }));
  return { ...turn, parts, path: move(turn.path) };
}
