import type { JsonObject } from "../../../base/json.ts";
import { stringifyInOrder } from "../../../wire/ordered-json.ts";

/** The sentinel after the last event. */
export const DONE = "event: done\ndata: [DONE]\n\n";

/** Writes named events. Those of a background interaction are numbered, so that a client can resume the stream after one. */
export class EventWriter {
  /** The number of the next event. */
  sequence = 0;
  readonly numbered: boolean;
  readonly #silent: boolean;

  /** `silent`: only the result counts, and nothing is written. */
  constructor({ numbered, silent = false }: { numbered: boolean; silent?: boolean }) {
    this.numbered = numbered;
    this.#silent = silent;
  }

  write(name: string, members: JsonObject): string {
    if (this.#silent) return "";
    const number = this.numbered ? { event_id: String(this.sequence++) } : {};
    return `event: ${name}\ndata: ${stringifyInOrder({ ...members, ...number, event_type: name })}\n\n`;
  }
}

export const isNumbered = (request: JsonObject): boolean => request["background"] === true;
