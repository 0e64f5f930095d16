import { arrayAt, isObject, objectAt, parseObject } from "../../base/json.ts";
import { asGatewayError, type ErrorKind } from "../../canon/error.ts";
import type { GuardSettings } from "../../canon/guard/guard-settings.ts";
import { askInParts, RefusedTextError } from "../../guards/ask-in-parts.ts";
import { HookError, type HookText, type TextHook } from "../../guards/text-hook.ts";
import { RelayError } from "../answer/relay-error.ts";
import { DeadlineError } from "../call.ts";
import { checkFor } from "../derived/derive.ts";
import { requireRunning } from "../derived/while-running.ts";
import { relayModerations } from "../service/moderations.ts";
import type { GuardAsker } from "./guard-asker.ts";
import { HookCircuit } from "./hook-circuit.ts";

const REPLACEMENT = "[redacted:moderation]";

/** Refusals that depend on the texts. */
const OF_TEXTS: ReadonlySet<ErrorKind> = new Set(["invalid_request", "too_large", "content_blocked"]);

/** Asks a moderation model of the catalogue. It is a check for the call, with a receipt of its own (decision 0124). */
export function moderationHook({ model = "", action, timeoutMs }: GuardSettings): TextHook {
  const circuit = new HookCircuit();
  return async ({ texts }, asker) => {
    const { gateway, call } = asker as GuardAsker;
    const results = await circuit.run(call.principal.project, gateway.clock, () =>
      askInParts(texts, (parts) => moderate(parts, { model, timeoutMs }, asker as GuardAsker)),
    );
    const matches = results.filter(({ answer }) => answer === undefined || answer["flagged"] === true);
    if (matches.length === 0) return { verdict: "allow" };
    const names = matches.flatMap(({ answer }) => (answer === undefined ? ["unreadable"] : categoriesOf(answer)));
    const reason = [...new Set(names)].sort().join(", ");
    const places = matches.map(({ place }) => place);
    if (matches.every(({ answer }) => answer === undefined) && action === "observe")
      return { verdict: "unreadable", reason, places };
    if (action !== "redact") return { verdict: "block", reason, places };
    return { verdict: "replace", reason, replacements: new Map(matches.map(({ place }) => [place, REPLACEMENT])) };
  };
}

async function moderate(
  texts: readonly HookText[],
  { model, timeoutMs }: { model: string; timeoutMs: number },
  { gateway, call, run }: GuardAsker,
): Promise<readonly Record<string, unknown>[]> {
  requireRunning(call, gateway.clock);
  const body = JSON.stringify({ model, input: texts.map(({ text }) => text) });
  const asking = checkFor("moderation", call, run.seen, { path: "/v1/moderations", body, withinMs: timeoutMs });
  let results: readonly unknown[];
  try {
    const response = await relayModerations(asking, gateway);
    results = arrayAt(parseObject(await response.text()), "results");
  } catch (thrown) {
    requireRunning(call, gateway.clock);
    const error = thrown instanceof RelayError ? thrown.error : asGatewayError(thrown);
    if (OF_TEXTS.has(error.kind)) throw new RefusedTextError(error.message);
    const isLate = error instanceof DeadlineError;
    const why = isLate ? `the moderation model did not answer within ${timeoutMs} ms` : "the moderation model failed";
    throw new HookError(why, { cause: thrown });
  }
  if (results.length !== texts.length || !results.every(isObject))
    throw new HookError("the moderation model did not answer for every text");
  return results;
}

const categoriesOf = (result: Record<string, unknown>): string[] =>
  Object.entries(objectAt(result, "categories") ?? {}).flatMap(([name, is]) => (is === true ? [name] : []));
