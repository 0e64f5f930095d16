import { GatewayError } from "../canon/error.ts";
import type { Stop } from "../canon/stop.ts";
import type { Usage } from "../canon/usage.ts";
import { readFrames, type SseFrame } from "../wire/sse.ts";
import type { Tap } from "./dialect.ts";

/** What every tap keeps, and the careful road: one event after the other until the stream has ended or failed. */
export abstract class TapBase implements Tap {
  state: "open" | "complete" | "ended" = "open";
  contentSeen = false;
  readonly usageRuns: boolean = false;
  failure: GatewayError | undefined;
  protected usageSeen: Usage | undefined;
  stop: Stop | undefined;
  generatedCharacters = 0;
  reasoningSeen = false;

  get usage(): Usage | undefined {
    return this.usageSeen;
  }

  abstract push(events: string): string;

  /** Never on the quick road, which takes an event's wholeness for granted: half an event does not parse, and fails. */
  pushLast(rest: string): string | undefined {
    if (rest.trim() === "") return undefined;
    const events = `${rest.trimEnd()}\n\n`;
    // Half of an event's name says nothing, and would spoil the error event that follows.
    return readFrames(events).some(({ data }) => data !== undefined) ? this.pushCarefully(events) : "";
  }

  end(): string {
    return "";
  }

  protected pushCarefully(events: string): string {
    let text = "";
    for (const frame of readFrames(events)) {
      if (this.failure || this.state === "ended") break;
      // Readers of events take one without data for none.
      if (frame.data !== "") text += this.#read(frame);
    }
    return text;
  }

  /** What came before an event that cannot be read stands, however the bytes were cut (H31). */
  #read(frame: SseFrame): string {
    try {
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
