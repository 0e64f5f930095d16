import type { CheckContext } from "./check-context.ts";
import type { Guard } from "./guard.ts";
import { GuardBlockedError, GuardFailedError } from "./guard-errors.ts";
import { placeOf } from "./place-of.ts";
import { HookError, type HookText } from "./text-hook.ts";

/**
 * Asks about texts and records the verdict. Resolves with the new texts by place. Throws if the texts are blocked, or if there is no
 * answer and the guard must not be skipped.
 */
export async function askHook(
  { settings, hook }: Guard,
  texts: readonly HookText[],
  { tally, nowMs, asker }: CheckContext,
): Promise<ReadonlyMap<number, string>> {
  const { name, action, onFailure } = settings;
  if (hook === undefined || texts.length === 0) return new Map();
  const startedMs = nowMs();
  try {
    const {
      verdict,
      reason,
      replacements = new Map<number, string>(),
      places = replacements.size > 0 ? [...replacements.keys()] : texts.length === 1 ? [0] : [],
    } = await hook({ guard: name, on: tally.on, texts }, asker);
    const ms = nowMs() - startedMs;
    if (verdict === "allow" || (verdict === "replace" && replacements.size === 0)) {
      tally.add(name, { verdict: "passed", ms });
      return new Map();
    }
    const paths = places.map((place) => placeOf({ path: texts[place]?.path ?? "", kind: "text" }));
    const found = { paths, ms, ...(reason === undefined ? {} : { reason }) };
    if (verdict === "unreadable" && action === "observe") {
      tally.add(name, { verdict: "unreadable", count: 1, ...found });
      return new Map();
    }
    const count = verdict === "replace" ? replacements.size : 1;
    if (action === "observe") {
      tally.add(name, { verdict: "observed", count, ...found });
      return new Map();
    }
    if (verdict !== "replace" || action === "block") {
      tally.add(name, { verdict: "blocked", count, ...found });
      throw new GuardBlockedError(name, reason ?? "no reason was given");
    }
    tally.add(name, { verdict: "redacted", count, ...found });
    return replacements;
  } catch (thrown) {
    if (!(thrown instanceof HookError)) throw thrown;
    tally.failed(name, thrown.message, nowMs() - startedMs);
    if (onFailure === "block" && action !== "observe")
      throw new GuardFailedError(name, thrown.message, { cause: thrown });
    return new Map();
  }
}
