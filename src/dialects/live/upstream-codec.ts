import { AudioConverter, bytesPerSecond } from "../../audio/audio-converter.ts";
import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { Turn } from "../../canon/call.ts";
import { GatewayError } from "../../canon/error.ts";
import type {
  LiveAudioFormat,
  LiveCommand,
  LiveEvent,
  LiveItem,
  LiveSettingName,
  LiveSettings,
  LiveStep,
  LiveTurnRequest,
  LiveUpstreamCodec,
} from "../../canon/live.ts";
import type { Part, ToolResultPart } from "../../canon/part.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { laterUsage, sumUsage, type Usage } from "../../canon/usage.ts";
import { argumentsText } from "../answer/arguments-text.ts";
import { decodeErrorObject } from "../genai/answer/errors.ts";
import { queriesIn } from "../genai/answer/usage.ts";
import type { LiveUpstreamContext } from "../live-dialect.ts";
import { decodeAudio } from "../session/decode-audio.ts";
import { NO_STEP, stepOf } from "../session/live-step.ts";
import { mergeSettings } from "../session/merge-settings.ts";
import { parseFrame } from "../session/parse-frame.ts";
import { SessionNotes } from "../session/session-notes.ts";
import { asWavFile } from "../session/spoken-item.ts";
import { decodeDuration } from "./duration.ts";
import { encodeContextUpdate, encodeSetup, encodeTurns, type SetupScope } from "./encode-setup.ts";
import { decodeEnd } from "./end-reason.ts";
import { bareModel } from "./settings.ts";
import { decodeUsage } from "./usage.ts";

const MS_PER_SECOND = 1000;
const HOST_INPUT: LiveAudioFormat = { type: "pcm", rate: 16_000 };
const HOST_OUTPUT_RATE = 24_000;
/** Two minutes of speech that waits for its end, or for the host to be ready. */
const MAX_HELD_BYTES = 4 * 1024 * 1024;
/** Items that wait for the turn in which they are sent. */
const MAX_PENDING = 1000;

/** Settings that concern only the client, or both sides of which the gateway converts. */
const FREE: ReadonlySet<string> = new Set([
  "paths",
  "extras",
  "inputFormat",
  "outputFormat",
  "outputTranscription",
  "truncation",
]);

/** A turn that the host has begun or was asked for. */
interface OpenTurn {
  id: string;
  usage?: Usage;
  /** The client wants no more of it. */
  cancelled?: true;
  interrupted?: true;
  /** Everything was generated. The host waits until it has been played. */
  generated?: true;
}

/** What the user says at the moment, or said last. */
interface Speech {
  itemId: string;
  started: boolean;
  committed: boolean;
  text: string;
  /** The host has written all of it down. */
  finished: boolean;
}

const NO_SETTINGS: LiveSettings = { paths: {}, extras: [] };

/** Speaks to a host of the live protocol. */
export class LiveHostSide implements LiveUpstreamCodec {
  readonly #context: LiveUpstreamContext;
  readonly #notes = new SessionNotes();
  readonly #own: boolean;
  #settings: LiveSettings = NO_SETTINGS;
  /** The host accepts nothing between its setup and its confirmation. */
  #setup: "unsent" | "sent" | "done" = "unsent";
  #waiting: string[] = [];
  #waitingBytes = 0;
  #toolNames: Readonly<Record<string, string>> = {};
  /** Messages that the host gets with the next turn. */
  #pending: LiveItem[] = [];
  #results: ToolResultPart[] = [];
  /** Without turn detection: audio until it is committed and answered. */
  #held: string[] = [];
  #heldBytes = 0;
  #committed = false;
  /** The user was said to have finished, so that the host answers by itself. */
  #answersItself = false;
  #input: { format: LiveAudioFormat; converter: AudioConverter } | undefined;
  #sentBytes = 0;
  #turn: OpenTurn | undefined;
  #lastTurn: string | undefined;
  /** In a native session, a client's message that begins a turn. */
  #asked = false;
  #openCalls = new Map<string, string>();
  #cancelledCalls = new Set<string>();
  #speech: Speech | undefined;

