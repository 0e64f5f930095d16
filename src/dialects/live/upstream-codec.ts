import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { Turn } from "../../canon/call.ts";
import { GatewayError } from "../../canon/error.ts";
import type {
  LiveAudioFormat,
  LiveCommand,
  LiveEvent,
  LiveItem,
  LiveSettings,
  LiveStep,
  LiveTurnRequest,
  LiveUpstreamCodec,
} from "../../canon/live.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { laterUsage, sumUsage, type Usage } from "../../canon/usage.ts";
import { argumentsText } from "../answer/arguments-text.ts";
import { decodeErrorObject } from "../genai/answer/errors.ts";
import { queriesIn } from "../genai/answer/usage.ts";
import type { LiveUpstreamContext } from "../live-dialect.ts";
import { decodeAudio } from "../session/decode-audio.ts";
import { NO_STEP, stepOf } from "../session/live-step.ts";
import { parseFrame } from "../session/parse-frame.ts";
import { SessionNotes } from "../session/session-notes.ts";
import { decodeDuration } from "./duration.ts";
import { decodeEnd } from "./end-reason.ts";
import { errorStep } from "./error-step.ts";
import { frameOf } from "./frame-of.ts";
import { HostAudio } from "./host-audio.ts";
import { HostSetup } from "./host-setup.ts";
import { isSameSetting } from "./is-same-setting.ts";
import { unsupportedStep } from "./unsupported-step.ts";
import { decodeUsage } from "./usage.ts";
import { UserSpeech } from "./user-speech.ts";
import { WaitingItems } from "./waiting-items.ts";

const HOST_OUTPUT_RATE = 24_000;

/** A turn that the host has begun or was asked for. */
interface OpenTurn {
  id: string;
  usage?: Usage;
  /** What it found last. */
  grounding?: string;
  /** The client wants no more of it. */
  cancelled?: true;
  interrupted?: true;
  /** Everything was generated. The host waits until it has been played. */
  generated?: true;
  /** Something of it has arrived. */
  begun?: true;
}

const NO_SETTINGS: LiveSettings = { paths: {}, extras: [] };

/** Speaks to a host of the live protocol. */
export class LiveHostSide implements LiveUpstreamCodec {
  readonly #context: LiveUpstreamContext;
  readonly #notes = new SessionNotes();
  readonly #own: boolean;
  readonly #setup: HostSetup;
  readonly #items: WaitingItems;
  readonly #audio = new HostAudio();
  readonly #speech: UserSpeech;
  /** The user was said to have finished, so that the host answers by itself. */
  #answersItself = false;
  #turn: OpenTurn | undefined;
  #lastTurn: string | undefined;
  /** The last turn was ended before its last message, which must not end the next one. */
  #isEndOwed = false;
  /** In a native session, a client's message that begins a turn. */
  #asked = false;

  constructor(context: LiveUpstreamContext) {
    this.#context = context;
    this.#own = context.clientDialect === "live";
    const { upstreamModel, traits, quirks } = context;
    const scope = { own: this.#own, upstreamModel, traits, notes: this.#notes };
    this.#setup = new HostSetup(scope, quirks);
    this.#items = new WaitingItems(scope);
    this.#speech = new UserSpeech(
      () => `item_${context.makeId()}`,
      () => this.#audio.heardMs,
    );
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
    if (command.type === "settings") this.#setup.merge(command.settings);
  }

  passAudio(): readonly LiveEvent[] {
    return this.#turn === undefined ? this.#beginDetected() : NO_STEP.events;
  }

