import type { CheckContext } from "../check-context.ts";
import { endOfToken, searchText } from "../find/search-text.ts";
import type { TextMatch } from "../find/text-match.ts";
import type { Guard } from "../guard.ts";
import { GuardBlockedError } from "../guard-errors.ts";
import { labelsOf } from "../labels-of.ts";
import { placeOf } from "../place-of.ts";
import { replacementOf } from "../replacement-of.ts";
import type { Segment } from "./segment.ts";
import { SegmentQueue } from "./segment-queue.ts";

/** A token without white space is held back to its start up to this length: it may become a match. */
const LONGEST_TOKEN = 4096;
/** No match within a longer token is longer: an address has up to 320 characters. */
const LONGEST_PART = 512;
/** How much of what was released is looked at again, for a match that begins in it. */
const CONTEXT = 256;
/** The waiting text is searched again once it has grown by this much, or by this share of it (S18). */
const LEAST_GROWTH = 16;
const GROWTH_SHARE = 8;
/** Something outside of the gateway is asked once this many windows are waiting. */
const WINDOWS_PER_QUESTION = 4;

const VERDICTS = { block: "blocked", redact: "redacted", observe: "observed" } as const;

const isSpace = (code: number): boolean => code <= 0x20 || code === 0xa0 || code === 0x3000;
/** One guard on one text that arrives in pieces. It releases what no match can reach any more. */
export class BlockStage {
  readonly #guard: Guard;
  readonly #context: CheckContext;
  readonly #paths: readonly string[];
  readonly #waiting = new SegmentQueue();
  #text = "";
  /** What was released last. */
  #before = "";
  /** How much was waiting when it was searched last. */
  #searched = 0;
  /** The match that was released last may continue. */
  #isInMatch = false;

  /** `path`: where the text is in the response. */
  constructor(guard: Guard, context: CheckContext, path: string) {
    this.#guard = guard;
    this.#context = context;
    this.#paths = [placeOf({ path, kind: "text" })];
  }

  push(segment: Segment): void {
    this.#waiting.push(segment);
    this.#text += segment.text;
  }

  get waiting(): number {
    return this.#text.length;
  }

  /** What is released by now. `isFinal`: nothing more will be waited for. */
  search(isFinal: boolean): Segment[] {
    const { finder } = this.#guard;
    const { length } = this.#text;
    if (finder === undefined || (length === 0 && this.#waiting.source === 0)) return [];
    if (!isFinal && length < this.#searched + Math.max(LEAST_GROWTH, this.#searched / GROWTH_SHARE)) return [];
    const startedMs = this.#context.nowMs();
    const skipped = this.#isInMatch ? this.#endOfMatch() : 0;
    const text = this.#before + this.#text;
    const offset = this.#before.length;
    const { matches: all, openAt } = searchText(finder, text);
    const found = all.flatMap((match) => within(match, offset + skipped, offset));
    const matches = skipped === 0 ? found : [{ start: 0, end: skipped, label: "" }, ...found];
    const until = isFinal ? length : this.#safeUntil(matches, openAt, offset);
    const released = matches.filter(({ end }) => end <= until);
    const segments = this.#release(until, released);
    this.#searched = this.#text.length;
    this.#record(
      released.filter(({ label }) => label !== ""),
      this.#context.nowMs() - startedMs,
    );
    return segments;
  }

  /** How far no match can reach that is not complete. */
  #safeUntil(matches: readonly TextMatch[], openAt: number | undefined, offset: number): number {
    const { length } = this.#text;
    const token = this.#startOfToken();
    const { window } = this.#guard.settings;
    const isLong = length - token > LONGEST_TOKEN;
    let until = Math.max(0, length - (isLong ? Math.max(window, LONGEST_PART) : window));
    if (!isLong) until = Math.min(until, token);
    if (openAt !== undefined) until = Math.min(until, Math.max(0, openAt - offset));
    const last = matches.at(-1);
    if (last !== undefined && last.end === length && length - last.start > LONGEST_TOKEN && openAt === undefined) {
      // A token of this length is known by its beginning: the rest of it is left out as it comes.
      this.#isInMatch = true;
      return length;
    }
    const cut = matches.find(({ start, end }) => start < until && end > until);
    return cut === undefined ? until : cut.start;
  }

  #startOfToken(): number {
    let at = this.#text.length;
    const least = Math.max(0, at - LONGEST_TOKEN - 1);
    while (at > least && !isSpace(this.#text.charCodeAt(at - 1))) at--;
    return at;
  }

  #endOfMatch(): number {
    const at = endOfToken(this.#text, 0, this.#text.length);
    if (at < this.#text.length) this.#isInMatch = false;
    return at;
  }

  #release(until: number, matches: readonly TextMatch[]): Segment[] {
    const redacts = this.#guard.settings.action === "redact";
    const segments: Segment[] = [];
    let at = 0;
    for (const { start, end, label } of redacts ? matches : []) {
      segments.push(...this.#waiting.take(start - at));
      const source = this.#waiting.take(end - start).reduce((sum, part) => sum + part.source, 0);
      segments.push({ text: label === "" ? "" : replacementOf(label, "text"), source, isChanged: true });
      at = end;
    }
    segments.push(...this.#waiting.take(until - at));
    this.#before = (this.#before + this.#text.slice(0, until)).slice(-CONTEXT);
    this.#text = this.#text.slice(until);
    return segments;
  }

  #record(matches: readonly TextMatch[], ms: number): void {
    const { name, action } = this.#guard.settings;
    const { tally } = this.#context;
    if (matches.length === 0) {
      tally.add(name, { verdict: "passed", ms });
      return;
    }
    const reason = labelsOf(matches.map(({ label }) => label));
    tally.add(name, { verdict: VERDICTS[action], count: matches.length, paths: this.#paths, reason, ms });
    if (action === "block") throw new GuardBlockedError(name, reason);
  }

  /** The question that is due for a service outside of the gateway, if any. */
  question(isFinal: boolean): string | undefined {
    const { length } = this.#text;
    if (length === 0) return undefined;
    return isFinal || length >= WINDOWS_PER_QUESTION * this.#guard.settings.window ? this.#text : undefined;
  }

  /** The answer to the question, and what it releases. The end of it is part of the next question. */
  answer(replacement: string | undefined, isFinal: boolean): Segment[] {
    if (replacement !== undefined) {
      const source = this.#waiting.take(this.#text.length).reduce((sum, part) => sum + part.source, 0);
      this.#waiting.push({ text: replacement, source, isChanged: true });
      this.#text = replacement;
    }
    const { length } = this.#text;
    const until = isFinal ? length : Math.max(0, length - this.#guard.settings.window);
    const segments = this.#waiting.take(until);
    this.#text = this.#text.slice(until);
    return segments;
  }
}

/** The part of a match that is not released yet, from there on; nothing if there is none. */
function within({ start, end, label }: TextMatch, from: number, offset: number): TextMatch[] {
  return end <= from ? [] : [{ start: Math.max(start, from) - offset, end: end - offset, label }];
}
