import { type AnswerCache, MAX_CACHED_CHARACTERS } from "../../answers/answer-cache.ts";
import type { AnswerPlace, CachedAnswer } from "../../answers/cached-answer.ts";
import type { Receipt } from "../../canon/receipt.ts";
import type { UnifiedStop } from "../../canon/stop.ts";
import type { CachedAnswers } from "../../dialects/answer/cached-answers.ts";
import { markAnswer } from "./mark-answer.ts";

/** The ends of a response that is complete. */
const WHOLE: ReadonlySet<UnifiedStop> = new Set(["stop", "length", "tool"]);

/** Records the response of one call as its client receives it, and stores it if it can answer other calls. */
export class AnswerKeeper {
  readonly #cache: AnswerCache;
  readonly #place: AnswerPlace;
  readonly #form: CachedAnswers;
  #parts: (string | Uint8Array)[] | undefined = [];
  #held = 0;
  #facts: Omit<CachedAnswer, "text" | "marks"> | undefined;

  constructor(cache: AnswerCache, place: AnswerPlace, form: CachedAnswers) {
    this.#cache = cache;
    this.#place = place;
    this.#form = form;
  }

  /** Takes a part of the response. */
  add(part: string | Uint8Array): void {
    if (this.#parts === undefined) return;
    this.#held += part.length;
    if (this.#held > MAX_CACHED_CHARACTERS || !this.#cache.hold(part.length)) {
      this.#held -= part.length;
      this.drop();
      return;
    }
    // What is rendered next overwrites the bytes.
    this.#parts.push(typeof part === "string" ? part : Buffer.from(part));
  }

  /** The call is settled. `changed`: a guard has changed or stopped something. */
  settled(receipt: Receipt, changed: boolean): void {
    const { stop, usage, offers, outcome, verb } = receipt;
    const isEnd = verb === "generate" ? stop !== undefined && WHOLE.has(stop.unified) : stop === undefined;
    const isWhole = outcome === "ok" && isEnd && receipt.continued === undefined;
    const usesTools = (usage.searches ?? 0) > 0 || usage.tools !== undefined || receipt.unpriced !== undefined;
    if (!isWhole || usesTools || changed || !offers.some(({ outcome }) => outcome === "answered")) {
      this.drop();
      return;
    }
    this.#facts = {
      receipt: receipt.id,
      model: receipt.model,
      upstreamDialect: receipt.upstreamDialect,
      lane: receipt.lane,
      stop,
      fields: receipt.fields,
      usage,
      costNanoUsd: receipt.costNanoUsd,
    };
  }

  /** The client has received all of it. */
  ended(): void {
    const parts = this.#parts;
    const facts = this.#facts;
    if (parts === undefined || facts === undefined) {
      this.drop();
      return;
    }
    this.#parts = undefined;
    const held = this.#held;
    this.#cache.keep({
      place: this.#place,
      make: () => {
        const text = Buffer.concat(
          parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)),
        ).toString();
        const marks = markAnswer(text, this.#form);
        return marks && { ...facts, text, marks };
      },
      release: () => this.#cache.release(held),
    });
  }

  /** The chunks of a response, recorded as they are read. Nothing is held of a response that is not read to its end. */
  *chunks(chunks: Iterator<string, unknown>): Generator<string> {
    const parts: string[] = [];
    let length = 0;
    for (let next = chunks.next(); !next.done; next = chunks.next()) {
      length += next.value.length;
      if (length <= MAX_CACHED_CHARACTERS) parts.push(next.value);
      yield next.value;
    }
    if (length > MAX_CACHED_CHARACTERS) return;
    this.add(parts.join(""));
    this.ended();
  }

  /** Nothing is stored. */
  drop(): void {
    if (this.#parts === undefined) return;
    this.#parts = undefined;
    this.#cache.release(this.#held);
  }
}
