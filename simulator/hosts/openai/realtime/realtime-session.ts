import { HostError } from "../../../host-error.ts";
import { isObject, type Json, type JsonObject } from "../../../json.ts";
import { InputBuffer } from "../../../live/input-buffer.ts";
import type { LiveContext, LiveSession, LiveWire } from "../../../live/live-host.ts";
import { VoiceActivity } from "../../../live/voice-activity.ts";
import { Seed } from "../../../seed.ts";
import { countTokens } from "../../../text/tokens.ts";
import { badValue, missing, requireArray, requireObject, requireString, wrongType } from "../text/check.ts";
import { invalid } from "../text/errors.ts";
import { Conversation } from "./conversation.ts";
import { type Item, readAudio, readItem, showItem, userAudio } from "./items.ts";
import { RealtimeResponse, type ResponseSession } from "./response.ts";
import {
  defaultSettings,
  readResponseSettings,
  type SessionSettings,
  showSession,
  type TurnDetection,
  updateSettings,
} from "./session-settings.ts";
import type { PromptUnit } from "./usage.ts";

/** How a session was opened. */
interface OpenedWith {
  model: string;
  number: number;
  /** What the client secret says of the session. */
  session: JsonObject | undefined;
  /** Why the session ends as soon as it is open. */
  refusal: { error: HostError; code: number; reason: string } | undefined;
}

/** The shortest audio that can be committed. */
const MIN_COMMIT_MS = 100;
/** How much must be loud before it counts as speech. */
const ONSET_MS = 40;
const SESSION_SECONDS = 3_600;

const secondsOf = (ms: number): number => Math.floor(ms / 1_000);

/** A session of the Realtime API: one WebSocket, one conversation. */
export class RealtimeSession implements LiveSession, ResponseSession {
  readonly #context: LiveContext;
  readonly #with: OpenedWith;
  readonly #seed: Seed;
  readonly conversation: Conversation;
  readonly #buffer: InputBuffer;
  #settings: SessionSettings;
  #activity: VoiceActivity;
  /** Audio time at which the activity began to be watched. */
  #watchedFromMs = 0;
  /** The item that the user is saying. */
  #spokenItem: string | undefined;
  #ids = 0;
  #wire: LiveWire | undefined;
  #isDeaf = false;
  #active: RealtimeResponse | undefined;
  readonly #running = new Set<RealtimeResponse>();
  readonly #expiresAt: number;
  lastUnits: readonly PromptUnit[] = [];

  constructor(context: LiveContext, opened: OpenedWith) {
    this.#context = context;
    this.#with = opened;
    this.#seed = new Seed(`realtime ${opened.number}`);
    this.conversation = new Conversation(this.makeId("conv"));
    this.#settings = defaultSettings();
    if (opened.session !== undefined)
      this.#settings = updateSettings(this.#settings, opened.session, { model: opened.model, hasSpoken: false });
    this.#buffer = new InputBuffer(this.#settings.inputFormat);
    this.#activity = this.#newActivity();
    this.#expiresAt = secondsOf(context.nowMs()) + SESSION_SECONDS;
  }

