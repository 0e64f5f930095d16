import { nextTurn } from "../base/next-turn.ts";
import { askHook } from "./ask-hook.ts";
import type { CheckContext } from "./check-context.ts";
import type { CheckedText } from "./checked-text.ts";
import { mergeMatches } from "./find/merge-matches.ts";
import type { TextFinder, TextMatch } from "./find/text-match.ts";
import type { Guard } from "./guard.ts";
import { GuardBlockedError } from "./guard-errors.ts";
import { labelsOf } from "./labels-of.ts";
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
  for (const text of shown) search.take(text);
  search.record();
  return undefined;
}

/** Characters that are searched in one turn of the event loop (S18). */
const CHARACTERS_PER_TURN = 256 * 1024;

/** The same for any number of texts. Long ones are searched in several turns. */
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
    search.take(text);
    searched += text.value.length;
    if (searched < CHARACTERS_PER_TURN) continue;
    searched = 0;
    await nextTurn();
  }
  search.record();
}

/** What a built-in guard finds in several texts. */
class Search {
  readonly #guard: Guard;
  readonly #finder: TextFinder;
  readonly #context: CheckContext;
  readonly #labels = new Map<string, TextMatch>();
  #count = 0;
  #ms = 0;

  constructor(guard: Guard, finder: TextFinder, context: CheckContext) {
    this.#guard = guard;
    this.#finder = finder;
    this.#context = context;
  }

  take(text: CheckedText): void {
    const startedMs = this.#context.nowMs();
    const matches = mergeMatches(this.#finder.find(text.value));
    this.#count += matches.length;
    for (const match of matches) this.#labels.set(match.label, match);
    if (matches.length > 0 && this.#guard.settings.action === "redact") text.value = redacted(text, matches);
    this.#ms += this.#context.nowMs() - startedMs;
  }

  record(): void {
    const { name, action } = this.#guard.settings;
    const { tally } = this.#context;
    if (this.#count === 0) {
      tally.add(name, { verdict: "passed", ms: this.#ms });
      return;
    }
    const reason = labelsOf([...this.#labels.values()]);
    tally.add(name, { verdict: VERDICTS[action], count: this.#count, reason, ms: this.#ms });
    if (action === "block") throw new GuardBlockedError(name, reason);
  }
}

const VERDICTS = { block: "blocked", redact: "redacted", observe: "observed" } as const;

function redacted({ value, kind }: CheckedText, matches: readonly TextMatch[]): string {
  let written = "";
  let copied = 0;
  for (const { start, end, label } of matches) {
    written += value.slice(copied, start) + replacementOf(label, kind);
    copied = end;
  }
  return written + value.slice(copied);
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
