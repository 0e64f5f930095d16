import type { JsonObject } from "../../base/json.ts";
import type { LiveEndReason, LiveEvent, LiveSettings } from "../../canon/live.ts";
import { encodeFormat } from "./audio-format.ts";
import { encodeError } from "./error-event.ts";
import type { EventWriter } from "./event-writer.ts";
import { encodeLimit } from "./settings.ts";
import { encodeUsage } from "./usage.ts";

type Ended = LiveEvent & { type: "turn-ended" };

/** The one part of a message. Audio has a transcript. */
interface OpenPart {
  kind: "text" | "audio";
  text: string;
}

interface OpenMessage {
  id: string;
  index: number;
  part: OpenPart;
}

const PROTOCOL_REASONS: ReadonlySet<LiveEndReason> = new Set<LiveEndReason>([
  "turn_detected",
  "client_cancelled",
  "max_output_tokens",
  "content_filter",
]);

/** Writes one response: its items, each of which begins and ends, and then its own end. */
export class TurnWriter {
  readonly id: string;
  readonly #events: EventWriter;
  readonly #settings: LiveSettings;
  readonly #metadata: Readonly<Record<string, string>> | undefined;
  readonly #output: JsonObject[] = [];
  #message: OpenMessage | undefined;
  /** The item before the next one, in the conversation. */
  #previous: string | undefined;

  constructor(
    id: string,
    events: EventWriter,
    settings: LiveSettings,
    about: Pick<Ended, "metadata"> & { after?: string | undefined },
  ) {
    this.id = id;
    this.#events = events;
    this.#settings = settings;
    this.#metadata = about.metadata;
    this.#previous = about.after;
  }

  /** The last item of the response so far. */
  get lastItem(): string | undefined {
    return this.#previous;
  }

