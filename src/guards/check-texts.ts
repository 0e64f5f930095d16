import { askHook } from "./ask-hook.ts";
import type { CheckContext } from "./check-context.ts";
import type { CheckedText } from "./checked-text.ts";
import { mergeMatches } from "./find/merge-matches.ts";
import type { TextMatch } from "./find/text-match.ts";
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
  const { name, action } = guard.settings;
  const { tally, nowMs } = context;
  const startedMs = nowMs();
  const all: TextMatch[] = [];
  for (const text of shown) {
    const matches = mergeMatches(guard.finder.find(text.value));
    if (matches.length === 0) continue;
    all.push(...matches);
    if (action === "redact") text.value = redacted(text, matches);
  }
  const ms = nowMs() - startedMs;
  if (all.length === 0) {
    tally.add(name, { verdict: "passed", ms });
    return undefined;
  }
  const reason = labelsOf(all);
  const verdict = VERDICTS[action];
  tally.add(name, { verdict, count: all.length, reason, ms });
  if (action === "block") throw new GuardBlockedError(name, reason);
  return undefined;
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
