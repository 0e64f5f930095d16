import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  isSpace,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from "../../../wire/json-text.ts";
import { isWholeInput } from "../tool-call.ts";

/** Arguments of one call that are kept, in characters: a longer call is taken for unfinished (H20). */
const MAX_KEPT = 1024 * 1024;

/**
 * The arguments of a streamed call. Each fragment is scanned once for brackets and strings, and the text is parsed once, when
 * its first bracket has closed: a host that repeats the name of a call on every fragment would otherwise have all of it parsed
 * again for each (S18).
 */
export class CallInput {
  #text = "";
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** `open`: more must come; `closed`: the first bracket has closed, and only blanks followed. */
  #state: "blank" | "open" | "closed" | "broken" = "blank";
  #valid: boolean | undefined;

  constructor(first: string) {
    this.push(first);
  }

  get isEmpty(): boolean {
    return this.#text === "";
  }

  get isWhole(): boolean {
    if (this.#state !== "closed") return false;
    this.#valid ??= isWholeInput(this.#text);
    return this.#valid;
  }

  /** Whether it is neither empty nor whole, as far as it has come and is kept. */
  get isBroken(): boolean {
    return !this.isEmpty && this.#text.length <= MAX_KEPT && !this.isWhole;
  }

  push(fragment: string): void {
    if (this.#text.length > MAX_KEPT) return;
    this.#text += fragment;
    for (let at = 0; at < fragment.length && this.#state !== "broken"; at++) this.#scan(fragment.charCodeAt(at));
  }

  #scan(code: number): void {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (code === BACKSLASH) this.#escaped = true;
      else if (code === QUOTE) this.#inString = false;
      return;
    }
    if (isSpace(code)) return;
    if (this.#state === "closed" || (this.#state === "blank" && code !== OPEN_OBJECT)) {
      this.#state = "broken";
      return;
    }
    this.#state = "open";
    if (code === QUOTE) this.#inString = true;
    else if (code === OPEN_OBJECT || code === OPEN_ARRAY) this.#depth++;
    else if ((code === CLOSE_OBJECT || code === CLOSE_ARRAY) && --this.#depth === 0) this.#state = "closed";
  }
}