  begin(): string[] {
    return [this.#events.write("response.created", { response: this.#show({ status: "in_progress" }) })];
  }

  text(text: string): string[] {
    const [message, frames] = this.#open("text");
    message.part.text += text;
    frames.push(this.#delta("response.output_text.delta", message, text));
    return frames;
  }

  transcript(text: string): string[] {
    const [message, frames] = this.#open("audio");
    message.part.text += text;
    frames.push(this.#delta("response.output_audio_transcript.delta", message, text));
    return frames;
  }

  /** `audio` is base64. */
  audio(audio: string): string[] {
    const [message, frames] = this.#open("audio");
    frames.push(this.#delta("response.output_audio.delta", message, audio));
    return frames;
  }

  call(callId: string, name: string, input: string): string[] {
    const frames = this.#closeMessage("completed");
    const index = this.#output.length;
    const id = this.#events.makeItemId();
    const item = { id, object: "realtime.item", type: "function_call", name, call_id: callId };
    const place = { response_id: this.id, output_index: index };
    const opened = { ...item, status: "in_progress", arguments: "" };
    const whole = { ...item, status: "completed", arguments: input };
    const side = { ...place, item_id: id, call_id: callId };
    frames.push(
      this.#events.write("response.output_item.added", { ...place, item: opened }),
      ...this.#events.itemAdded(opened, this.#previous),
      this.#events.write("response.function_call_arguments.delta", { ...side, delta: input }),
      this.#events.write("response.function_call_arguments.done", { ...side, name, arguments: input }),
      this.#events.write("response.output_item.done", { ...place, item: whole }),
      ...this.#events.itemDone(whole, this.#previous),
    );
    this.#output.push(whole);
    this.#previous = id;
    return frames;
  }

  end({ status, reason, error, usage, metadata }: Omit<Ended, "type" | "id">): string[] {
    const frames = this.#closeMessage(status === "completed" ? "completed" : "incomplete");
    const told = reason !== undefined && PROTOCOL_REASONS.has(reason) ? { reason } : {};
    const details =
      status === "completed"
        ? null
        : { type: status, ...told, ...(error === undefined ? {} : { error: errorOf(error) }) };
    const all = metadata === undefined ? {} : { metadata: { ...this.#metadata, ...metadata } };
    const shown = { status, status_details: details, usage: usage === undefined ? null : encodeUsage(usage), ...all };
    frames.push(this.#events.write("response.done", { response: this.#show(shown) }));
    return frames;
  }

  #show(changes: JsonObject): JsonObject {
    const { outputFormat, voice, modalities, maxOutputTokens } = this.#settings;
    const isText = modalities?.includes("audio") === false;
    const output = {
      ...(outputFormat === undefined ? {} : { format: encodeFormat(outputFormat) }),
      ...(voice === undefined ? {} : { voice }),
    };
    return {
      object: "realtime.response",
      id: this.id,
      status: "in_progress",
      status_details: null,
      output: [...this.#output],
      conversation_id: this.#events.conversationId,
      ...(this.#events.beta
        ? { modalities: isText ? ["text"] : ["text", "audio"] }
        : { output_modalities: isText ? ["text"] : ["audio"], audio: { output } }),
      max_output_tokens: encodeLimit(maxOutputTokens ?? "unlimited"),
      usage: null,
      metadata: this.#metadata ?? null,
      ...changes,
    };
  }

  #open(kind: OpenPart["kind"]): [OpenMessage, string[]] {
    const open = this.#message;
    if (open?.part.kind === kind) return [open, []];
    const frames = this.#closeMessage("completed");
    const message: OpenMessage = {
      id: this.#events.makeItemId(),
      index: this.#output.length,
      part: { kind, text: "" },
    };
    this.#message = message;
    const item = this.#itemOf(message, "in_progress", []);
    const place = { response_id: this.id, output_index: message.index };
    frames.push(
      this.#events.write("response.output_item.added", { ...place, item }),
      ...this.#events.itemAdded(item, this.#previous),
      this.#events.write("response.content_part.added", { ...this.#placeOf(message), part: partOf(message.part) }),
    );
    return [message, frames];
  }

  #closeMessage(status: "completed" | "incomplete"): string[] {
    const message = this.#message;
    if (message === undefined) return [];
    this.#message = undefined;
    const { part, id, index } = message;
    const place = this.#placeOf(message);
    const done =
      part.kind === "text"
        ? [this.#events.write("response.output_text.done", { ...place, text: part.text })]
        : [
            this.#events.write("response.output_audio.done", place),
            this.#events.write("response.output_audio_transcript.done", { ...place, transcript: part.text }),
          ];
    const item = this.#itemOf(message, status, [this.#contentOf(part)]);
    const frames = [
      ...done,
      this.#events.write("response.content_part.done", { ...place, part: partOf(part) }),
      this.#events.write("response.output_item.done", { response_id: this.id, output_index: index, item }),
      ...this.#events.itemDone(item, this.#previous),
    ];
    this.#output.push(item);
    this.#previous = id;
    return frames;
  }

  /** Parts of messages have other names than parts of responses. */
  #contentOf({ kind, text }: OpenPart): JsonObject {
    const { beta } = this.#events;
    if (kind === "text") return { type: beta ? "text" : "output_text", text };
    return { type: beta ? "audio" : "output_audio", transcript: text };
  }

  #itemOf({ id }: OpenMessage, status: string, content: readonly JsonObject[]): JsonObject {
    return { id, object: "realtime.item", type: "message", status, role: "assistant", content };
  }

  #placeOf({ id, index }: OpenMessage): JsonObject {
    return { response_id: this.id, item_id: id, output_index: index, content_index: 0 };
  }

  #delta(type: string, message: OpenMessage, delta: string): string {
    return this.#events.write(type, { ...this.#placeOf(message), delta });
  }
}

const partOf = ({ kind, text }: OpenPart): JsonObject =>
  kind === "text" ? { type: "text", text } : { type: "audio", transcript: text };

function errorOf(error: NonNullable<Ended["error"]>): JsonObject {
  const { type, code, message } = encodeError(error, undefined);
  return { type, code, message };
}
