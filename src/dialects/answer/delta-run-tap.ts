import { isUtf8 } from "node:buffer";
import { ByteBuffer } from "../../base/byte-buffer.ts";
import type { CanonEvent } from "../../canon/event.ts";
import type { Usage } from "../../canon/usage.ts";
import { FrameTemplate } from "../../wire/frame-template.ts";
import { endOfEvent, readFrames, type SseFrame } from "../../wire/sse.ts";
import { viewedBytes } from "../../wire/viewed-bytes.ts";
import type { AnswerReading, StreamDecoder, StreamEncoder } from "../codec.ts";
import type { TapProgress } from "../dialect.ts";
import { type DeltaEvent, type DeltaForm, isDelta } from "./delta-form.ts";
import { MAX_CHARACTERS, TranslatingTap } from "./translating-tap.ts";

/** The most text that decoder and encoder have not received yet. */
const MAX_UNHEARD_BYTES = 64 * 1024;
/** After this many deltas without a template, the tap stops trying to learn one. */
const MAX_LESSONS = 32;

/** A delta that was translated with care, and what the client got for it. */
interface Lesson {
  frame: SseFrame;
  event: DeltaEvent;
  text: string;
}

/**
 * The tap of the translated lane for streams with many deltas: once one was translated with care, the next ones that differ from it
 * in their text alone are written in the client's form around the same bytes, still escaped, and not parsed. Decoder and encoder
 * receive the whole run when it is over, as one delta. What the client reads is the same as without this
 * class, byte for byte (decision 0055).
 */
export class DeltaRunTap extends TranslatingTap {
  #template: FrameTemplate | undefined;
  #form: DeltaForm | undefined;
  /** The escaped text of the run that was not passed on yet, and its last event with the offsets of the text in it. */
  readonly #unheard = new ByteBuffer();
  readonly #last = new ByteBuffer();
  #textStart = 0;
  #textEnd = 0;
  #lessons = 0;
  /** A delta from which the template is learned when the next event arrives, so that it does not delay this one. */
  #lesson: Lesson | undefined;

  /** Whether this tap can be used for them. */
  static suits(decoder: StreamDecoder, encoder: StreamEncoder, reading: AnswerReading): boolean {
    return decoder.deltaPlaces !== undefined && encoder.formOf !== undefined && Object.keys(reading).length === 0;
  }

  override get position(): unknown {
    this.#tell();
    return super.position;
  }

  override get usage(): Usage | undefined {
    if (this.usageRuns) this.#tell();
    return super.usage;
  }

  override push(events: Uint8Array, output: ByteBuffer): TapProgress {
    // What is not UTF-8 is repaired on the careful way, and not here.
    if (!isUtf8(events)) {
      this.#tell();
      return super.push(events, output);
    }
    const { bytes, view } = viewedBytes(events);
    for (let at = 0; at < events.length && !this.failure && this.state !== "ended"; ) {
      const run = this.#passRun(bytes, view, at, output);
      if (run > at) {
        at = run;
        continue;
      }
      this.#tell();
      const end = endOfEvent(events, at);
      output.putText(this.pushCarefully(bytes.toString("utf8", at, end)));
      at = end;
    }
    return this;
  }

  override end(rest: string, output: ByteBuffer): TapProgress {
    this.#tell();
    return super.end(rest, output);
  }

  /** Where the run of ordinary deltas ends that begins at `at`; `at` itself where there is none. */
  #passRun(bytes: Buffer, view: DataView, at: number, output: ByteBuffer): number {
    if (this.#lesson !== undefined) this.#learn(this.#lesson);
    const template = this.#template;
    const form = this.#form;
    if (template === undefined || form === undefined) return at;
    let from = at;
    let last = at;
    for (let end = template.match(view, from); end >= 0; end = template.match(view, from)) {
      if (this.generatedCharacters + template.weight > MAX_CHARACTERS) break;
      const { textStart, textEnd } = template;
      this.generatedCharacters += template.weight;
      form.write(bytes, textStart, textEnd, output);
      this.#unheard.reserve(textEnd - textStart);
      this.#unheard.putPart(bytes, textStart, textEnd);
      this.#textStart = textStart - from;
      this.#textEnd = textEnd - from;
      last = from;
      from = end;
    }
    if (from === at) return at;
    this.#last.clear();
    this.#last.reserve(from - last);
    this.#last.putPart(bytes, last, from);
    if (this.#unheard.length > MAX_UNHEARD_BYTES) this.#tell();
    return from;
  }

  /** Passes the run to decoder and encoder: its last event, as if that contained the whole text. */
  #tell(): void {
    if (this.#unheard.length === 0) return;
    const last = this.#last.view();
    const before = last.toString("utf8", 0, this.#textStart);
    const raw = `${before}${this.#unheard.view().toString("utf8")}${last.toString("utf8", this.#textEnd)}`;
    this.#unheard.clear();
    for (const frame of readFrames(raw)) {
      for (const event of this.decoder.push(frame)) {
        if (isDelta(event) && this.encoder.absorb !== undefined) this.encoder.absorb(event);
        else this.encoder.push(event);
      }
    }
  }

  /** Any event that is read with care may change what the next ones mean. */
  protected override translated(frame: SseFrame, events: readonly CanonEvent[], text: string): void {
    this.#template = undefined;
    this.#lesson = undefined;
    const [event, other] = events;
    if (event === undefined || other !== undefined || !isDelta(event)) return;
    if (this.failure !== undefined || !this.contentSeen || this.#lessons === MAX_LESSONS) return;
    // No run is made of such events.
    if (frame.raw.length > MAX_UNHEARD_BYTES) return;
    this.#lesson = { frame, event, text };
  }

  #learn({ frame, event, text }: Lesson): void {
    this.#lesson = undefined;
    this.#lessons++;
    const { deltaPlaces } = this.decoder;
    const form = this.encoder.formOf?.(event);
    if (deltaPlaces === undefined || form?.wrote(event.text, text) !== true) return;
    const template = FrameTemplate.learn(frame, deltaPlaces, event.text);
    if (template === undefined) return;
    this.#lessons = 0;
    this.#form = form;
    this.#template = template;
  }
}
