import type { JsonObject } from "../../../base/json.ts";
import { stringifyInOrder } from "../../../wire/ordered-json.ts";
import { DeltaForm } from "../../answer/delta-form.ts";

/** Writes and numbers the events of one stream. */
export class EventWriter {
  /** The number of the next event. */
  sequence = 0;
  /** For a whole response, of which only the last object is needed. */
  readonly silent: boolean;

  constructor(silent = false) {
    this.silent = silent;
  }

  write(type: string, fields: JsonObject): string {
    if (this.silent) return "";
    return `event: ${type}\ndata: ${stringifyInOrder({ type, sequence_number: this.sequence++, ...fields })}\n\n`;
  }

  /** The deltas of one text, which differ only in their number and in the delta. */
  deltas(type: string, fields: JsonObject, more: JsonObject = {}): Deltas {
    const middle = `,${JSON.stringify(fields).slice(1, -1)},"delta":`;
    const rest = JSON.stringify(more).slice(1, -1);
    return new Deltas(this, `event: ${type}\ndata: {"type":"${type}","sequence_number":`, middle, rest);
  }
}

/** Writes the deltas of one text. */
export class Deltas {
  readonly #events: EventWriter;
  readonly #head: string;
  readonly #middle: string;
  readonly #tail: string;

  constructor(events: EventWriter, head: string, middle: string, rest: string) {
    this.#events = events;
    this.#head = head;
    this.#middle = middle;
    this.#tail = `${rest === "" ? "" : `,${rest}`}}\n\n`;
  }

  write(delta: string): string {
    if (this.#events.silent) return "";
    return `${this.#head}${this.#events.sequence++}${this.#behindNumber(delta)}`;
  }

  get form(): DeltaForm {
    return DeltaForm.numbered(this.#events, this.#head, (text) => this.#behindNumber(text));
  }

  #behindNumber(delta: string): string {
    return `${this.#middle}${JSON.stringify(delta)}${this.#tail}`;
  }
}
