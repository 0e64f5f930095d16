import type { ByteBuffer } from "../../base/byte-buffer.ts";
import { GatewayError } from "../../canon/error.ts";
import { addMedia, type MediaTokens } from "../../canon/media-tokens.ts";
import type { Stop } from "../../canon/stop.ts";
import { laterUsage, type Usage } from "../../canon/usage.ts";
import { EventTooLargeError, readFrames, type SseFrame, takeFrames } from "../../wire/sse.ts";
import type { Tap, TapProgress } from "../dialect.ts";
import { requireFewEvents, requireSmallEvent } from "./answer-bounds.ts";

const decoder = new TextDecoder("utf-8");

/** The state that every tap keeps, and the slow path: one event after the other until the stream has ended or failed. */
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
  readonly pending = undefined;
  #events = 0;

  get usage(): Usage | undefined {
    return this.usageSeen;
  }

  /** The host reports the usage so far. */
  protected report(usage: Usage | undefined): void {
    if (usage !== undefined) this.usageSeen = laterUsage(this.usageSeen, usage);
  }

  /** The host sent an image or audio, in this many base64 characters. */
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

  /** Never takes the fast path, which assumes complete events: half an event does not parse, and fails. */
  protected pushRest(rest: string): string {
    if (rest.trim() === "") return "";
    const events = `${rest.trimEnd()}\n\n`;
    // A truncated event name has no meaning, and would corrupt the error event that follows.
    return readFrames(events).some(({ data }) => data !== undefined) ? this.pushCarefully(events) : "";
  }

  /** What the client still needs after a proper end. */
  protected closing(): string {
    return "";
  }

  /** Everything before an unreadable event is kept, however the bytes were cut (H31). */
  #read(frame: SseFrame): string {
    try {
      requireFewEvents(++this.#events);
      // Readers ignore an event without data.
      if (frame.data === "") return "";
      if (frame.data !== undefined) requireSmallEvent(frame.data);
      return this.frame(frame);
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown;
      this.failure = thrown;
      return "";
    }
  }

  /** The client's text for this event. */
  protected abstract frame(frame: SseFrame): string;
}
