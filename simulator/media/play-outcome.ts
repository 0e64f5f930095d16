import type { Exchange } from "../exchange.ts";
import type { HostError } from "../host-error.ts";
import { type MediaJob, SLOW_JOB_MS } from "./jobs.ts";
import type { MediaContext } from "./media-host.ts";
import type { Outcome } from "./outcome.ts";

/** The errors that a host returns immediately, in its own words. */
export type ImmediateErrors = Readonly<Record<"blocked" | "busy" | "broken" | "overloaded", HostError>>;

/** Plays the outcomes that come before a job is taken. */
export function playImmediateOutcome(
  outcome: Outcome | undefined,
  words: Partial<ImmediateErrors>,
): Response | undefined {
  if (outcome === "garbage") {
    return new Response("<html><body><h1>It works!</h1></body></html>", { headers: { "content-type": "text/html" } });
  }
  if (outcome === "blocked" || outcome === "busy" || outcome === "broken" || outcome === "overloaded") {
    const refusal = words[outcome];
    if (refusal !== undefined) throw refusal;
  }
  return undefined;
}

/** Whether moderation holds back the result at `index` of those that were asked for. */
export function isHeldBack(outcome: Outcome | undefined, index: number): boolean {
  return outcome === "moderated" || (outcome === "one-fails" && index === 1);
}

/** How long a link lives. */
export function linkLifeMs(outcome: Outcome | undefined, keptMs: number): number {
  return outcome === "expired" ? 0 : keptMs;
}

/** Where the answer itself is waited for, a slow job is a slow answer. */
export async function takeTime(outcome: Outcome | undefined, exchange: Exchange): Promise<void> {
  if (outcome !== "slow") return;
  await exchange.state.wait(SLOW_JOB_MS, exchange.signal);
  if (exchange.signal.aborted) exchange.ended("client gone");
}

/** Resolves when the job has ended by the clock, or the client has left. */
export async function waitFor(job: MediaJob, context: MediaContext, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, Math.max(0, job.endsAtMs - context.nowMs()));
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
  clearTimeout(timer);
}
