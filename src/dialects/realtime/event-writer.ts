import type { JsonObject } from "../../base/json.ts";

/** The names that events had in the beta. */
const BETA_NAMES: ReadonlyMap<string, string> = new Map([
  ["response.output_text.delta", "response.text.delta"],
  ["response.output_text.done", "response.text.done"],
  ["response.output_audio.delta", "response.audio.delta"],
  ["response.output_audio.done", "response.audio.done"],
  ["response.output_audio_transcript.delta", "response.audio_transcript.delta"],
  ["response.output_audio_transcript.done", "response.audio_transcript.done"],
]);

/** Writes events, each with an id of its own. */
export class EventWriter {
  readonly beta: boolean;
  readonly conversationId: string;
  readonly #makeId: () => string;
  /** What the first event has besides. */
  #first: JsonObject;

  constructor(makeId: () => string, beta: boolean, first: JsonObject) {
    this.#makeId = makeId;
    this.beta = beta;
    this.#first = first;
    this.conversationId = `conv_${makeId()}`;
  }

  makeItemId(): string {
    return `item_${this.#makeId()}`;
  }

  write(type: string, fields: JsonObject): string {
    const name = this.beta ? (BETA_NAMES.get(type) ?? type) : type;
    const first = this.#first;
    this.#first = NOTHING;
    return JSON.stringify({ type: name, event_id: `event_${this.#makeId()}`, ...fields, ...first });
  }

  itemAdded(item: JsonObject, previous: string | undefined): string[] {
    const type = this.beta ? "conversation.item.created" : "conversation.item.added";
    return [this.write(type, { previous_item_id: previous ?? null, item })];
  }

  /** The beta has no such event. */
  itemDone(item: JsonObject, previous: string | undefined): string[] {
    return this.beta ? [] : [this.write("conversation.item.done", { previous_item_id: previous ?? null, item })];
  }
}

const NOTHING: JsonObject = {};
