import { AudioConverter, isSameFormat } from "../../audio/audio-converter.ts";
import { isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { asGatewayError, GatewayError } from "../../canon/error.ts";
import type {
  LiveAudioFormat,
  LiveClientCodec,
  LiveCommand,
  LiveEvent,
  LiveItem,
  LiveSettings,
  LiveTurnRequest,
} from "../../canon/live.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import type { LiveClientContext } from "../live-dialect.ts";
import { decodeAudio } from "../session/decode-audio.ts";
import { mergeSettings } from "../session/merge-settings.ts";
import { parseClientFrame } from "../session/parse-client-frame.ts";
import { refuse } from "../session/refuse.ts";
import { SessionNotes } from "../session/session-notes.ts";
import { DEFAULT_FORMAT } from "./audio-format.ts";
import { encodeError } from "./error-event.ts";
import { EventWriter } from "./event-writer.ts";
import { decodeItem, encodeItem } from "./items.ts";
import { decodeSettings, sessionOf } from "./settings.ts";
import { DEFAULT_SETTINGS, showSession } from "./show-session.ts";
import { TurnWriter } from "./turn-writer.ts";
import { encodeTranscriptionUsage } from "./usage.ts";

/** Members of `response` that are not settings. */
const OF_THE_RESPONSE = ["metadata", "conversation", "input"];
const NO_FRAMES: readonly string[] = [];

/** Speaks to a client of the realtime protocol. */
export class RealtimeClientCodec implements LiveClientCodec {
  readonly #context: LiveClientContext;
  readonly #events: EventWriter;
  readonly #notes = new SessionNotes();
  readonly #beta: boolean;
  /** As the host has confirmed them. */
  #settings: LiveSettings = DEFAULT_SETTINGS;
  #turn: TurnWriter | undefined;
  #output: { from: LiveAudioFormat; to: LiveAudioFormat; converter: AudioConverter } | undefined;
  #lastItem: string | undefined;

  constructor(context: LiveClientContext) {
    this.#context = context;
    this.#beta = context.beta ?? false;
    this.#events = new EventWriter(context.makeId, this.#beta, { session_id: context.sessionId });
  }

  takeNotes(): readonly FieldNote[] {
    return this.#notes.take();
  }

  decode(text: string): readonly LiveCommand[] {
    let eventId = {};
    let event: JsonObject | undefined;
    try {
      event = parseClientFrame(text);
      const id = stringAt(event, "event_id");
      if (id !== undefined) eventId = { eventId: id };
      return this.#decode(event).map((command) => ({ ...command, ...eventId }));
    } catch (thrown) {
      // Whatever is wrong with an event concerns only this event.
      const type = stringAt(event, "type");
      const error = asGatewayError(thrown);
      if (!this.#context.native || type === undefined) return [{ type: "invalid", error, ...eventId }];
      if (type === "response.create") return [{ type: "respond", cause: "asked", ...eventId }];
      return [{ type: "unknown", name: type.slice(0, 80), unread: error, ...eventId }];
    }
  }

  #decode(event: JsonObject): LiveCommand[] {
    const type = stringAt(event, "type");
    switch (type) {
      case "session.update":
      case "transcription_session.update": {
        const settings = decodeSettings(sessionOf(event), "session");
        if (type === "session.update") return [{ type: "settings", settings }];
        return [{ type: "settings", settings: { ...settings, extras: [TRANSCRIPTION_SESSION, ...settings.extras] } }];
      }
      case "input_audio_buffer.append": {
        const audio = decodeAudio(stringAt(event, "audio") ?? refuse("audio", "must be base64."));
        if (audio === undefined) return refuse("audio", "must be base64.");
        return [{ type: "audio", audio, format: this.#inputFormat() }];
      }
      case "input_audio_buffer.commit":
        return [{ type: "audio-commit" }];
      case "input_audio_buffer.clear":
        return [{ type: "audio-clear" }];
      case "conversation.item.create": {
        const after = stringAt(event, "previous_item_id");
        const item = this.#readItem(event["item"], "item");
        return [{ type: "item", item, ...withoutAbsent({ after }) }];
      }
      case "conversation.item.delete":
        return [{ type: "item-delete", itemId: itemIdOf(event) }];
      case "conversation.item.retrieve":
        return [{ type: "item-retrieve", itemId: itemIdOf(event) }];
      case "conversation.item.truncate": {
        const audioEndMs = numberAt(event, "audio_end_ms") ?? refuse("audio_end_ms", "must be a number.");
        const contentIndex = numberAt(event, "content_index") ?? 0;
        return [{ type: "item-truncate", itemId: itemIdOf(event), contentIndex, audioEndMs }];
      }
      case "response.create":
        return [{ type: "respond", cause: "asked", ...withoutAbsent({ request: this.#readRequest(event) }) }];
      case "response.cancel":
        return [{ type: "cancel", ...withoutAbsent({ turnId: stringAt(event, "response_id") }) }];
      case undefined:
        return refuse("type", "must be the name of an event, such as response.create.");
      default:
        return [{ type: "unknown", name: type.slice(0, 80) }];
    }
  }

  #inputFormat(): LiveAudioFormat {
    return this.#settings.inputFormat ?? DEFAULT_FORMAT;
  }

  #readItem(raw: unknown, path: string): LiveItem {
    const id = stringAt(raw, "id") ?? this.#events.makeItemId();
    return decodeItem(raw, path, id, this.#inputFormat());
  }

  #readRequest(event: JsonObject): LiveTurnRequest | undefined {
    const response = objectAt(event, "response");
    if (response === undefined) return undefined;
    const own = Object.fromEntries(Object.entries(response).filter(([name]) => !OF_THE_RESPONSE.includes(name)));
    const settings = decodeSettings(own, "response");
    const metadata = isObject(response["metadata"]) ? response["metadata"] : undefined;
    const { input } = response;
    const conversation = (["auto", "none"] as const).find((one) => one === response["conversation"]);
    return withoutAbsent({
      settings: Object.keys(own).length === 0 ? undefined : settings,
      metadata: metadata as Record<string, string> | undefined,
      conversation,
      input: Array.isArray(input)
        ? input.map((item, index) => this.#readItem(item, `response.input[${index}]`))
        : undefined,
      paths: { conversation: "response.conversation", input: "response.input", instructions: "response.instructions" },
    });
  }

  encode(event: LiveEvent): readonly string[] {
    const events = this.#events;
    switch (event.type) {
      case "ready":
        this.#settings = mergeSettings(this.#settings, event.settings);
        return [events.write("session.created", { session: this.#show() })];
      case "settings-applied":
        this.#settings = mergeSettings(this.#settings, event.settings);
        return [events.write("session.updated", { session: this.#show() })];
      case "speech-started": {
        const { itemId, atMs = 0 } = event;
        return [
          events.write("input_audio_buffer.speech_started", { audio_start_ms: Math.round(atMs), item_id: itemId }),
        ];
      }
      case "speech-stopped": {
        const { itemId, atMs = 0 } = event;
        return [events.write("input_audio_buffer.speech_stopped", { audio_end_ms: Math.round(atMs), item_id: itemId })];
      }
      case "input-committed":
        return this.#inputCommitted(event.itemId);
      case "input-cleared":
        return [events.write("input_audio_buffer.cleared", {})];
      case "input-transcript-delta": {
        const place = { item_id: event.itemId, content_index: 0 };
        return [events.write("conversation.item.input_audio_transcription.delta", { ...place, delta: event.text })];
      }
      case "input-transcript": {
        const { itemId, text, usage } = event;
        const fields = { item_id: itemId, content_index: 0, transcript: text, usage: encodeTranscriptionUsage(usage) };
        return [events.write("conversation.item.input_audio_transcription.completed", fields)];
      }
      case "input-transcript-failed": {
        const fields = { item_id: event.itemId, content_index: 0, error: encodeError(event.error, undefined) };
        return [events.write("conversation.item.input_audio_transcription.failed", fields)];
      }
      case "item-added":
        return this.#itemAdded(event.item, event.previousItemId);
      case "item-deleted":
        return [events.write("conversation.item.deleted", { item_id: event.itemId })];
      case "item-truncated": {
        const { itemId, contentIndex, audioEndMs } = event;
        const fields = { item_id: itemId, content_index: contentIndex, audio_end_ms: audioEndMs };
        return [events.write("conversation.item.truncated", fields)];
      }
      case "turn-began":
        return this.#beginTurn(event);
      case "text-delta":
        return this.#inTurn((turn) => turn.text(event.text));
      case "transcript-delta":
        return this.#inTurn((turn) => turn.transcript(event.text));
      case "audio-delta": {
        const audio = this.#converterFrom(event.format).push(event.audio);
        return audio.length === 0 ? NO_FRAMES : this.#inTurn((turn) => turn.audio(base64Of(audio)));
      }
      case "tool-call":
        return [...this.#flushAudio(), ...this.#inTurn((turn) => turn.call(event.id, event.name, event.arguments))];
      case "turn-ended":
        return this.#endTurn(event);
      case "reasoning-delta":
        this.#notes.dropped("response", "this protocol does not show the model's thoughts");
        return NO_FRAMES;
      case "tool-calls-cancelled":
        this.#notes.dropped("response", "this protocol cannot cancel calls; their results are ignored");
        return NO_FRAMES;
      case "error":
        return this.encodeError(event.error, event.eventId);
      // The client sees that the user speaks, and the host's notice has no counterpart.
      case "interrupted":
      case "going-away":
      case "work-began":
      case "work-ended":
      case "used":
      case "unknown":
        return NO_FRAMES;
      default:
        return event satisfies never;
    }
  }

  encodeError(error: GatewayError, eventId?: string): readonly string[] {
    return [this.#events.write("error", { error: encodeError(error, eventId) })];
  }

  encodeCut(error: GatewayError): readonly string[] {
    const turn = this.#turn;
    const ended =
      turn === undefined ? NO_FRAMES : this.encode({ type: "turn-ended", id: turn.id, status: "failed", error });
    return [...ended, ...this.encodeError(error)];
  }

  encodeGoingAway(timeLeftMs: number): readonly string[] {
    const seconds = Math.max(0, Math.floor(timeLeftMs / 1000));
    const message = `This session ends in ${seconds} seconds. Connect again to continue.`;
    return this.encodeError(new GatewayError("overloaded", message, { code: "draining" }));
  }

  #show(): JsonObject {
    const { sessionId, model, expiresAtSeconds } = this.#context;
    return showSession(this.#settings, { id: sessionId, model, expiresAtSeconds, beta: this.#beta });
  }

  #inputCommitted(itemId: string): string[] {
    const previous = this.#lastItem;
    this.#lastItem = itemId;
    const content = [{ type: "input_audio", transcript: null }];
    const item = { id: itemId, object: "realtime.item", type: "message", status: "completed", role: "user", content };
    return [
      this.#events.write("input_audio_buffer.committed", { previous_item_id: previous ?? null, item_id: itemId }),
      ...this.#events.itemAdded(item, previous),
      ...this.#events.itemDone(item, previous),
    ];
  }

  #itemAdded(item: LiveItem, previousItemId: string | undefined): string[] {
    const form = { beta: this.#beta, own: true };
    return encodeItem(item, form, this.#notes).flatMap((wire) => {
      const previous = previousItemId ?? this.#lastItem;
      this.#lastItem = item.id;
      return [...this.#events.itemAdded(wire, previous), ...this.#events.itemDone(wire, previous)];
    });
  }

  #beginTurn({ id, metadata }: { id: string; metadata?: Readonly<Record<string, string>> }): string[] {
    const before = this.#turn === undefined ? [] : this.#endTurn({ id: this.#turn.id, ...LOST });
    const about = { ...withoutAbsent({ metadata }), after: this.#lastItem };
    const turn = new TurnWriter(id, this.#events, this.#settings, about);
    this.#turn = turn;
    return [...before, ...turn.begin()];
  }

  /** Content without a turn begins one: what a host generates is never lost. */
  #inTurn(write: (turn: TurnWriter) => string[]): string[] {
    const begun = this.#turn === undefined ? this.#beginTurn({ id: `resp_${this.#context.makeId()}` }) : [];
    const turn = this.#turn;
    return turn === undefined ? begun : [...begun, ...write(turn)];
  }

  #endTurn(event: Omit<LiveEvent & { type: "turn-ended" }, "type">): string[] {
    const flushed = this.#turn === undefined ? [] : this.#flushAudio();
    const frames = this.#inTurn((turn) => turn.end(event));
    this.#lastItem = this.#turn?.lastItem ?? this.#lastItem;
    this.#turn = undefined;
    return [...flushed, ...frames];
  }

  #converterFrom(from: LiveAudioFormat): AudioConverter {
    const to = this.#settings.outputFormat ?? DEFAULT_FORMAT;
    const known = this.#output;
    if (known !== undefined && isSameFormat(known.from, from) && isSameFormat(known.to, to)) return known.converter;
    this.#output = { from, to, converter: new AudioConverter(from, to) };
    return this.#output.converter;
  }

  /** The end of the audio that the converter still held. */
  #flushAudio(): string[] {
    const rest = this.#output?.converter.flush();
    return rest === undefined || rest.length === 0 ? [] : this.#inTurn((turn) => turn.audio(base64Of(rest)));
  }
}

const LOST = { status: "incomplete", reason: "other" } as const;

const TRANSCRIPTION_SESSION = { keys: ["session", "type"], value: "transcription" };

const itemIdOf = (event: JsonObject): string =>
  stringAt(event, "item_id") ?? refuse("item_id", "must be the id of an item.");

const base64Of = (audio: Uint8Array): string =>
  Buffer.from(audio.buffer, audio.byteOffset, audio.byteLength).toString("base64");
