import type { ByteBuffer } from "../../base/byte-buffer.ts";
import { GatewayError } from "../../canon/error.ts";
import { addMedia, type MediaTokens } from "../../canon/media-tokens.ts";
import type { Stop } from "../../canon/stop.ts";
import { laterUsage, type Usage } from "../../canon/usage.ts";
import { EventTooLargeError, readFrames, type SseFrame, takeFrames } from "../../wire/sse.ts";
import type { Tap, TapProgress } from "../dialect.ts";
import { requireFewEvents, requireSmallEvent } from "./answer-bounds.ts";

const decoder = new TextDecoder("utf-8");

/** What every tap keeps, and the careful road: one event after the other until the stream has ended or failed. */
export abstract class TapBase implements Tap {
  state: "open" | "complete" | "ended" = "open";
  contentSeen = false;
  readonly usageRuns: boolean = false;
  failure: GatewayError | undefined;
  protected usageSeen: Usage | undefined;
  stop: Stop | undefined;
  generatedCharacters = 0;
  generatedMedia: MediaTokens | undefined;
  reasoningSeen = false;
  #events = 0;

  get usage(): Usage | undefined {
    return this.usageSeen;
  }

  /** The host reports what the answer has used so far. */
  protected report(usage: Usage | undefined): void {
    if (usage !== undefined) this.usageSeen = laterUsage(this.usageSeen, usage);
  }

  /** The host sent an image, or a piece of sound, in so many characters of base64. */
  protected bring(kind: "image" | "audio", base64Characters: number): void {
    this.generatedMedia = addMedia(this.generatedMedia ?? {}, kind, base64Characters);
  }

  push(events: Uint8Array, output: ByteBuffer): TapProgress {
    output.putText(this.pushText(decoder.decode(events)));
    return this;
  }

  end(rest: string, output: ByteBuffer): TapProgress {
    if (this.state === "open") output.putText(this.pushRest(rest));
    if (this.state === "open" || this.failure) return this;
    output.putText(this.closing());
    if (this.failure === undefined) this.state = "ended";
    return this;
  }

  protected pushText(events: string): string {
    return this.pushCarefully(events);
  }

  protected pushCarefully(events: string): string {
    let text = "";
    try {
      takeFrames(events, (frame) => {
        if (this.failure || this.state === "ended") return false;
        text += this.#read(frame);
        return true;
      });
    } catch (thrown) {
      if (!(thrown instanceof EventTooLargeError)) throw thrown;
      this.failure = new GatewayError("upstream_failed", `The provider sent ${thrown.message}.`);
    }
    return text;
  }

  /** Never on the quick road, which takes an event's wholeness for granted: half an event does not parse, and fails. */
  protected pushRest(rest: string): string {
    if (rest.trim() === "") return "";
    const events = `${rest.trimEnd()}\n\n`;
    // Half of an event's name says nothing, and would spoil the error event that follows.
    return readFrames(events).some(({ data }) => data !== undefined) ? this.pushCarefully(events) : "";
  }

  /** What is still owed to the client after a proper end. */
  protected closing(): string {
    return "";
  }

  /** What came before an event that cannot be read stands, however the bytes were cut (H31). */
  #read(frame: SseFrame): string {
    try {
      requireFewEvents(++this.#events);
      // Readers of events take one without data for none.
      if (frame.data === "") return "";
      if (frame.data !== undefined) requireSmallEvent(frame.data);
      return this.frame(frame);
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown;
      this.failure = thrown;
      return "";
    }
  }

  /** Text for the client in place of this event. */
  protected abstract frame(frame: SseFrame): string;
}
