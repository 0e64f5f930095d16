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

/** The maximum length of stored arguments of one call, in characters. A longer call counts as unfinished (H20). */
const MAX_KEPT = 1024 * 1024;

/**
 * The arguments of a streamed call. Each fragment is scanned once for brackets and strings, and the text is parsed once, when its first
 * bracket closes. Otherwise a provider that repeats a call's name on every fragment would make the gateway parse all of it again each time
 * (S18).
 */
export class CallInput {
  #text = "";
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** `open`: incomplete; `closed`: the first bracket has closed, and only whitespace followed. */
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

  /** Whether the arguments so far are neither empty nor complete. */
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
