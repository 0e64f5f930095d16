import type { ByteBuffer } from "../../base/byte-buffer.ts";
import type { CanonEvent } from "../../canon/event.ts";

/** An event that adds to an open block. */
export type DeltaEvent = Extract<CanonEvent, { type: "text-delta" | "reasoning-delta" | "tool-input-delta" }>;

export const isDelta = (event: CanonEvent): event is DeltaEvent =>
  event.type === "text-delta" || event.type === "reasoning-delta" || event.type === "tool-input-delta";

/** Counts the events of a stream that numbers them. */
export interface EventCounter {
  /** The number of the next event. */
  sequence: number;
}

const MARK = "\u{f8ff}text\u{f8ff}";
const QUOTED_MARK = JSON.stringify(MARK);

/** How the deltas of an open block are written: identical except for the text and, in some dialects, a number. */
export class DeltaForm {
  readonly #counter: EventCounter | undefined;
  /** The bytes before the number, if there is one. */
  readonly #lead: Buffer;
  /** The text goes between these parts, as JSON without quotes. */
  readonly #parts: readonly Buffer[];

  private constructor(lead: string, parts: readonly string[], counter?: EventCounter) {
    this.#lead = Buffer.from(lead);
    this.#parts = parts.map((part) => Buffer.from(part));
    this.#counter = counter;
  }

  /** `write` returns the event for a text. */
  static of(write: (text: string) => string): DeltaForm {
    return new DeltaForm("", partsOf(write(MARK)));
  }

  /** `lead` is written before the event's number, and the result of `write` after it. */
  static numbered(counter: EventCounter, lead: string, write: (text: string) => string): DeltaForm {
    return new DeltaForm(lead, partsOf(write(MARK)), counter);
  }

  /** Such deltas are not sent to the client, or only later. */
  static readonly NOTHING = new DeltaForm("", []);

  /** Whether the last event that was written, `text` as `written`, had this form. */
  wrote(text: string, written: string): boolean {
    const escaped = JSON.stringify(text).slice(1, -1);
    const number = this.#counter === undefined ? "" : String(this.#counter.sequence - 1);
    return `${this.#lead}${number}${this.#parts.join(escaped)}` === written;
  }

  /** Writes an event whose text is between two offsets of `from`, escaped as JSON. */
  write(from: Buffer, start: number, end: number, output: ByteBuffer): void {
    const parts = this.#parts;
    if (parts.length === 0) return;
    if (this.#counter !== undefined) {
      output.putBytes(this.#lead);
      output.putNumber(this.#counter.sequence++);
    }
    let space = (parts.length - 1) * (end - start);
    for (const part of parts) space += part.length;
    output.reserve(space);
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index];
      if (part === undefined) break;
      if (index > 0) output.putPart(from, start, end);
      output.putPart(part, 0, part.length);
    }
  }
}

function partsOf(marked: string): string[] {
  const parts = marked.split(QUOTED_MARK);
  const last = parts.length - 1;
  return parts.map((part, index) => `${index === 0 ? "" : '"'}${part}${index === last ? "" : '"'}`);
}