  constructor(context: LiveUpstreamContext) {
    this.#context = context;
    this.#own = context.clientDialect === "live";
    if (this.#own) this.#setup = "done";
  }

  get turnId(): string | undefined {
    return this.#turn?.id;
  }

  takeNotes(): readonly FieldNote[] {
    return this.#notes.take();
  }

  /** A client of the other protocol expects its session at once. The host gets its setup with the first turn, because it cannot be changed. */
  open(): LiveStep {
    return this.#own ? NO_STEP : stepOf([], [{ type: "ready", settings: NO_SETTINGS }]);
  }

  follow(command: LiveCommand): void {
    if (command.type === "respond" || command.type === "typed" || command.type === "activity-end") this.#asked = true;
    if (command.type === "settings") this.#settings = mergeSettings(this.#settings, command.settings);
  }

  passAudio(): readonly LiveEvent[] {
    return this.#turn === undefined ? this.#beginDetected() : NO_STEP.events;
  }

  encode(command: LiveCommand): LiveStep {
    const { eventId } = command;
    switch (command.type) {
      case "settings":
        return this.#change(command.settings, eventId);
      case "audio":
        return this.#audio(command.audio, command.format, eventId);
      case "audio-commit":
        return this.#commit(eventId);
      case "audio-clear":
        return this.#clear();
      case "audio-end":
        return this.#send([...this.#flushInput(), frameOf({ realtimeInput: { audioStreamEnd: true } })]);
      case "activity-start":
        return this.#send([frameOf({ realtimeInput: { activityStart: {} } })]);
      case "activity-end":
        return this.#send([...this.#flushInput(), frameOf({ realtimeInput: { activityEnd: {} } })]);
      case "video": {
        const { mimeType, data } = command;
        return this.#send([frameOf({ realtimeInput: { video: { mimeType, data } } })]);
      }
      case "typed":
        return this.#send([frameOf({ realtimeInput: { text: command.text } })]);
      case "item":
        return this.#item(command.item, command.after, eventId);
      case "item-delete": {
        const pending = this.#pending.findIndex(({ id }) => id === command.itemId);
        if (pending < 0) return this.#cannot("item_id", "this model cannot forget an item that it has seen", eventId);
        this.#pending.splice(pending, 1);
        return stepOf([], [{ type: "item-deleted", itemId: command.itemId }]);
      }
      case "item-retrieve":
        return this.#cannot("type", "items of this model cannot be retrieved", eventId);
      case "item-truncate": {
        const { itemId, contentIndex, audioEndMs } = command;
        this.#notes.approximated(
          "audio_end_ms",
          "this provider itself decides how much of an interrupted turn was heard",
        );
        return stepOf([], [{ type: "item-truncated", itemId, contentIndex, audioEndMs }]);
      }
      case "respond":
        return this.#respond(command.request, eventId);
      case "cancel":
        return this.#cancel(eventId);
      case "unknown":
        return this.#cannot("type", `${command.name} has no counterpart at this model's provider`, eventId);
      case "invalid":
        return NO_STEP;
      default:
        return command satisfies never;
    }
  }

  decode(text: string): LiveStep {
    const message = parseFrame(text);
    if (message === undefined) {
      const error = new GatewayError("upstream_failed", "The provider sent a frame that is not a JSON object.");
      return stepOf([], [{ type: "error", error, fatal: true }]);
    }
    const events: LiveEvent[] = [];
    const frames: string[] = [];
    const { usageMetadata, ...content } = message;
    const usage = decodeUsage(usageMetadata);
    for (const name of Object.keys(content)) this.#read(name, message, events, frames);
    this.#count(usage, message, events);
    this.#finish(message, events);
    return stepOf(frames, events);
  }

  // What the client does.

  #scope(): SetupScope {
    const { upstreamModel, traits } = this.#context;
    return { own: this.#own, upstreamModel, traits, notes: this.#notes };
  }

