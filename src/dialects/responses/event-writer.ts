import type { JsonObject } from "../../base/json.ts";
import { stringifyInOrder } from "../../wire/ordered-json.ts";

/** Writes the events of one stream, and numbers them. */
export class EventWriter {
  /** The number of the next event. */
  sequence = 0;

  write(type: string, fields: JsonObject): string {
    return `event: ${type}\ndata: ${stringifyInOrder({ type, sequence_number: this.sequence++, ...fields })}\n\n`;
  }

  /** A writer of the deltas of one text, which differ in their number and in the delta alone. */
  deltas(type: string, fields: JsonObject, more: JsonObject = {}): (delta: string) => string {
    const head = `event: ${type}\ndata: {"type":"${type}","sequence_number":`;
    const middle = `,${JSON.stringify(fields).slice(1, -1)},"delta":`;
    const rest = JSON.stringify(more).slice(1, -1);
    const tail = `${rest === "" ? "" : `,${rest}`}}\n\n`;
    return (delta) => `${head}${this.sequence++}${middle}${JSON.stringify(delta)}${tail}`;
  }
}