  get wire(): LiveWire {
    if (this.#wire === undefined) throw new Error("the session is not open");
    return this.#wire;
  }

  get partDelayMs(): number {
    return this.#context.partDelayMs;
  }

  opened(wire: LiveWire): void {
    this.#wire = wire;
    const { refusal } = this.#with;
    if (refusal === undefined) {
      this.send("session.created", { session: this.#show() });
      return;
    }
    this.#tell(refusal.error, undefined);
    this.close(refusal.code, refusal.reason);
  }

  message(frame: string | Uint8Array): void {
    if (this.#isDeaf) return;
    let eventId: string | undefined;
    try {
      const event = parseEvent(frame);
      this.#context.onMessage?.(event);
      eventId = typeof event.event_id === "string" ? event.event_id : undefined;
      this.#handle(event);
    } catch (thrown) {
      if (!(thrown instanceof HostError)) throw thrown;
      this.#tell(thrown, eventId);
    }
  }

  closed(): void {
    this.#isDeaf = true;
    for (const response of this.#running) response.leave();
    this.#running.clear();
  }

  // What responses use:

  send(type: string, fields: JsonObject): void {
    if (this.#isDeaf) return;
    this.#wire?.send(JSON.stringify({ type, event_id: this.makeId("event"), ...fields }));
  }

  makeId(prefix: string): string {
    return `${prefix}_${this.#seed.token(`${prefix} ${++this.#ids}`, 21)}`;
  }

  wait(ms: number, signal: AbortSignal): Promise<void> {
    return this.#context.wait(ms, signal);
  }

  fallSilent(): void {
    this.closed();
  }

  close(code: number, reason: string): void {
    this.closed();
    this.#wire?.close(code, reason);
  }

  ended(response: RealtimeResponse): void {
    this.#running.delete(response);
    if (this.#active === response) this.#active = undefined;
  }

  #handle(event: JsonObject): void {
    const { type } = event;
    if (type === undefined) throw missing("type");
    const handler = typeof type === "string" && Object.hasOwn(this.#handlers, type) ? this.#handlers[type] : undefined;
    if (handler === undefined) throw badValue(type, Object.keys(this.#handlers), "type");
    handler(event);
  }

  readonly #handlers: Readonly<Record<string, (event: JsonObject) => void>> = {
    "session.update": (event) => this.#update(requireObject(event.session, "session")),
    "input_audio_buffer.append": (event) => this.#append(event.audio),
    "input_audio_buffer.commit": () => this.#commitByClient(),
    "input_audio_buffer.clear": () => {
      this.#buffer.clear();
      this.#activity.reset();
      this.#spokenItem = undefined;
      this.send("input_audio_buffer.cleared", {});
    },
    "conversation.item.create": (event) => this.#createItem(event),
    "conversation.item.retrieve": (event) => {
      const item = this.#find(event.item_id, "retrieving", "item_retrieve_invalid_item_id");
      this.send("conversation.item.retrieved", { item: showItem(item, true) });
    },
    "conversation.item.delete": (event) => {
      const id = requireString(event.item_id, "item_id");
      this.conversation.delete(id);
      this.send("conversation.item.deleted", { item_id: id });
    },
    "conversation.item.truncate": (event) => this.#truncate(event),
    "response.create": (event) =>
      this.#create(
        event.response === undefined || event.response === null ? {} : requireObject(event.response, "response"),
      ),
    "response.cancel": (event) => this.#cancel(event.response_id),
    "output_audio_buffer.clear": () => {
      const message = "The event 'output_audio_buffer.clear' is only supported with WebRTC and SIP.";
      throw invalid(message, "type", "invalid_value");
    },
  };

  #update(session: JsonObject): void {
    const { model } = this.#with;
    const { hasSpoken } = this.conversation;
    const before = this.#settings;
    this.#settings = updateSettings(before, session, { model, hasSpoken });
    this.#buffer.setFormat(this.#settings.inputFormat);
    if (this.#settings.inputFormat !== before.inputFormat || before.turnDetection === null) {
      this.#activity = this.#newActivity();
      this.#spokenItem = undefined;
    } else if (this.#settings.turnDetection !== null)
      this.#activity.settings = activityOf(this.#settings.turnDetection);
    this.send("session.updated", { session: this.#show() });
  }

  #newActivity(): VoiceActivity {
    this.#watchedFromMs = this.#buffer.untilMs;
    const { inputFormat, turnDetection } = this.#settings;
    return new VoiceActivity(inputFormat.rate, activityOf(turnDetection));
  }

  #append(audio: Json | undefined): void {
    const samples = this.#buffer.append(readAudio(audio, this.#settings.inputFormat, "audio"));
    const { turnDetection } = this.#settings;
    if (turnDetection === null) return;
    for (const { type, atMs } of this.#activity.hear(samples)) {
      const ms = Math.round(this.#watchedFromMs + atMs);
      if (type === "started") this.#speechStarted(ms, turnDetection);
      else this.#speechStopped(ms, turnDetection);
    }
    // Of silence only what a turn may begin with is kept.
    if (!this.#activity.isSpeaking)
      this.#buffer.dropBeforeMs(this.#buffer.untilMs - turnDetection.prefixMs - 2 * ONSET_MS);
  }

  #speechStarted(ms: number, { prefixMs, interrupts }: TurnDetection): void {
    const startMs = Math.max(0, ms - prefixMs);
    this.#buffer.dropBeforeMs(startMs);
    this.#spokenItem = this.makeId("item");
    this.send("input_audio_buffer.speech_started", { audio_start_ms: startMs, item_id: this.#spokenItem });
    if (interrupts) this.#active?.cancel("turn_detected");
  }

  #speechStopped(ms: number, { creates }: TurnDetection): void {
    const id = this.#spokenItem ?? this.makeId("item");
    this.send("input_audio_buffer.speech_stopped", { audio_end_ms: ms, item_id: id });
    this.#commit(id, ms);
    if (!creates) return;
    if (this.#active !== undefined) this.#tell(alreadyActive(this.#active), undefined);
    else this.#respond(this.#settings, this.conversation.items, true, null);
  }

  #commitByClient(): void {
    const { ms } = this.#buffer;
    if (ms < MIN_COMMIT_MS) {
      const message = `Error committing input audio buffer: buffer too small. Expected at least ${MIN_COMMIT_MS}ms of audio, but buffer only has ${ms.toFixed(2)}ms of audio.`;
      throw invalid(message, null, "input_audio_buffer_commit_empty");
    }
    this.#activity.reset();
    this.#commit(this.#spokenItem ?? this.makeId("item"), undefined);
  }

  #commit(id: string, untilMs: number | undefined): void {
    this.#spokenItem = undefined;
    const { samples, bytes } = this.#buffer.takeUntilMs(untilMs);
    const part = userAudio(samples, this.#settings.inputFormat, bytes);
    const item: Item = { id, status: "completed", type: "message", role: "user", parts: [part] };
    const previous = this.conversation.lastId;
    this.conversation.add(item);
    this.send("input_audio_buffer.committed", { previous_item_id: previous, item_id: id });
    this.#showAdded(item);
    this.#transcribe(item);
  }

  /** As another model would that listens: its usage is its own. */
  #transcribe(item: Item): void {
    const { transcription } = this.#settings;
    const [part] = item.type === "message" ? item.parts : [];
    if (transcription === null || part?.type !== "audio") return;
    const transcript = part.words ?? "";
    part.transcript = transcript;
    const at = { item_id: item.id, content_index: 0 };
    for (const delta of transcript.match(/\s*\S+|\s+$/g) ?? [])
      this.send("conversation.item.input_audio_transcription.delta", { ...at, delta });
    const output = countTokens(transcript);
    const usage =
      transcription.model === "whisper-1"
        ? { type: "duration", seconds: part.ms / 1_000 }
        : {
            type: "tokens",
            total_tokens: part.tokens + output,
            input_tokens: part.tokens,
            output_tokens: output,
            input_token_details: { text_tokens: 0, audio_tokens: part.tokens },
          };
    this.send("conversation.item.input_audio_transcription.completed", { ...at, transcript, usage });
  }

  #createItem(event: JsonObject): void {
    const item = readItem(event.item, () => this.makeId("item"), this.#settings.inputFormat, "item");
    const previous = event.previous_item_id ?? undefined;
    if (previous !== undefined && typeof previous !== "string") throw wrongType(previous, "string", "previous_item_id");
    if (item.type === "function_call_output" && !this.#isCalled(item.callId)) {
      const message = `Error adding item: no function call with the call_id '${item.callId}' exists in the conversation.`;
      throw invalid(message, "item.call_id", "invalid_tool_call_id");
    }
    this.conversation.insert(item, previous);
    this.#showAdded(item);
  }

  #isCalled(callId: string): boolean {
    return this.conversation.items.some((item) => item.type === "function_call" && item.callId === callId);
  }

  #showAdded(item: Item): void {
    const shown = { previous_item_id: this.conversation.before(item), item: showItem(item) };
    this.send("conversation.item.added", shown);
    this.send("conversation.item.done", shown);
  }

  #truncate(event: JsonObject): void {
    const id = requireString(event.item_id, "item_id");
    const index = event.content_index;
    const endMs = event.audio_end_ms;
    if (typeof index !== "number")
      throw index === undefined ? missing("content_index") : wrongType(index, "integer", "content_index");
    if (typeof endMs !== "number" || !Number.isInteger(endMs) || endMs < 0)
      throw endMs === undefined ? missing("audio_end_ms") : wrongType(endMs, "integer", "audio_end_ms");
    this.conversation.truncate(id, index, endMs);
    this.send("conversation.item.truncated", { item_id: id, content_index: index, audio_end_ms: endMs });
  }

  #find(value: Json | undefined, doing: string, code: string): Item {
    const id = requireString(value, "item_id");
    const item = this.conversation.find(id);
    if (item === undefined)
      throw invalid(`Error ${doing} item: the item with id '${id}' does not exist.`, "item_id", code);
    return item;
  }

  #create(response: JsonObject): void {
    const settings = readResponseSettings(this.#settings, response);
    const target = response.conversation ?? "auto";
    if (target !== "auto" && target !== "none") throw badValue(target, ["auto", "none"], "response.conversation");
    if (target === "auto" && this.#active !== undefined) throw alreadyActive(this.#active);
    const given = response.input;
    const items =
      given === undefined || given === null
        ? this.conversation.items
        : requireArray(given, "response.input").map((one, at) => this.#readInput(one, `response.input[${at}]`));
    this.#respond(settings, items, target === "auto", response.metadata ?? null);
  }

  #readInput(value: Json, param: string): Item {
    if (isObject(value) && value.type === "item_reference")
      return this.#find(value.id, "reading", "item_reference_invalid_item_id");
    return readItem(value, () => this.makeId("item"), this.#settings.inputFormat, param);
  }

  #respond(
    settings: Parameters<typeof readResponseSettings>[0],
    items: readonly Item[],
    isInBand: boolean,
    metadata: Json,
  ): void {
    const response = new RealtimeResponse(this, { settings, items: [...items], isInBand, metadata });
    this.#running.add(response);
    if (isInBand) this.#active = response;
    this.#context.countModel(this.#with.model);
    void response.run();
  }

  #cancel(value: Json | undefined): void {
    const id = value === undefined || value === null ? undefined : requireString(value, "response_id");
    const response = id === undefined ? this.#active : [...this.#running].find((one) => one.id === id);
    if (response === undefined)
      throw invalid("Cancellation failed: no active response found", null, "response_cancel_not_active");
    response.cancel("client_cancelled");
  }

  #tell(refusal: HostError, eventId: string | undefined): void {
    const { error } = JSON.parse(refusal.body) as { error: JsonObject };
    this.send("error", { error: { ...error, event_id: eventId ?? null } });
  }

  #show(): JsonObject {
    const facts = {
      id: `sess_${this.#seed.token("session", 21)}`,
      model: this.#with.model,
      expires_at: this.#expiresAt,
    };
    return showSession(this.#settings, facts);
  }
}

function parseEvent(frame: string | Uint8Array): JsonObject {
  let event: unknown;
  try {
    event = JSON.parse(typeof frame === "string" ? frame : new TextDecoder().decode(frame));
  } catch {
    throw invalid("We could not parse the JSON of your event.", null, "invalid_json");
  }
  if (!isObject(event)) throw invalid("Invalid event: expected an object.", null, "invalid_type");
  return event;
}

const activityOf = (detection: TurnDetection | null) => ({
  threshold: detection?.threshold ?? 1,
  onsetMs: ONSET_MS,
  silenceMs: detection?.silenceMs ?? 0,
});

const alreadyActive = ({ id }: RealtimeResponse): HostError =>
  invalid(
    `Conversation already has an active response in progress: ${id}. Wait until the response is finished before creating a new one.`,
    null,
    "conversation_already_has_active_response",
  );
