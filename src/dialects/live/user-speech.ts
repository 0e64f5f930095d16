import { type JsonObject, stringAt } from "../../base/json.ts";
import type { LiveEvent } from "../../canon/live.ts";
import { decodeDuration } from "./duration.ts";

/** The user's current speech, or the last one. */
interface Speech {
  itemId: string;
  started: boolean;
  committed: boolean;
  text: string;
  /** The host has written all of it down. */
  finished: boolean;
}

/** The user's speech as items of the conversation. Hosts of this protocol have no names for them. */
export class UserSpeech {
  readonly #makeItemId: () => string;
  /** How much of the session's audio the host has. */
  readonly #heardMs: () => number;
  #speech: Speech | undefined;

  constructor(makeItemId: () => string, heardMs: () => number) {
    this.#makeItemId = makeItemId;
    this.#heardMs = heardMs;
  }

  get itemId(): string | undefined {
    return this.#speech?.itemId;
  }

  /** The client says that this is what the user said. */
  commit(): LiveEvent {
    const itemId = this.#makeItemId();
    this.#speech = { itemId, started: false, committed: true, text: "", finished: false };
    return { type: "input-committed", itemId };
  }

  /** The host has written something down. */
  heard(transcription: JsonObject, events: LiveEvent[]): void {
    const text = stringAt(transcription, "text") ?? "";
    let speech = this.#speech;
    if (text !== "" && (speech === undefined || speech.finished)) {
      speech = this.#begin();
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

  /** The host has noticed that the user speaks, or has finished. */
  voice(activity: JsonObject, events: LiveEvent[]): void {
    const type = stringAt(activity, "voiceActivityType");
    const atMs = decodeDuration(activity["audioOffset"]) ?? this.#heardMs();
    if (type === "ACTIVITY_START") {
      const speech = this.#begin();
      speech.started = true;
      events.push({ type: "speech-started", itemId: speech.itemId, atMs });
    } else if (type === "ACTIVITY_END" && this.#speech !== undefined && !this.#speech.committed)
      this.#end(this.#speech, atMs, events);
  }

  /** The user speaks while the model does. */
  interrupted(events: LiveEvent[]): void {
    if (this.#speech !== undefined && !this.#speech.committed) return;
    const speech = this.#begin();
    speech.started = true;
    events.push({ type: "speech-started", itemId: speech.itemId, atMs: this.#heardMs() });
  }

  /** The host answers by itself, so that the user has finished. */
  answered(hasSpoken: boolean, events: LiveEvent[]): void {
    const speech = this.#speech === undefined && hasSpoken ? this.#begin() : this.#speech;
    if (speech !== undefined && !speech.committed) this.#end(speech, this.#heardMs(), events);
  }

  /** The turn that answers it is over. */
  turnEnded(events: LiveEvent[]): void {
    const speech = this.#speech;
    if (!speech?.committed) return;
    this.#endTranscript(speech, events);
    this.#speech = undefined;
  }

  #begin(): Speech {
    const speech = { itemId: this.#makeItemId(), started: false, committed: false, text: "", finished: false };
    this.#speech = speech;
    return speech;
  }

  #end(speech: Speech, atMs: number, events: LiveEvent[]): void {
    if (speech.started) events.push({ type: "speech-stopped", itemId: speech.itemId, atMs });
    speech.committed = true;
    events.push({ type: "input-committed", itemId: speech.itemId });
  }

  #endTranscript(speech: Speech, events: LiveEvent[]): void {
    if (speech.finished || speech.text === "") return;
    speech.finished = true;
    events.push({ type: "input-transcript", itemId: speech.itemId, text: speech.text });
  }
}
