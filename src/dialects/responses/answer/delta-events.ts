import { MIN_WEIGHT, weigh } from "../../../base/text-weight.ts";
import { BytePattern } from "../../../wire/byte-pattern.ts";

const headOf = (name: string) => new BytePattern(`event: response.${name}\ndata: {`);

/** Events that carry generated text in `delta`. */
const DELTAS = ["output_text", "function_call_arguments", "reasoning_summary_text", "reasoning_text"].map((kind) =>
  headOf(`${kind}.delta`),
);
/** Events that say again what others have said, or only that something has begun. */
const IDLE = [
  "output_text.done",
  "content_part.added",
  "content_part.done",
  "reasoning_summary_text.done",
  "reasoning_summary_part.added",
  "reasoning_summary_part.done",
].map(headOf);
const DELTA = new BytePattern('"delta":"');
const LF = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACE = 0x7d;

/**
 * Events with nothing to patch, recognised by their bytes: their name, and one line of data. Hosts pad them to the same length, so
 * that what a delta weighs is read from its text. Anything that differs takes the careful road.
 */
export class DeltaEvents {
  /** How many events the last `readRun` has found, and the weight of their text. */
  count = 0;
  weight = 0;
  /** Of the same kind as the last one, nearly always, and with its text at the same place. */
  #head: BytePattern | undefined;
  #offset = 0;

  /** Where the run of such events ends that begins at `at`; `at` itself where there is none. `view` shows the same bytes. */
  readRun(events: Buffer, view: DataView, at: number): number {
    this.count = 0;
    this.weight = 0;
    let from = at;
    for (let end = this.#match(events, view, from); end >= 0; end = this.#match(events, view, from)) {
      this.count++;
      from = end;
    }
    return from;
  }

  #match(events: Buffer, view: DataView, at: number): number {
    if (at >= events.length) return -1;
    if (this.#head === undefined || !this.#head.isAt(view, at)) {
      this.#head = DELTAS.find((head) => head.isAt(view, at));
      if (this.#head === undefined) return matchIdle(events, view, at);
    }
    const data = at + this.#head.length;
    const end = endOfData(events, data);
    if (end < 0) return -1;
    if (!DELTA.isAt(view, data + this.#offset)) {
      this.#offset = events.indexOf(DELTA.bytes, data) - data;
      if (this.#offset < 0) return -1;
    }
    const text = data + this.#offset + DELTA.length;
    if (text >= end) return -1;
    this.weight += weightOfText(view, text);
    return end;
  }
}

function matchIdle(events: Buffer, view: DataView, at: number): number {
  const head = IDLE.find((one) => one.isAt(view, at));
  return head === undefined ? -1 : endOfData(events, at + head.length);
}

/** After the blank line that ends an event with one line of data, or -1. */
function endOfData(events: Buffer, from: number): number {
  const end = events.indexOf(LF, from);
  return end >= 0 && events[end - 1] === BRACE && events[end + 1] === LF ? end + 2 : -1;
}

/** The weight of the text of a JSON string that begins at `from`. */
function weightOfText(view: DataView, from: number): number {
  let characters = 0;
  let at = from;
  for (; at < view.byteLength; at++) {
    const byte = view.getUint8(at);
    if (byte === QUOTE) break;
    if ((byte & 0xc0) !== 0x80) characters++;
    if (byte !== BACKSLASH) continue;
    at++;
    characters++;
  }
  return characters === 0 ? 0 : Math.max(MIN_WEIGHT, weigh(characters, at - from));
}
