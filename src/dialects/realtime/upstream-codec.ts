import { bytesPerSecond } from "../../audio/audio-converter.ts";
import { isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { pathOfExtra } from "../../canon/call.ts";
import { GatewayError } from "../../canon/error.ts";
import {
  type LiveAudioFormat,
  type LiveCommand,
  type LiveEndReason,
  type LiveEvent,
  type LiveItem,
  type LiveSettings,
  type LiveStep,
  type LiveTurnRequest,
  type LiveTurnStatus,
  type LiveUpstreamCodec,
  type LiveWork,
  TRANSCRIPTION,
} from "../../canon/live.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { addToolUse, type Usage } from "../../canon/usage.ts";
import { decodeErrorObject } from "../answer/error-object.ts";
import type { LiveUpstreamContext } from "../live-dialect.ts";
import { decodeAudio } from "../session/decode-audio.ts";
import { NO_STEP, stepOf } from "../session/live-step.ts";
import { parseFrame } from "../session/parse-frame.ts";
import { SessionNotes } from "../session/session-notes.ts";
import { DEFAULT_FORMAT } from "./audio-format.ts";
import { encodeSettings } from "./encode-settings.ts";
import { HostInput } from "./host-input.ts";
import { encodeItem } from "./items.ts";
import { Playback } from "./playback.ts";
import { decodeSettings } from "./settings.ts";
import { decodeTranscriptionUsage } from "./usage.ts";

/** The host rejects a commit of less than 100 ms. */
const LEAST_COMMIT_MS = 100;

const END_REASONS: ReadonlySet<string> = new Set([
  "turn_detected",
  "client_cancelled",
  "max_output_tokens",
  "content_filter",
]);
const STATUSES: ReadonlySet<string> = new Set(["completed", "cancelled", "failed", "incomplete"]);

/** Events that say nothing that others do not say. */
const SILENT: ReadonlySet<string> = new Set([
  "conversation.created",
  "conversation.item.created",
  "conversation.item.added",
  "conversation.item.done",
  "conversation.item.retrieved",
  "conversation.item.input_audio_transcription.segment",
  "input_audio_buffer.timeout_triggered",
  "input_audio_buffer.dtmf_event_received",
  "output_audio_buffer.started",
  "output_audio_buffer.stopped",
  "output_audio_buffer.cleared",
  "rate_limits.updated",
  "response.output_item.added",
  "response.content_part.added",
  "response.content_part.done",
  "response.output_audio.done",
  "response.audio.done",
  "response.output_audio_transcript.done",
  "response.audio_transcript.done",
  "response.output_text.done",
  "response.text.done",
  "response.function_call_arguments.delta",
  "response.function_call_arguments.done",
  "response.mcp_call_arguments.delta",
  "response.mcp_call_arguments.done",
  "response.mcp_call.in_progress",
  "response.mcp_call.completed",
  "response.mcp_call.failed",
  "mcp_list_tools.in_progress",
  "mcp_list_tools.completed",
  "mcp_list_tools.failed",
]);

/** Speaks to a host of the realtime protocol. */
export class RealtimeUpstreamCodec implements LiveUpstreamCodec {
  readonly #context: LiveUpstreamContext;
  readonly #notes = new SessionNotes();
  readonly #input = new HostInput(DEFAULT_FORMAT);
  /** The format in which the host answers. */
  #hostOutput: LiveAudioFormat = DEFAULT_FORMAT;
  readonly #playback = new Playback();
  #detects = true;
  #interrupts = true;
  /** How the host writes down what the user says; null: not at all. */
  #transcribes: LiveSettings["inputTranscription"];
  /** Responses in progress, oldest first. A client of the host itself can have several. */
  readonly #turns: string[] = [];
  /** Responses that were asked for and have not begun. */
  #asked = 0;
  /** A response to ask for when the one in progress has ended. */
  #queued: { request: LiveTurnRequest | undefined } | undefined;
  readonly #openCalls = new Set<string>();
  /** The calls of the turn in progress, which are void if it is cancelled. */
  #newCalls: string[] = [];
  /** The host has accepted the client's settings. */
  #isSetUp = false;
  readonly #toolUses = new Map<string, number>();
  #frame: { mimeType: string; data: string } | undefined;

  constructor(context: LiveUpstreamContext) {
    this.#context = context;
  }

  get turnId(): string | undefined {
    return this.#turns.at(-1);
  }

  takeNotes(): readonly FieldNote[] {
    return this.#notes.take();
  }

  /** The host speaks first. */
  open(): LiveStep {
    return NO_STEP;
  }

  follow(command: LiveCommand): void {
    if (command.type === "respond") this.#asked++;
    if (command.type === "settings") this.#readDetection(command.settings);
  }

  /** Audio begins no turn here: the host says when one begins. */
  passAudio(): readonly LiveEvent[] {
    return NO_STEP.events;
  }

  encode(command: LiveCommand): LiveStep {
    const eventId = command.eventId;
    const send = (type: string, fields: JsonObject = {}): LiveStep => stepOf([this.#write(type, fields, eventId)]);
    switch (command.type) {
      case "settings":
        return this.#encodeSettings(command.settings, eventId);
      case "audio":
        return stepOf(this.#input.push(command.audio, command.format));
      case "audio-commit":
        this.#input.empty();
        return send("input_audio_buffer.commit");
      case "audio-clear":
        this.#input.empty();
        return send("input_audio_buffer.clear");
      case "audio-end":
        return stepOf([...this.#input.flush(), ...(this.#detects ? this.#input.appendSilence() : [])]);
      case "activity-start":
        return this.#beginActivity();
      case "activity-end":
        return this.#endActivity();
      case "video":
        this.#frame = { mimeType: command.mimeType, data: command.data };
        this.#notes.approximated(command.path, "this provider takes images; the last frame before each turn is sent");
        return NO_STEP;
      case "typed": {
        const content = [{ type: "input_text", text: command.text }];
        const item = this.#write(
          "conversation.item.create",
          { item: { type: "message", role: "user", content } },
          eventId,
        );
        return stepOf([...this.#takeFrame(), item, ...this.#respond("asked", undefined, eventId)]);
      }
      case "item":
        return stepOf(this.#encodeItem(command.item, command.after, eventId));
      case "item-delete":
        return send("conversation.item.delete", { item_id: command.itemId });
      case "item-retrieve":
        return send("conversation.item.retrieve", { item_id: command.itemId });
      case "item-truncate": {
        const { itemId, contentIndex, audioEndMs } = command;
        const fields = { item_id: itemId, content_index: contentIndex, audio_end_ms: audioEndMs };
        return send("conversation.item.truncate", fields);
      }
      case "respond": {
        const { cause, request } = command;
        return stepOf([...this.#takeFrame(), ...this.#respond(cause, request, eventId)]);
      }
      case "cancel":
        return send("response.cancel", withoutAbsent({ response_id: command.turnId }));
      case "invalid":
      case "unknown":
        return NO_STEP;
      default:
        return command satisfies never;
    }
  }

  decode(text: string): LiveStep {
    const event = parseFrame(text);
    if (event === undefined) {
      const error = new GatewayError("upstream_failed", "The provider sent a frame that is not a JSON object.");
      return stepOf([], [{ type: "error", error, fatal: true }]);
    }
    const type = stringAt(event, "type") ?? "";
    const step = SILENT.has(type) ? NO_STEP : this.#decode(type, event);
    const work = KNOWN_USAGE.has(type) ? undefined : unknownWork(type, event);
    return work === undefined ? step : stepOf(step.frames, [work, ...step.events]);
  }

  #decode(type: string, event: JsonObject): LiveStep {
    const itemId = stringAt(event, "item_id") ?? "";
    const one = (...found: LiveEvent[]): LiveStep => stepOf([], found);
    const part = numberAt(event, "content_index");
    switch (type) {
      case "session.created": {
        const session = objectAt(event, "session") ?? {};
        const id = stringAt(session, "id");
        return one({ type: "ready", settings: this.#readSession(session), ...withoutAbsent({ id }) });
      }
      case "session.updated":
      case "transcription_session.updated":
        this.#isSetUp = true;
        return one({ type: "settings-applied", settings: this.#readSession(objectAt(event, "session") ?? {}) });
      case "input_audio_buffer.speech_started":
        return this.#speechStarted(itemId, numberAt(event, "audio_start_ms"));
      case "input_audio_buffer.speech_stopped":
        return one({ type: "speech-stopped", itemId, ...withoutAbsent({ atMs: numberAt(event, "audio_end_ms") }) });
      case "input_audio_buffer.committed": {
        const previousItemId = stringAt(event, "previous_item_id");
        const committed: LiveEvent = { type: "input-committed", itemId, ...withoutAbsent({ previousItemId }) };
        if (this.#transcribes == null) return one(committed);
        return one({ type: "work-began", ...this.#transcription(itemId) }, committed);
      }
      case "input_audio_buffer.cleared":
        return one({ type: "input-cleared" });
      case "conversation.item.deleted":
        return one({ type: "item-deleted", itemId });
      case "conversation.item.truncated": {
        const [contentIndex, audioEndMs] = [
          numberAt(event, "content_index") ?? 0,
          numberAt(event, "audio_end_ms") ?? 0,
        ];
        return one({ type: "item-truncated", itemId, contentIndex, audioEndMs });
      }
      case "conversation.item.input_audio_transcription.delta":
        return one({ type: "input-transcript-delta", itemId, text: stringAt(event, "delta") ?? "" });
      case "conversation.item.input_audio_transcription.completed": {
        const counted = withoutAbsent({ usage: decodeTranscriptionUsage(event["usage"]) });
        const text = stringAt(event, "transcript") ?? "";
        const work = this.#transcription(itemId, part);
        return one({ type: "work-ended", ...work, ...counted }, { type: "input-transcript", itemId, text, ...counted });
      }
      case "conversation.item.input_audio_transcription.failed": {
        const error = decodeErrorObject(event, 200);
        const work = this.#transcription(itemId, part);
        return one({ type: "work-ended", ...work, error }, { type: "input-transcript-failed", itemId, error });
      }
      case "response.created":
        return this.#turnBegan(objectAt(event, "response") ?? {});
      case "response.done":
        return this.#turnEnded(objectAt(event, "response") ?? {});
      case "response.output_item.done":
        return this.#itemDone(objectAt(event, "item"));
      case "response.output_text.delta":
      case "response.text.delta":
        return one({ type: "text-delta", text: stringAt(event, "delta") ?? "" });
      case "response.output_audio_transcript.delta":
      case "response.audio_transcript.delta":
        return one({ type: "transcript-delta", text: stringAt(event, "delta") ?? "" });
      case "response.output_audio.delta":
      case "response.audio.delta":
        return this.#audioDelta(event, itemId);
      case "error": {
        const eventId = stringAt(objectAt(event, "error"), "event_id");
        // Whatever was asked for did not begin.
        if (this.#asked > 0 && this.#turns.length === 0) this.#asked--;
        // A client of the other protocol waits for its setup, and could not correct it.
        const fatal = this.#context.clientDialect === "live" && !this.#isSetUp;
        return one({ type: "error", error: decodeErrorObject(event, 200), fatal, ...withoutAbsent({ eventId }) });
      }
      default:
        return one({ type: "unknown", name: type.slice(0, 80) });
    }
  }

  #write(type: string, fields: JsonObject, eventId: string | undefined): string {
    return JSON.stringify({ type, ...(eventId === undefined ? {} : { event_id: eventId }), ...fields });
  }

  #encodeSettings(settings: LiveSettings, eventId: string | undefined): LiveStep {
    const own = this.#context.clientDialect === "realtime";
    if (settings.extras.some((extra) => pathOfExtra(extra) === RESUMED)) {
      const message = "This model has no sessions that can be resumed. Begin a new one.";
      const error = new GatewayError("unsupported_parameter", message, { path: RESUMED });
      return stepOf([], [{ type: "error", error, fatal: true }]);
    }
    this.#readDetection(settings);
    if (!own) for (const extra of settings.extras) this.#notes.dropped(pathOfExtra(extra), ONLY_ELSEWHERE);
    const { traits, quirks } = this.#context;
    const session = encodeSettings(settings, { own, traits, quirks, notes: this.#notes });
    return stepOf([this.#write("session.update", { session: { type: "realtime", ...session } }, eventId)]);
  }

  #readSession(session: JsonObject): LiveSettings {
    const settings = readLeniently(session);
    this.#input.format = settings.inputFormat ?? this.#input.format;
    this.#hostOutput = settings.outputFormat ?? this.#hostOutput;
    this.#readDetection(settings);
    if (settings.inputTranscription !== undefined) this.#transcribes = settings.inputTranscription;
    return settings;
  }

  /** An item may have more than one part of speech. */
  #transcription(itemId: string, part = 0): LiveWork {
    return {
      id: part === 0 ? itemId : `${itemId} ${part}`,
      what: TRANSCRIPTION,
      ...withoutAbsent({ model: this.#transcribes?.model }),
    };
  }

  #readDetection({ turnDetection }: LiveSettings): void {
    if (turnDetection === undefined) return;
    this.#detects = turnDetection !== null;
    this.#interrupts = turnDetection?.interrupts ?? false;
  }

  #beginActivity(): LiveStep {
    const cancelled = this.#turns.length > 0 ? [this.#write("response.cancel", {}, undefined)] : [];
    const cleared = this.#input.empty() > 0 ? [this.#write("input_audio_buffer.clear", {}, undefined)] : [];
    const { frames, events } = this.#interruption();
    return stepOf([...cancelled, ...frames, ...cleared], events);
  }

  #endActivity(): LiveStep {
    const last = this.#input.flush();
    if (this.#input.empty() < LEAST_COMMIT_MS) return stepOf(last);
    const commit = this.#write("input_audio_buffer.commit", {}, undefined);
    return stepOf([...last, ...this.#takeFrame(), commit, ...this.#respond("asked", undefined, undefined)]);
  }

  #encodeItem(item: LiveItem, after: string | undefined, eventId: string | undefined): string[] {
    for (const part of item.turn.parts) if (part.type === "tool-result") this.#openCalls.delete(part.callId);
    const own = this.#context.clientDialect === "realtime";
    const place = withoutAbsent({ previous_item_id: after });
    return encodeItem(item, { beta: false, own }, this.#notes).map((wire) =>
      this.#write("conversation.item.create", { ...place, item: wire }, eventId),
    );
  }

  /** The last frame of video, as an image before the turn. */
  #takeFrame(): string[] {
    const frame = this.#frame;
    if (frame === undefined) return [];
    this.#frame = undefined;
    const content = [{ type: "input_image", image_url: `data:${frame.mimeType};base64,${frame.data}` }];
    return [this.#write("conversation.item.create", { item: { type: "message", role: "user", content } }, undefined)];
  }

  /** One response at a time: the host refuses a second one. A new question interrupts; results wait for the model to finish. */
  #respond(cause: "asked" | "results", request: LiveTurnRequest | undefined, eventId: string | undefined): string[] {
    if (cause === "results" && this.#openCalls.size > 0) return [];
    if (this.#context.clientDialect === "realtime" || (this.#turns.length === 0 && this.#asked === 0)) {
      this.#asked++;
      return [this.#createResponse(request, eventId)];
    }
    this.#queued = { request };
    return cause === "asked" && this.#turns.length > 0 ? [this.#write("response.cancel", {}, undefined)] : [];
  }

  #createResponse(request: LiveTurnRequest | undefined, eventId: string | undefined): string {
    if (request === undefined) return this.#write("response.create", {}, eventId);
    const { settings, metadata, conversation, input } = request;
    const own = this.#context.clientDialect === "realtime";
    const { traits, quirks } = this.#context;
    const response = {
      ...(settings === undefined ? {} : encodeSettings(settings, { own, traits, quirks, notes: this.#notes })),
      ...withoutAbsent({
        metadata,
        conversation,
        input: input?.flatMap((item) => encodeItem(item, { beta: false, own }, this.#notes)),
      }),
    };
    return this.#write("response.create", Object.keys(response).length === 0 ? {} : { response }, eventId);
  }

  #turnBegan(response: JsonObject): LiveStep {
    const id = stringAt(response, "id") ?? this.#context.makeId();
    if (!this.#turns.includes(id)) this.#turns.push(id);
    this.#newCalls = [];
    const cause = this.#asked > 0 ? "asked" : "detected";
    this.#asked = Math.max(0, this.#asked - 1);
    const metadata = textsOf(response["metadata"]);
    return stepOf([], [{ type: "turn-began", id, cause, ...withoutAbsent({ metadata }) }]);
  }

  #turnEnded(response: JsonObject): LiveStep {
    const id = stringAt(response, "id") ?? this.turnId ?? this.#context.makeId();
    const events: LiveEvent[] = [];
    const at = this.#turns.indexOf(id);
    if (at >= 0) this.#turns.splice(at, 1);
    else events.push({ type: "turn-began", id, cause: "detected" });
    const said = stringAt(response, "status") ?? "";
    const status = (STATUSES.has(said) ? said : "failed") as LiveTurnStatus;
    if (status === "cancelled") for (const call of this.#newCalls) this.#openCalls.delete(call);
    const details = objectAt(response, "status_details");
    const word = stringAt(details, "reason");
    const reason = word === undefined ? undefined : ((END_REASONS.has(word) ? word : "other") as LiveEndReason);
    const error = status === "failed" ? decodeErrorObject(details ?? {}, 200) : undefined;
    const metadata = textsOf(response["metadata"]);
    const usage = this.#withTools(decodeTranscriptionUsage(response["usage"]));
    if (status !== "cancelled" && reason === undefined && status === "incomplete")
      events.push({ type: "turn-ended", id, status, reason: "other", ...withoutAbsent({ usage, metadata }) });
    else events.push({ type: "turn-ended", id, status, ...withoutAbsent({ reason, error, usage, metadata }) });
    const queued = this.#queued;
    if (queued === undefined || this.#turns.length > 0) return stepOf([], events);
    this.#queued = undefined;
    this.#asked++;
    return stepOf([this.#createResponse(queued.request, undefined)], events);
  }

  /** Calls of a server's tools, which the host made during the response. */
  #withTools(usage: Usage | undefined): Usage | undefined {
    let counted = usage;
    for (const [name, uses] of this.#toolUses) counted = addToolUse(counted, name, uses);
    this.#toolUses.clear();
    return counted;
  }

  #itemDone(item: JsonObject | undefined): LiveStep {
    const type = stringAt(item, "type");
    if (type === "mcp_call") this.#toolUses.set("mcp", (this.#toolUses.get("mcp") ?? 0) + 1);
    // Only a finished call is one: the arguments of an interrupted one are cut off.
    if (type !== "function_call" || stringAt(item, "status") === "incomplete") return NO_STEP;
    const id = stringAt(item, "call_id") ?? stringAt(item, "id") ?? "";
    this.#openCalls.add(id);
    this.#newCalls.push(id);
    const name = stringAt(item, "name") ?? "";
    return stepOf([], [{ type: "tool-call", id, name, arguments: stringAt(item, "arguments") ?? "" }]);
  }

  #audioDelta(event: JsonObject, itemId: string): LiveStep {
    const audio = decodeAudio(stringAt(event, "delta") ?? "");
    if (audio === undefined || audio.length === 0) return NO_STEP;
    const contentIndex = numberAt(event, "content_index") ?? 0;
    const seconds = audio.length / bytesPerSecond(this.#hostOutput);
    this.#playback.add({ itemId, contentIndex }, seconds, this.#context.nowMs());
    return stepOf([], [{ type: "audio-delta", audio, format: this.#hostOutput }]);
  }

  #speechStarted(itemId: string, atMs: number | undefined): LiveStep {
    const started: LiveEvent = { type: "speech-started", itemId, ...withoutAbsent({ atMs }) };
    if (this.#context.clientDialect === "realtime") return stepOf([], [started]);
    const { frames, events } = this.#interrupts ? this.#interruption() : NO_STEP;
    return stepOf([...frames, ...this.#takeFrame()], [started, ...events]);
  }

  /** The user talks over the model. What was not played is taken back, which a client of the host would do itself. */
  #interruption(): LiveStep {
    const stopped = this.#playback.stop(this.#context.nowMs());
    if (stopped === undefined) return this.#turns.length === 0 ? NO_STEP : stepOf([], [{ type: "interrupted" }]);
    const { itemId, contentIndex, heardMs } = stopped;
    const fields = { item_id: itemId, content_index: contentIndex, audio_end_ms: heardMs };
    return stepOf([this.#write("conversation.item.truncate", fields, undefined)], [{ type: "interrupted" }]);
  }
}

/** Events whose usage is read where they are decoded. */
const KNOWN_USAGE: ReadonlySet<string> = new Set(["conversation.item.input_audio_transcription.completed"]);

/** Whatever an event is called, what it counts is work. */
function unknownWork(type: string, event: JsonObject): LiveEvent | undefined {
  const usage = decodeTranscriptionUsage(event["usage"]);
  if (usage === undefined) return undefined;
  const ids = ["item_id", "response_id", "event_id"].map((name) => stringAt(event, name));
  return { type: "work-ended", id: `${type} ${ids.find((id) => id !== undefined)}`, what: type.slice(0, 80), usage };
}

const RESUMED = "setup.sessionResumption.handle";
const ONLY_ELSEWHERE = "only its own protocol has this field, and this provider uses another one";

/** A host may show what the gateway cannot read. */
function readLeniently(session: JsonObject): LiveSettings {
  try {
    return decodeSettings(session, "session");
  } catch {
    // The client did not write these settings, and could not correct them.
    return { paths: {}, extras: [] };
  }
}

function textsOf(raw: unknown): Record<string, string> | undefined {
  if (!isObject(raw)) return undefined;
  const texts = Object.entries(raw).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return texts.length === 0 ? undefined : Object.fromEntries(texts);
}