  encode(command: LiveCommand): LiveStep {
    const { eventId } = command;
    switch (command.type) {
      case "settings":
        return this.#setup.change(command.settings, eventId);
      case "audio":
        return this.#hear(command.audio, command.format, eventId);
      case "audio-commit":
        return this.#commit(eventId);
      case "audio-clear":
        return this.#clear();
      case "audio-end":
        return this.#setup.send([...this.#audio.flush(), frameOf({ realtimeInput: { audioStreamEnd: true } })]);
      case "activity-start":
        return this.#setup.send([frameOf({ realtimeInput: { activityStart: {} } })]);
      case "activity-end":
        return this.#setup.send([...this.#audio.flush(), frameOf({ realtimeInput: { activityEnd: {} } })]);
      case "video": {
        const { mimeType, data } = command;
        return this.#setup.send([frameOf({ realtimeInput: { video: { mimeType, data } } })]);
      }
      case "typed":
        return this.#setup.send([frameOf({ realtimeInput: { text: command.text } })]);
      case "item":
        return this.#item(command.item, command.after, eventId);
      case "item-delete": {
        if (!this.#items.remove(command.itemId))
          return unsupportedStep("item_id", "this model cannot forget an item that it has seen", eventId);
        return stepOf([], [{ type: "item-deleted", itemId: command.itemId }]);
      }
      case "item-retrieve":
        return unsupportedStep("type", "items of this model cannot be retrieved", eventId);
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
        return unsupportedStep("type", `${command.name} has no counterpart at this model's provider`, eventId);
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
    if (this.#isOwed(message)) {
      if (usage !== undefined) events.push({ type: "used", usage, ...withoutAbsent({ id: this.#lastTurn }) });
      return stepOf(frames, events);
    }
    for (const name of Object.keys(content)) this.#read(name, message, events, frames);
    this.#count(usage, message, events);
    this.#finish(message, events);
    return stepOf(frames, events);
  }

  // What the client does.

  #hear(audio: Uint8Array, format: LiveAudioFormat, eventId: string | undefined): LiveStep {
    const converted = this.#audio.convert(audio, format);
    if (converted.length === 0) return NO_STEP;
    if (this.#own || this.#setup.detects) {
      const frame = this.#audio.pass(converted);
      this.#answersItself = false;
      return this.#setup.send([...this.#flushPending(), frame]);
    }
    if (this.#audio.hold(converted)) return NO_STEP;
    const message = "Two minutes of audio have not been committed. Commit or clear them.";
    return errorStep(new GatewayError("too_large", message, { path: "audio" }), eventId);
  }

  #commit(eventId: string | undefined): LiveStep {
    if (this.#setup.detects) {
      this.#notes.approximated("type", "this provider answers as soon as the audio is committed");
      this.#answersItself = true;
      return this.#setup.send([...this.#audio.flush(), frameOf({ realtimeInput: { audioStreamEnd: true } })]);
    }
    if (this.#audio.commit()) return stepOf([], [this.#speech.commit()]);
    const error = new GatewayError("invalid_request", "There is no audio to commit. Append some first.", {
      code: "input_audio_buffer_commit_empty",
    });
    return errorStep(error, eventId);
  }

  #clear(): LiveStep {
    if (this.#setup.detects) this.#notes.dropped("type", "this provider has already heard the audio");
    else this.#audio.forgetHeld();
    this.#audio.flush();
    return stepOf([], [{ type: "input-cleared" }]);
  }

  #item(item: LiveItem, after: string | undefined, eventId: string | undefined): LiveStep {
    if (this.#items.isFull(item.turn.parts)) {
      const message = "Too many items wait for a response. Create one first.";
      return errorStep(new GatewayError("too_large", message, { path: "item" }), eventId);
    }
    this.#items.add(item, after, this.#speech.itemId);
    const previous = after === undefined || after === "root" ? {} : { previousItemId: after };
    return stepOf([], [{ type: "item-added", item, ...previous }]);
  }

  /** Messages without a question, so that the host knows them when the user speaks. They would interrupt a turn. */
  #flushPending(): string[] {
    return this.#items.hasMessages && this.#turn === undefined ? [this.#content(false)] : [];
  }

  #content(turnComplete: boolean): string {
    return frameOf({ clientContent: { turns: this.#items.takeMessages(), turnComplete } });
  }

  #respond(request: LiveTurnRequest | undefined, eventId: string | undefined): LiveStep {
    const events: LiveEvent[] = [];
    if (this.#turn !== undefined && !this.#own) {
      if (!this.#turn.generated) {
        const message = "A response is in progress. Cancel it, or wait for response.done.";
        const error = new GatewayError("invalid_request", message, {
          code: "conversation_already_has_active_response",
        });
        return errorStep(error, eventId);
      }
      this.#endTurn(this.#turn, "completed", events);
      this.#isEndOwed = true;
    }
    const refused = this.#refusal(request, eventId);
    if (refused !== undefined) return refused;
    const extra = this.#overrides(request);
    // The host knows that the user has finished, and answers without another request.
    const isSpoken = this.#answersItself && this.#items.count + extra.length === 0;
    this.#answersItself = false;
    const frames = isSpoken ? [] : this.#question(extra);
    if (!this.#own) events.push(...this.#beginTurn("asked", request?.metadata));
    return this.#setup.send(frames, events);
  }

  /** What the turn is about: results, speech, messages, or the conversation so far. */
  #question(extra: readonly Turn[]): string[] {
    for (const turn of extra) this.#items.addTurn(turn);
    const isSpeech = this.#audio.isHeld;
    const isResult = this.#items.hasResults;
    if (isSpeech || isResult) {
      const frames: string[] = [];
      if (this.#items.hasMessages) frames.push(this.#content(false));
      if (isResult) frames.push(this.#items.takeResults());
      if (isSpeech) frames.push(...this.#audio.takeHeld());
      return frames;
    }
    if (!this.#items.hasMessages) return [frameOf({ clientContent: { turnComplete: true } })];
    const isLater = this.#lastTurn !== undefined;
    if (this.#context.quirks.contentOnlyFirst && isLater)
      return [frameOf({ realtimeInput: { text: this.#items.takeText() } })];
    return [this.#content(true)];
  }

  #refusal(request: LiveTurnRequest | undefined, eventId: string | undefined): LiveStep | undefined {
    if (request?.conversation === "none")
      return unsupportedStep(
        "response.conversation",
        "this model has one conversation and no responses beside it",
        eventId,
      );
    if (request?.input !== undefined)
      return unsupportedStep(
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
      if (!isSameSetting(name, settings, this.#setup.settings))
        this.#notes.dropped(settings.paths[name] ?? name, ONLY_SESSIONS);
    }
    const { instructions } = settings;
    if (!instructions || instructions === this.#setup.settings.instructions) return [];
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
      return errorStep(error, eventId);
    }
    turn.cancelled = true;
    if (turn.generated) {
      const events: LiveEvent[] = [];
      this.#endTurn(turn, "cancelled", events);
      this.#isEndOwed = true;
      return stepOf([], events);
    }
    // There is no such message, but any content interrupts the model.
    return this.#setup.send([frameOf({ clientContent: { turnComplete: false } })]);
  }

  // What the host does.

  /** Whether a message is the end of a turn that the client no longer waits for, while nothing of the next one has arrived. */
  #isOwed(message: JsonObject): boolean {
    const content = objectAt(message, "serverContent");
    const isOwed = this.#isEndOwed && this.#turn?.begun === undefined && content !== undefined;
    if (!isOwed || content["modelTurn"] !== undefined || content["outputTranscription"] !== undefined) return false;
    if (content["turnComplete"] === true) this.#isEndOwed = false;
    return content["turnComplete"] === true || content["interrupted"] === true;
  }

  #read(name: string, message: JsonObject, events: LiveEvent[], frames: string[]): void {
    switch (name) {
      case "setupComplete": {
        const id = stringAt(message["setupComplete"], "sessionId");
        if (this.#own) events.push({ type: "ready", settings: this.#setup.settings, ...withoutAbsent({ id }) });
        frames.push(...this.#setup.confirmed());
        break;
      }
      case "serverContent":
        this.#readContent(objectAt(message, name) ?? {}, events);
        break;
      case "toolCall":
        this.#toolCall(arrayAt(message[name], "functionCalls"), events);
        break;
      case "toolCallCancellation": {
        const ids = arrayAt(message[name], "ids").filter((id): id is string => typeof id === "string");
        this.#items.callsCancelled(ids);
        events.push({ type: "tool-calls-cancelled", ids });
        break;
      }
      case "goAway": {
        const timeLeftMs = decodeDuration(objectAt(message, name)?.["timeLeft"]);
        events.push({ type: "going-away", ...withoutAbsent({ timeLeftMs }) });
        break;
      }
      case "voiceActivity":
        this.#speech.voice(objectAt(message, name) ?? {}, events);
        break;
      case "voiceActivityDetectionSignal": {
        const signal = stringAt(message[name], "vadSignalType");
        const type = signal === "VAD_SIGNAL_TYPE_SOS" ? "ACTIVITY_START" : "ACTIVITY_END";
        this.#speech.voice({ voiceActivityType: type }, events);
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

  #readContent(content: JsonObject, events: LiveEvent[]): void {
    const heard = objectAt(content, "inputTranscription");
    if (heard !== undefined) this.#speech.heard(heard, events);
    if (content["interrupted"] === true) this.#interrupted(events);
    for (const part of arrayAt(content["modelTurn"], "parts")) if (isObject(part)) this.#part(part, events);
    const said = stringAt(content["outputTranscription"], "text");
    if (said) this.#emit({ type: "transcript-delta", text: said }, events);
    this.#countSearches(content["groundingMetadata"]);
    if (content["groundingMetadata"] !== undefined && !this.#own)
      this.#notes.dropped("response", "the client's protocol cannot show the sources of an answer");
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
    if (this.#turn !== undefined) this.#turn.begun = true;
    this.#isEndOwed = false;
    if (this.#turn?.cancelled !== true) events.push(event);
  }

  #toolCall(calls: readonly unknown[], events: LiveEvent[]): void {
    for (const raw of calls) {
      const call = isObject(raw) ? raw : {};
      const id = stringAt(call, "id") ?? `call_${this.#context.makeId()}`;
      const sent = stringAt(call, "name") ?? "";
      const name = this.#setup.toolName(sent);
      this.#items.callOpened(id, sent);
      this.#emit({ type: "tool-call", id, name, arguments: argumentsText(call["args"]) || "{}" }, events);
    }
  }

  /** The host answers by itself: the user has said something. */
  #beginDetected(): LiveEvent[] {
    const events: LiveEvent[] = [];
    const asked = this.#asked;
    this.#asked = false;
    if (!asked && !this.#own) this.#speech.answered(this.#audio.hasSent, events);
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
    if (!this.#own) this.#speech.interrupted(events);
    events.push({ type: "interrupted" });
  }

  /** Searches are not in the host's counters. A message may repeat what one before has listed. */
  #countSearches(grounding: unknown): void {
    const searches = queriesIn(grounding);
    const listed = searches === 0 ? "" : JSON.stringify(grounding);
    if (listed === "" || this.#turn === undefined || this.#turn.grounding === listed) return;
    this.#turn.grounding = listed;
    this.#turn.usage = sumUsage(this.#turn.usage ?? {}, { searches });
  }

  /** Hosts count a turn with its last message, or in a message of its own. */
  #count(usage: Usage | undefined, message: JsonObject, events: LiveEvent[]): void {
    if (usage === undefined) return;
    const turn = this.#turn;
    if (turn !== undefined) turn.usage = withSearches(turn.usage, laterUsage(turn.usage, usage));
    else if (!("setupComplete" in message))
      events.push({ type: "used", usage, ...withoutAbsent({ id: this.#lastTurn }) });
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
    this.#speech.turnEnded(events);
    const reason =
      status === "cancelled" ? (turn.cancelled ? "client_cancelled" : "turn_detected") : decodeEnd(word).reason;
    const error =
      status === "failed"
        ? new GatewayError("upstream_failed", `The provider ended the turn: ${(word ?? "").slice(0, 80)}.`)
        : undefined;
    events.push({ type: "turn-ended", id: turn.id, status, ...withoutAbsent({ reason, error, usage: turn.usage }) });
  }
}

const ONLY_SESSIONS = "this provider has this setting only for a whole session";

/** Searches are not in the host's counters. */
const withSearches = (earlier: Usage | undefined, later: Usage): Usage =>
  earlier?.searches === undefined || later.searches !== undefined ? later : { ...later, searches: earlier.searches };
