import { MIN_WEIGHT, weigh } from "../../base/text-weight.ts";
import { BytePattern } from "../../wire/byte-pattern.ts";

const HEADS = ["output_text", "function_call_arguments", "reasoning_summary_text", "reasoning_text"].map(
  (kind) => new BytePattern(`event: response.${kind}.delta\ndata: {`),
);
const DELTA = Buffer.from('"delta":"');
const LF = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACE = 0x7d;

/**
 * Events that carry generated text and nothing to patch, recognised by their bytes: their name, one line of data, and the text
 * in it. Hosts pad them to the same length, so that what they weigh is read from the text. Anything that differs takes the careful road.
 */
export class DeltaEvents {
  /** How many events the last `readRun` has found, and the weight of their text. */
  count = 0;
  weight = 0;
  /** Of the same kind as the last one, nearly always. */
  #head = HEADS[0];

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
    if (!this.#head?.isAt(view, at)) this.#head = HEADS.find((head) => head.isAt(view, at)) ?? this.#head;
    const head = this.#head;
    if (!head?.isAt(view, at)) return -1;
    const data = at + head.length;
    const end = events.indexOf(LF, data);
    if (end < 0 || events[end - 1] !== BRACE || events[end + 1] !== LF) return -1;
    const text = events.indexOf(DELTA, data) + DELTA.length;
    if (text < data + DELTA.length || text >= end) return -1;
    this.weight += weightOfText(view, text);
    return end + 2;
  }
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
