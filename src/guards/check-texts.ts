import { nextTurn } from "../base/next-turn.ts";
import { askHook } from "./ask-hook.ts";
import type { CheckContext } from "./check-context.ts";
import type { CheckedText } from "./checked-text.ts";
import { SLICE, searchSlices } from "./find/search-text.ts";
import type { TextFinder, TextMatch } from "./find/text-match.ts";
import type { Guard } from "./guard.ts";
import { GuardBlockedError } from "./guard-errors.ts";
import { labelsOf } from "./labels-of.ts";
import { MOST_PLACES, placeOf } from "./place-of.ts";
import { replacementOf } from "./replacement-of.ts";

/**
 * Shows complete texts to one guard, which changes them in place. Returns a promise only if something outside of the gateway is asked.
 * Throws a GuardBlockedError or a GuardFailedError.
 */
export function checkTexts(
  guard: Guard,
  texts: readonly CheckedText[],
  context: CheckContext,
): Promise<void> | undefined {
  const shown = texts.filter(({ kind, value }) => value !== "" && guard.kinds.has(kind));
  if (guard.finder === undefined) return askAbout(guard, shown, context);
  const search = new Search(guard, guard.finder, context);
  for (const text of shown) for (const _searched of search.take(text));
  search.record();
  return undefined;
}

/** The same for texts of any number and length, in several turns of the event loop. */
export async function checkManyTexts(
  guard: Guard,
  texts: readonly CheckedText[],
  context: CheckContext,
): Promise<void> {
  if (guard.finder === undefined) return checkTexts(guard, texts, context);
  const search = new Search(guard, guard.finder, context);
  let searched = 0;
  for (const text of texts) {
    if (text.value === "" || !guard.kinds.has(text.kind)) continue;
    for (const characters of search.take(text)) {
      searched += characters + COST_OF_TEXT;
      if (searched < SLICE) continue;
      searched = 0;
      await nextTurn();
    }
  }
  search.record();
}

/** A short text takes as long as so many characters of a long one. */
const COST_OF_TEXT = 16;

/** What a built-in guard finds in several texts. */
class Search {
  readonly #guard: Guard;
  readonly #finder: TextFinder;
  readonly #context: CheckContext;
  readonly #labels = new Set<string>();
  readonly #paths = new Set<string>();
  #count = 0;
  #ms = 0;

  constructor(guard: Guard, finder: TextFinder, context: CheckContext) {
    this.#guard = guard;
    this.#finder = finder;
    this.#context = context;
  }

  /** Searches a text, slice by slice, and yields how many characters were searched. */
  *take(text: CheckedText): Generator<number> {
    const { value, kind } = text;
    const redacts = this.#guard.settings.action === "redact";
    const left: string[] = [];
    let copied = 0;
    const isName = this.#finder.ignoresCase === true && (kind === "name" || kind === "key");
    const slices = searchSlices(isName ? inNames(this.#finder) : this.#finder, value);
    for (;;) {
      const startedMs = this.#context.nowMs();
      const { value: slice, done } = slices.next();
      if (done === true) break;
      for (const { label } of slice.matches) this.#note(label, text);
      if (redacts && (slice.matches.length > 0 || copied > 0)) {
        left.push(redacted(value.slice(copied, slice.end), slice.matches, copied, kind));
        copied = slice.end;
      }
      this.#ms += this.#context.nowMs() - startedMs;
      yield slice.searched;
    }
    if (copied > 0) text.value = left.join("");
  }

  #note(label: string, text: CheckedText): void {
    if (label === "") return;
    this.#count++;
    if (this.#paths.size < MOST_PLACES) this.#paths.add(placeOf(text));
    this.#labels.add(label);
  }

  record(): void {
    const { name, action } = this.#guard.settings;
    const { tally } = this.#context;
    if (this.#count === 0) {
      tally.add(name, { verdict: "passed", ms: this.#ms });
      return;
    }
    const reason = labelsOf([...this.#labels]);
    const found = { count: this.#count, paths: [...this.#paths], reason, ms: this.#ms };
    tally.add(name, { verdict: VERDICTS[action], ...found });
    if (action === "block") throw new GuardBlockedError(name, reason);
  }
}

/** Names are written without spaces. */
const inNames = (finder: TextFinder): TextFinder => ({
  ...(finder.ignoresCase === undefined ? {} : { ignoresCase: finder.ignoresCase }),
  find: (text) => [...finder.find(text), ...finder.find(text.replace(/[_-]/g, " "))],
});

const VERDICTS = { block: "blocked", redact: "redacted", observe: "observed" } as const;

/** A part of a text that begins at an offset, without its matches. Joined, because a string that grows keeps all of its parts. */
function redacted(part: string, matches: readonly TextMatch[], offset: number, kind: CheckedText["kind"]): string {
  const written: string[] = [];
  let copied = 0;
  for (const { start, end, label } of matches) {
    written.push(part.slice(copied, start - offset), label === "" ? "" : replacementOf(label, kind));
    copied = end - offset;
  }
  written.push(part.slice(copied));
  return written.join("");
}

async function askAbout(guard: Guard, texts: readonly CheckedText[], context: CheckContext): Promise<void> {
  if (texts.length === 0) {
    context.tally.add(guard.settings.name, { verdict: "passed", ms: 0 });
    return;
  }
  const replacements = await askHook(
    guard,
    texts.map(({ path, value }) => ({ path, text: value })),
    context,
  );
  for (const [place, replacement] of replacements) {
    const text = texts[place];
    if (text !== undefined) text.value = replacement;
  }
}
