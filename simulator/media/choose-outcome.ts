import type { Exchange } from "../exchange.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";

const MAX_ENTRIES = 1_000;

/**
 * The outcome of a request for `count` results. Where a host makes one at a time, a client asks several times for several:
 * the one of them that fails is the first that a key asks for with a prompt.
 */
export function chooseOutcome(prompt: string, count: number, exchange: Exchange, key: string): Outcome | undefined {
  const outcome = outcomeOf(prompt);
  if (outcome !== "one-fails" || count > 1) return outcome;
  const { flaky } = exchange.state;
  const who = `one-fails ${exchange.url.pathname} ${key} ${prompt}`;
  const asked = flaky.get(who) ?? 0;
  flaky.set(who, asked + 1);
  for (const oldest of flaky.keys()) {
    if (flaky.size <= MAX_ENTRIES) break;
    flaky.delete(oldest);
  }
  return asked === 0 ? "moderated" : undefined;
}