  /** Sends frames as soon as the host is ready, and its setup before the first of them. */
  #send(frames: readonly string[], events: readonly LiveEvent[] = []): LiveStep {
    if (this.#setup === "done") return stepOf(frames, events);
    const first: string[] = [];
    if (this.#setup === "unsent") {
      const { setup, toolNames } = encodeSetup(this.#settings, this.#scope());
      this.#toolNames = toolNames;
      this.#setup = "sent";
      first.push(frameOf({ setup }));
    }
    for (const frame of frames) this.#waitingBytes += frame.length;
    if (this.#waitingBytes > 2 * MAX_HELD_BYTES) {
      const error = new GatewayError("upstream_timeout", "The provider did not begin the session in time.");
      return stepOf(first, [...events, { type: "error", error, fatal: true }]);
    }
    this.#waiting.push(...frames);
    return stepOf(first, events);
  }

  #cannot(path: string, reason: string, eventId: string | undefined): LiveStep {
    const sentence = `${reason.slice(0, 1).toUpperCase()}${reason.slice(1)}.`;
    const error = new GatewayError("unsupported_parameter", sentence, { path });
    return stepOf([], [{ type: "error", error, fatal: false, ...withoutAbsent({ eventId }) }]);
  }

  #change(update: LiveSettings, eventId: string | undefined): LiveStep {
    const isTranscription = update.extras.some(
      ({ keys, value }) => keys.at(-1) === "type" && value === "transcription",
    );
    if (isTranscription)
      return this.#cannot(
        "session.type",
        "this model answers what it hears and has no sessions that only transcribe",
        eventId,
      );
    const applied = (): LiveStep => {
      this.#settings = mergeSettings(this.#settings, update);
      return stepOf([], [{ type: "settings-applied", settings: update }]);
    };
    if (this.#setup === "unsent") return applied();
    const changed = Object.keys(update).filter(
      (name) => !FREE.has(name) && !isSame(name, update, this.#settings),
    ) as LiveSettingName[];
    const fixed = changed.find((name) => !(this.#context.quirks.contextUpdates && CONTEXT.has(name)));
    if (fixed !== undefined) {
      const path = update.paths[fixed] ?? fixed;
      const reason =
        "this model's settings cannot be changed once its session has begun; send them before the first audio or response";
      return this.#cannot(path, reason, eventId);
    }
    if (changed.length === 0) return applied();
    const { setup, toolNames } = encodeContextUpdate(update, this.#scope());
    this.#toolNames = { ...this.#toolNames, ...toolNames };
    const { events } = applied();
    return this.#send([frameOf({ contextUpdate: setup })], events);
  }

  /** Whether the host finds out when the user speaks. */
  get #detects(): boolean {
    const { turnDetection } = this.#settings;
    return turnDetection === undefined || (turnDetection?.responds ?? false);
  }

  #audio(audio: Uint8Array, format: LiveAudioFormat, eventId: string | undefined): LiveStep {
    let input = this.#input;
    if (input === undefined || input.format !== format) {
      input = { format, converter: new AudioConverter(format, HOST_INPUT) };
      this.#input = input;
    }
    const converted = input.converter.push(audio);
    if (converted.length === 0) return NO_STEP;
    if (this.#own || this.#detects) {
      this.#sentBytes += converted.length;
      this.#answersItself = false;
      return this.#send([...this.#flushPending(), audioFrame(converted)]);
    }
    return this.#hold(converted, eventId);
  }

  #hold(audio: Uint8Array, eventId: string | undefined): LiveStep {
    if (this.#heldBytes + audio.length > MAX_HELD_BYTES) {
      const error = new GatewayError(
        "too_large",
        "Two minutes of audio have not been committed. Commit or clear them.",
        { path: "audio" },
      );
      return stepOf([], [{ type: "error", error, fatal: false, ...withoutAbsent({ eventId }) }]);
    }
    this.#heldBytes += audio.length;
    this.#held.push(audioFrame(audio));
    return NO_STEP;
  }

  #flushInput(): string[] {
    const rest = this.#input?.converter.flush();
    return rest === undefined || rest.length === 0 ? [] : [audioFrame(rest)];
  }

  #commit(eventId: string | undefined): LiveStep {
    if (this.#detects) {
      this.#notes.approximated("type", "this provider answers as soon as the audio is committed");
      this.#answersItself = true;
      return this.#send([...this.#flushInput(), frameOf({ realtimeInput: { audioStreamEnd: true } })]);
    }
    this.#held.push(...this.#flushInput());
    if (this.#held.length === 0) {
      const error = new GatewayError("invalid_request", "There is no audio to commit. Append some first.", {
        code: "input_audio_buffer_commit_empty",
      });
      return stepOf([], [{ type: "error", error, fatal: false, ...withoutAbsent({ eventId }) }]);
    }
    this.#committed = true;
    const itemId = this.#makeItemId();
    this.#speech = { itemId, started: false, committed: true, text: "", finished: false };
    return stepOf([], [{ type: "input-committed", itemId }]);
  }

  #clear(): LiveStep {
    if (this.#detects) this.#notes.dropped("type", "this provider has already heard the audio");
    // Committed audio is part of the conversation.
    else if (!this.#committed) {
      this.#held = [];
      this.#heldBytes = 0;
    }
    this.#input?.converter.flush();
    return stepOf([], [{ type: "input-cleared" }]);
  }

  #item(item: LiveItem, after: string | undefined, eventId: string | undefined): LiveStep {
    if (this.#pending.length + this.#results.length >= MAX_PENDING)
      return this.#cannot("item", `no more than ${MAX_PENDING} items can wait for a response`, eventId);
    const place = after === undefined ? -1 : this.#pending.findIndex(({ id }) => id === after);
    if (after !== undefined && place < 0 && after !== "root" && this.#isKnownEarlier(after))
      this.#notes.approximated("previous_item_id", "this provider adds items at the end of the conversation");
    const results = item.turn.parts.filter((part): part is ToolResultPart => part.type === "tool-result");
    const others = item.turn.parts.filter((part) => part.type !== "tool-result" || !this.#openCalls.has(part.callId));
    for (const result of results) {
      if (this.#cancelledCalls.has(result.callId))
        this.#notes.dropped("item", "the call was cancelled by the provider because the user interrupted the model");
      else if (this.#openCalls.has(result.callId)) this.#results.push(result);
    }
    const kept = others.filter((part) => part.type !== "tool-result" || !this.#cancelledCalls.has(part.callId));
    if (kept.length > 0) {
      const pending = { ...item, turn: { ...item.turn, parts: kept } };
      if (after === "root") this.#pending.unshift(pending);
      else if (place >= 0) this.#pending.splice(place + 1, 0, pending);
      else this.#pending.push(pending);
    }
    const previous = after === undefined || after === "root" ? {} : { previousItemId: after };
    return stepOf([], [{ type: "item-added", item, ...previous }]);
  }

  /** The client may name the last item of the conversation, which is where new ones go. */
  #isKnownEarlier(itemId: string): boolean {
    return this.#pending.length > 0 || this.#speech?.itemId !== itemId;
  }

  /** Messages without a question, so that the host knows them when the user speaks. They would interrupt a turn. */
  #flushPending(): string[] {
    if (this.#pending.length === 0 || this.#turn !== undefined) return [];
    return [frameOf({ clientContent: { turns: this.#takePending(), turnComplete: false } })];
  }

  #takePending(): readonly JsonObject[] {
    const turns = this.#pending.map(({ turn }) => this.#named(turn));
    this.#pending = [];
    return encodeTurns(turns, this.#scope());
  }

  #named(turn: Turn): Turn {
    const parts = turn.parts.map((part): Part => (part.type === "media" ? asWavFile(part) : part));
    return { ...turn, parts };
  }

  #respond(request: LiveTurnRequest | undefined, eventId: string | undefined): LiveStep {
    const events: LiveEvent[] = [];
    if (this.#turn !== undefined && !this.#own) {
      if (!this.#turn.generated) {
        const message = "A response is in progress. Cancel it, or wait for response.done.";
        const error = new GatewayError("invalid_request", message, {
          code: "conversation_already_has_active_response",
        });
        return stepOf([], [{ type: "error", error, fatal: false, ...withoutAbsent({ eventId }) }]);
      }
      this.#endTurn(this.#turn, "completed", events);
    }
    const refused = this.#refusal(request, eventId);
    if (refused !== undefined) return refused;
    const extra = this.#overrides(request);
    // The host was told that the user has finished, and answers without being asked again.
    const isSpoken = this.#answersItself && this.#pending.length + this.#results.length + extra.length === 0;
    this.#answersItself = false;
    const frames = isSpoken ? [] : this.#question(extra);
    if (!this.#own) events.push(...this.#beginTurn("asked", request?.metadata));
    return this.#send(frames, events);
  }

  /** What the turn is about: results, speech, messages, or the conversation so far. */
  #question(extra: readonly Turn[]): string[] {
    const frames: string[] = [];
    for (const turn of extra) this.#pending.push({ id: "", turn });
    const isSpeech = this.#held.length > 0;
    const isResult = this.#results.length > 0;
    if (isSpeech || isResult) {
      if (this.#pending.length > 0)
        frames.push(frameOf({ clientContent: { turns: this.#takePending(), turnComplete: false } }));
      if (isResult) frames.push(this.#toolResponse());
      if (isSpeech) frames.push(...this.#spoken());
      return frames;
    }
    if (this.#pending.length === 0) return [frameOf({ clientContent: { turnComplete: true } })];
    const text = this.#context.quirks.contentOnlyFirst && this.#lastTurn !== undefined ? this.#plainText() : undefined;
    if (text !== undefined) return [frameOf({ realtimeInput: { text } })];
    return [frameOf({ clientContent: { turns: this.#takePending(), turnComplete: true } })];
  }

  /** What the user wrote, for hosts that read nothing else once the conversation has begun. */
  #plainText(): string {
    const texts: string[] = [];
    for (const { turn } of this.#pending) {
      for (const part of turn.parts) {
        if (turn.role !== "assistant" && part.type === "text") texts.push(part.text);
        else
          this.#notes.dropped(part.path ?? turn.path, "this model reads only text of the user within a conversation");
      }
    }
    this.#pending = [];
    return texts.join("\n\n");
  }

  #spoken(): string[] {
    this.#held.push(...this.#flushInput());
    const frames = [
      frameOf({ realtimeInput: { activityStart: {} } }),
      ...this.#held,
      frameOf({ realtimeInput: { activityEnd: {} } }),
    ];
    this.#sentBytes += this.#heldBytes;
    this.#held = [];
    this.#heldBytes = 0;
    this.#committed = false;
    return frames;
  }

  #toolResponse(): string {
    const functionResponses = this.#results.map((result) => {
      const name = this.#openCalls.get(result.callId) ?? result.name ?? "";
      this.#openCalls.delete(result.callId);
      const texts = result.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
      return { id: result.callId, name, response: result.response ?? { output: texts.join("\n") } };
    });
    this.#results = [];
    return frameOf({ toolResponse: { functionResponses } });
  }

  #refusal(request: LiveTurnRequest | undefined, eventId: string | undefined): LiveStep | undefined {
    if (request?.conversation === "none")
      return this.#cannot(
        "response.conversation",
        "this model has one conversation and no responses beside it",
        eventId,
      );
    if (request?.input !== undefined)
      return this.#cannot(
        "response.input",
        "this model answers the whole conversation; add items to it instead",
        eventId,
      );
    return undefined;
  }

  /** Settings of one turn. The host has them only for a session, so that instructions become a message. */
  #overrides(request: LiveTurnRequest | undefined): Turn[] {
    const settings = request?.settings;
    if (settings === undefined) return [];
    for (const { keys } of settings.extras) this.#notes.dropped(keys.join("."), ONLY_SESSIONS);
    for (const name of Object.keys(settings) as (keyof LiveSettings)[]) {
      if (name === "paths" || name === "extras" || name === "instructions") continue;
      if (!isSame(name, settings, this.#settings)) this.#notes.dropped(settings.paths[name] ?? name, ONLY_SESSIONS);
    }
    const { instructions } = settings;
    if (!instructions || instructions === this.#settings.instructions) return [];
    const path = settings.paths.instructions ?? "response.instructions";
    this.#notes.approximated(
      path,
      "this provider has instructions only for a session; sent as a message before the response",
    );
    return [{ role: "system", parts: [{ type: "text", text: instructions, path }], path }];
  }

  #cancel(eventId: string | undefined): LiveStep {
    const turn = this.#turn;
    if (turn === undefined) {
      const error = new GatewayError("invalid_request", "There is no response in progress to cancel.", {
        code: "response_cancel_not_active",
      });
      return stepOf([], [{ type: "error", error, fatal: false, ...withoutAbsent({ eventId }) }]);
    }
    turn.cancelled = true;
    if (turn.generated) {
      const events: LiveEvent[] = [];
      this.#endTurn(turn, "cancelled", events);
      return stepOf([], events);
    }
    // There is no such message, but any content interrupts the model.
    return this.#send([frameOf({ clientContent: { turnComplete: false } })]);
  }

  // What the host does.

  #read(name: string, message: JsonObject, events: LiveEvent[], frames: string[]): void {
    switch (name) {
      case "setupComplete": {
        const id = stringAt(message["setupComplete"], "sessionId");
        if (this.#own) events.push({ type: "ready", settings: this.#settings, ...withoutAbsent({ id }) });
        this.#setup = "done";
        frames.push(...this.#waiting);
        this.#waiting = [];
        this.#waitingBytes = 0;
        break;
      }
      case "serverContent":
        this.#content(objectAt(message, name) ?? {}, events);
        break;
      case "toolCall":
        this.#toolCall(arrayAt(message[name], "functionCalls"), events);
        break;
      case "toolCallCancellation": {
        const ids = arrayAt(message[name], "ids").filter((id): id is string => typeof id === "string");
        for (const id of ids) {
          if (this.#openCalls.delete(id)) this.#cancelledCalls.add(id);
        }
        this.#results = this.#results.filter(({ callId }) => !this.#cancelledCalls.has(callId));
        events.push({ type: "tool-calls-cancelled", ids });
        break;
      }
      case "goAway": {
        const timeLeftMs = decodeDuration(objectAt(message, name)?.["timeLeft"]);
        events.push({ type: "going-away", ...withoutAbsent({ timeLeftMs }) });
        break;
      }
      case "voiceActivity":
        this.#voice(objectAt(message, name) ?? {}, events);
        break;
      case "voiceActivityDetectionSignal": {
        const signal = stringAt(message[name], "vadSignalType");
        const type = signal === "VAD_SIGNAL_TYPE_SOS" ? "ACTIVITY_START" : "ACTIVITY_END";
        this.#voice({ voiceActivityType: type }, events);
        break;
      }
      case "sessionResumptionUpdate":
        break;
      case "error":
        events.push({ type: "error", error: decodeErrorObject(message), fatal: true });
        break;
      default:
        events.push({ type: "unknown", name: name.slice(0, 80) });
    }
  }

  #content(content: JsonObject, events: LiveEvent[]): void {
    const heard = objectAt(content, "inputTranscription");
    if (heard !== undefined) this.#heard(heard, events);
    if (content["interrupted"] === true) this.#interrupted(events);
    for (const part of arrayAt(content["modelTurn"], "parts")) if (isObject(part)) this.#part(part, events);
    const said = stringAt(content["outputTranscription"], "text");
    if (said) this.#emit({ type: "transcript-delta", text: said }, events);
    const searches = queriesIn(content["groundingMetadata"]);
    if (searches > 0 && this.#turn !== undefined) this.#turn.usage = sumUsage(this.#turn.usage ?? {}, { searches });
    if (content["generationComplete"] === true && this.#turn !== undefined) this.#turn.generated = true;
  }

  #part(part: JsonObject, events: LiveEvent[]): void {
    const text = stringAt(part, "text");
    const inline = objectAt(part, "inlineData");
    if (text !== undefined) {
      if (text !== "") this.#emit({ type: part["thought"] === true ? "reasoning-delta" : "text-delta", text }, events);
      return;
    }
    const mimeType = stringAt(inline, "mimeType") ?? "";
    if (inline !== undefined && mimeType.startsWith("audio/")) {
      const audio = decodeAudio(stringAt(inline, "data") ?? "");
      const rate = Number(/rate=(\d{4,6})/.exec(mimeType)?.[1] ?? HOST_OUTPUT_RATE);
      if (audio !== undefined && audio.length > 0)
        this.#emit({ type: "audio-delta", audio, format: { type: "pcm", rate } }, events);
      return;
    }
    if (!this.#own)
      this.#notes.dropped("response", "the client's protocol cannot show code, images or other media in an answer");
  }

  /** Content of a turn, which it begins. Nothing of a cancelled turn reaches the client. */
  #emit(event: LiveEvent, events: LiveEvent[]): void {
    if (this.#turn === undefined) events.push(...this.#beginDetected());
    if (this.#turn?.cancelled !== true) events.push(event);
  }

  #toolCall(calls: readonly unknown[], events: LiveEvent[]): void {
    for (const raw of calls) {
      const call = isObject(raw) ? raw : {};
      const id = stringAt(call, "id") ?? `call_${this.#context.makeId()}`;
      const sent = stringAt(call, "name") ?? "";
      const name = Object.hasOwn(this.#toolNames, sent) ? (this.#toolNames[sent] ?? sent) : sent;
      this.#openCalls.set(id, sent);
      this.#emit({ type: "tool-call", id, name, arguments: argumentsText(call["args"]) || "{}" }, events);
    }
  }

  #heard(transcription: JsonObject, events: LiveEvent[]): void {
    const text = stringAt(transcription, "text") ?? "";
    let speech = this.#speech;
    if (text !== "" && (speech === undefined || speech.finished)) {
      speech = this.#beginSpeech();
      events.push({ type: "speech-started", itemId: speech.itemId, atMs: this.#heardMs() });
      speech.started = true;
    }
    if (speech === undefined) return;
    if (text !== "") {
      speech.text += text;
      events.push({ type: "input-transcript-delta", itemId: speech.itemId, text });
    }
    if (transcription["finished"] === true) this.#endTranscript(speech, events);
  }

  #endTranscript(speech: Speech, events: LiveEvent[]): void {
    if (speech.finished || speech.text === "") return;
    speech.finished = true;
    events.push({ type: "input-transcript", itemId: speech.itemId, text: speech.text });
  }

  #voice(activity: JsonObject, events: LiveEvent[]): void {
    const type = stringAt(activity, "voiceActivityType");
    const atMs = decodeDuration(activity["audioOffset"]) ?? this.#heardMs();
    if (type === "ACTIVITY_START") {
      const speech = this.#beginSpeech();
      speech.started = true;
      events.push({ type: "speech-started", itemId: speech.itemId, atMs });
    } else if (type === "ACTIVITY_END" && this.#speech !== undefined && !this.#speech.committed)
      this.#endSpeech(this.#speech, atMs, events);
  }

  #beginSpeech(): Speech {
    const speech = { itemId: this.#makeItemId(), started: false, committed: false, text: "", finished: false };
    this.#speech = speech;
    return speech;
  }

  #endSpeech(speech: Speech, atMs: number, events: LiveEvent[]): void {
    if (speech.started) events.push({ type: "speech-stopped", itemId: speech.itemId, atMs });
    speech.committed = true;
    events.push({ type: "input-committed", itemId: speech.itemId });
  }

  /** How much of the session's audio the host has. */
  #heardMs(): number {
    return Math.round((this.#sentBytes / bytesPerSecond(HOST_INPUT)) * MS_PER_SECOND);
  }

  /** The host answers by itself: the user has said something. */
  #beginDetected(): LiveEvent[] {
    const events: LiveEvent[] = [];
    const asked = this.#asked;
    this.#asked = false;
    if (!asked && !this.#own) {
      const speech = this.#speech === undefined && this.#sentBytes > 0 ? this.#beginSpeech() : this.#speech;
      if (speech !== undefined && !speech.committed) this.#endSpeech(speech, this.#heardMs(), events);
    }
    return [...events, ...this.#beginTurn(asked ? "asked" : "detected", undefined)];
  }

  #beginTurn(cause: "asked" | "detected", metadata: LiveTurnRequest["metadata"]): LiveEvent[] {
    const id = `resp_${this.#context.makeId()}`;
    this.#turn = { id };
    return [{ type: "turn-began", id, cause, ...withoutAbsent({ metadata }) }];
  }

  /** The user speaks while the model does. */
  #interrupted(events: LiveEvent[]): void {
    const turn = this.#turn;
    if (turn !== undefined) turn.interrupted = true;
    // The client's own cancellation interrupts, too.
    if (turn?.cancelled) return;
    if (!this.#own && (this.#speech === undefined || this.#speech.committed)) {
      const speech = this.#beginSpeech();
      speech.started = true;
      events.push({ type: "speech-started", itemId: speech.itemId, atMs: this.#heardMs() });
    }
    events.push({ type: "interrupted" });
  }

  /** Hosts count a turn with its last message, or in a message of its own. */
  #count(usage: Usage | undefined, message: JsonObject, events: LiveEvent[]): void {
    if (usage === undefined) return;
    const turn = this.#turn;
    if (turn !== undefined) turn.usage = withSearches(turn.usage, laterUsage(turn.usage, usage));
    else if (!("setupComplete" in message))
      events.push({ type: "late-usage", usage, ...withoutAbsent({ turnId: this.#lastTurn }) });
  }

  #finish(message: JsonObject, events: LiveEvent[]): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    const content = objectAt(message, "serverContent");
    if (content?.["turnComplete"] === true) {
      const word = stringAt(content, "turnCompleteReason");
      if (turn.cancelled || turn.interrupted) this.#endTurn(turn, "cancelled", events);
      else this.#endTurn(turn, decodeEnd(word).status, events, word);
    } else if (message["toolCall"] !== undefined)
      this.#endTurn(turn, turn.cancelled ? "cancelled" : "completed", events);
  }

  #endTurn(turn: OpenTurn, status: ReturnType<typeof decodeEnd>["status"], events: LiveEvent[], word?: string): void {
    this.#turn = undefined;
    this.#lastTurn = turn.id;
    const speech = this.#speech;
    if (speech?.committed) {
      this.#endTranscript(speech, events);
      this.#speech = undefined;
    }
    const reason =
      status === "cancelled" ? (turn.cancelled ? "client_cancelled" : "turn_detected") : decodeEnd(word).reason;
    const error =
      status === "failed"
        ? new GatewayError("upstream_failed", `The provider ended the turn: ${(word ?? "").slice(0, 80)}.`)
        : undefined;
    events.push({ type: "turn-ended", id: turn.id, status, ...withoutAbsent({ reason, error, usage: turn.usage }) });
  }

  #makeItemId(): string {
    return `item_${this.#context.makeId()}`;
  }
}

const CONTEXT: ReadonlySet<string> = new Set(["instructions", "tools"]);
const ONLY_SESSIONS = "this provider has this setting only for a whole session";

const frameOf = (message: JsonObject): string => JSON.stringify(message);

/** Base64 needs no escapes. */
const audioFrame = (audio: Uint8Array): string =>
  `{"realtimeInput":{"audio":{"data":"${Buffer.from(audio.buffer, audio.byteOffset, audio.byteLength).toString("base64")}","mimeType":"audio/pcm;rate=16000"}}}`;

/** Searches are not in the host's counters. */
const withSearches = (earlier: Usage | undefined, later: Usage): Usage =>
  earlier?.searches === undefined || later.searches !== undefined ? later : { ...later, searches: earlier.searches };

/** Whether an update repeats what is set. What was never set is the protocol's default, which clients send with every update. */
function isSame(name: string, update: LiveSettings, settings: LiveSettings): boolean {
  const plain = (value: unknown) => JSON.stringify(value, (key, inner) => (key === "path" ? undefined : inner));
  const key = name as keyof LiveSettings;
  if (key === "model") return bareModel(update.model ?? "") === bareModel(settings.model ?? update.model ?? "");
  return plain(update[key]) === plain(settings[key]);
}
