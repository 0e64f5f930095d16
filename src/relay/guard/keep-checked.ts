import { parseObject } from "../../base/json.ts";
import type { Call, LaneAttempt } from "../call.ts";
import type { GuardRun } from "./guard-run.ts";

/**
 * Stores the response that an attempt was to store, as the guards left it. Returns a promise only if one of them asks outside of the
 * gateway.
 */
export function keepChecked(
  { saver }: Pick<Call, "saver">,
  run: GuardRun,
  attempt: LaneAttempt,
  check: (json: string) => string | Promise<string>,
): Promise<void> | undefined {
  const held = run.takeHeld(attempt);
  if (saver === undefined || held === undefined) return undefined;
  const keep = (json: string) => {
    const answer = parseObject(json);
    if (answer !== undefined) saver.take(attempt, answer);
  };
  const checked = check(JSON.stringify(held));
  if (typeof checked !== "string") return checked.then(keep);
  keep(checked);
  return undefined;
}
