import type { StoredRow } from "../src/storage/storage.ts";
import type { CallBook, ServedAttempt } from "./book.ts";
import {
  countsMoney,
  KEYS,
  MAX_CONCURRENT_AT,
  MAX_OUTPUT_TOKENS,
  MODELS,
  pricesOf,
  secretsOf,
} from "./configuration.ts";
import { argumentsOf } from "./providers.ts";
import type { ReadAnswer } from "./read-answer.ts";
import { wordsOf } from "./speech.ts";

export type OnViolation = (rule: string, what: string) => void;

/** Failures caused by the request: no other provider is asked. */
const FINAL_STATUSES = [400, 404, 413, 422];
/** How long a response waits for its row to be stored, plus a margin. */
const MAX_COMMIT_MS = 400;
const MAX_TRIES_OF_AN_OFFER = 2;

/** What must hold when a call is over for its client. */
export function checkAnswer(book: CallBook, answer: ReadAnswer | undefined, onViolation: OnViolation): void {
  const { plan, ending, status, attempts } = book;
  for (const wrong of answer?.wrong ?? []) onViolation("responses are well-formed", wrong);
  const terminals = answer?.terminals ?? 0;
  const errors = answer?.errors ?? 0;
  if ((ending === "whole" || ending === "failed") && terminals + errors !== 1)
    onViolation("every call ends once", `${terminals} proper ends and ${errors} errors, HTTP ${status}`);
  checkTexts(book, onViolation);
  // A continuation may be rejected because of its content.
  const served = attempts.some(({ finished, isContinuation }) => finished && !isContinuation);
  const continued = attempts.some(({ finished, isContinuation }) => finished && isContinuation);
  if (ending === "whole" && !served && !continued)
    onViolation("responses come from providers", "no provider has answered to its end");
  if (ending === "failed" && served && plan.routing.deadlineMs === undefined && !plan.routing.hedge)
    onViolation("a response is passed on", `a provider has answered; HTTP ${status}`);
  if (ending === "failed" && attempts.length === 0) checkRefusal(book, onViolation);
  if (ending === "failed" && attempts.length > 0) checkFallback(book, onViolation);
  if (ending === "whole") checkUsageShown(book, answer, onViolation);
  checkAttempts(book, onViolation);
  const { deadlineMs } = plan.routing;
  const tookMs = book.endedAtMs - book.sentAtMs;
  if (ending === "failed" && deadlineMs !== undefined && book.text === "" && tookMs > deadlineMs + MAX_COMMIT_MS)
    onViolation("a deadline holds", `${tookMs} ms instead of ${deadlineMs}`);
}

/** Every request of the simulation is valid: only a limit of its key can refuse it. */
function checkRefusal({ plan, status }: CallBook, onViolation: OnViolation): void {
  const limits = KEYS[plan.key] ?? {};
  const isRated = (limits.requestsPerMinute ?? limits.tokensPerMinute ?? limits.concurrent) !== undefined;
  // Beyond the concurrency limit there is a short queue.
  if (status === 503 || status === 529) return;
  // The deadline may pass before the first request is sent.
  if (status === 504 && plan.routing.deadlineMs !== undefined) return;
  const models = [plan.model, plan.routing.fallbackModel ?? ""];
  const countsCalls = models.some((model) => limits.ofModels?.[model]?.requestsPerDay !== undefined);
  if (status === 429 ? isRated || countsCalls : status === 402 && countsMoney(plan.key)) return;
  onViolation("valid requests are not refused", `HTTP ${status} for the key ${plan.key}`);
}

/** Before any content, other offers are tried while one of them may succeed. */
function checkFallback(book: CallBook, onViolation: OnViolation): void {
  const { plan, attempts, text, toolArguments, wasCrowded } = book;
  if (text !== "" || toolArguments !== undefined || wasCrowded) return;
  const { deadlineMs, fallback } = plan.routing;
  if (deadlineMs !== undefined || fallback === false) return;
  // An offer that a limit does not allow is left out.
  const { tokensPerMinute, ofModels } = KEYS[plan.key] ?? {};
  if (countsMoney(plan.key) || tokensPerMinute !== undefined || ofModels !== undefined) return;
  const last = attempts.at(-1);
  // Of two hedged requests, the first may be the one that reports the failure.
  const decisive = plan.routing.hedge ? attempts : attempts.slice(-1);
  if (decisive.some(({ status }) => status !== undefined && FINAL_STATUSES.includes(status))) return;
  // A provider at its concurrency limit is waited for, but not for long.
  const free = offersOf(plan).filter((provider) => MAX_CONCURRENT_AT[provider] === undefined);
  const untried = free.filter((provider) => attempts.every((attempt) => attempt.provider !== provider));
  if (untried.length > 0)
    onViolation(
      "another offer is tried",
      `${last?.provider} failed (${last?.fault}), and ${untried.join()} was not asked`,
    );
}

function checkTexts({ plan, ending, text, toolArguments }: CallBook, onViolation: OnViolation): void {
  const whole = wordsOf(plan, 0, plan.words);
  if (ending === "whole" ? text !== whole : !whole.startsWith(text))
    onViolation("no text is lost or repeated", `${ending}: "${text.slice(0, 200)}" of ${plan.words} words`);
  const expected = plan.tool ? argumentsOf(plan) : "";
  const called = toolArguments ?? "";
  if (ending === "whole" ? called !== expected : !expected.startsWith(called))
    onViolation("no text is lost or repeated", `${ending}: a tool was called with ${called}`);
}

function checkUsageShown(book: CallBook, answer: ReadAnswer | undefined, onViolation: OnViolation): void {
  const { attempts } = book;
  if (hasLegs(book)) return;
  const usage = attempts.findLast(({ usageSent }) => usageSent)?.usage;
  if (usage === undefined || answer?.prompt === undefined) return;
  const { prompt, completion } = answer;
  if (prompt !== usage.input + usage.cached || completion !== usage.output)
    onViolation("a client sees its usage", `${prompt} and ${completion} of ${JSON.stringify(usage)}`);
}

/** Several requests may have been billed: the response was continued or hedged. */
const hasLegs = ({ plan: { routing }, attempts }: CallBook): boolean =>
  (routing.survive === true || routing.hedge === true) && attempts.length > 1;

/** The providers that may serve the call. */
function offersOf({ model, routing }: CallBook["plan"]): readonly string[] {
  const { providers, fallbackModel = "" } = routing;
  const offers = MODELS[model] ?? [];
  const asked = providers?.length ? offers.filter((provider) => providers.includes(provider)) : offers;
  return [...new Set([...asked, ...(MODELS[fallbackModel] ?? [])])];
}

function checkAttempts(book: CallBook, onViolation: OnViolation): void {
  const { plan, attempts } = book;
  const withLegs = hasLegs(book);
  // A continuing provider has two tries of its own.
  const ofEach = plan.routing.survive ? 2 * MAX_TRIES_OF_AN_OFFER : MAX_TRIES_OF_AN_OFFER;
  // A provider may have both models.
  const maxTries = plan.routing.fallbackModel === undefined ? ofEach : 2 * ofEach;
  const last = attempts.length - 1;
  if (plan.routing.fallback === false && attempts.some(({ provider }) => provider !== attempts[0]?.provider))
    onViolation("no fallback if none is allowed", attempts.map(({ provider }) => provider).join());
  const tries = new Map<string, number>();
  for (const [index, { provider, status, outcome }] of attempts.entries()) {
    tries.set(provider, (tries.get(provider) ?? 0) + 1);
    if ((tries.get(provider) ?? 0) > maxTries * secretsOf(provider).length)
      onViolation("attempts are bounded", `${provider} was asked ${tries.get(provider)} times`);
    if (!offersOf(plan).includes(provider))
      onViolation("a model is served by its offers", `${provider} was asked for ${plan.model}`);
    // A continuation or a hedged request may fail in any way.
    if (withLegs) continue;
    // A response that came too late was not read.
    if (index < last && outcome === "failed" && status !== undefined && FINAL_STATUSES.includes(status))
      onViolation(
        "failures the error table excludes are not retried",
        `${provider} said ${status}, and another was asked`,
      );
    if (index < last && outcome === "whole")
      onViolation(
        "failures the error table excludes are not retried",
        `${provider} had answered, and another was asked`,
      );
  }
}

/** Columns of a ledger row. */
const numberAt = (row: StoredRow, name: string): number => Number(row[name] ?? 0);

/** What must hold for the ledger row of a call. */
export function checkRow(row: StoredRow, book: CallBook, onViolation: OnViolation): void {
  const { plan, attempts, ending } = book;
  const outcome = String(row["outcome"]);
  const source = String(row["usage_source"]);
  const input = numberAt(row, "usage_input");
  const cached = numberAt(row, "usage_cache_read");
  // Unseen tokens are booked as reasoning, at the price of output.
  const output = numberAt(row, "usage_output") + numberAt(row, "usage_reasoning");
  const told = `${outcome}, ${source}: ${input} + ${cached} → ${output}, ${row["cost_nano_usd"]} at ${row["provider"]}`;
  const models = [plan.model, plan.routing.fallbackModel];
  if (!models.includes(String(row["model"])) || String(row["key_id"]) !== `static:${plan.key}`)
    onViolation("a row matches its call", told);
  if (ending === "whole" && outcome !== "ok" && outcome !== "client_gone")
    onViolation("committed responses have rows", `the client has its answer; ${told}`);
  if (ending === "failed" && outcome === "ok")
    onViolation("committed responses have rows", `the client has none; ${told}`);
  const provider = String(row["provider"]);
  const last = attempts.at(-1);
  if (last === undefined) {
    if (numberAt(row, "cost_nano_usd") !== 0) onViolation("cost is exact", `no provider was called; ${told}`);
    return;
  }
  if (hasLegs(book)) {
    checkLegs(book, numberAt(row, "cost_nano_usd"), outcome, told, onViolation);
    return;
  }
  if (provider !== last.provider) onViolation("a row matches its call", `${last.provider} was called last; ${told}`);
  if (numberAt(row, "cost_nano_usd") !== costOf(provider, input, cached, output))
    onViolation("cost is exact", `${costOf(provider, input, cached, output)} expected; ${told}`);
  // A deadline is the caller's choice: work it ends is billed as far as it may have come.
  const isCallersDoing = plan.routing.deadlineMs !== undefined && outcome === "upstream_timeout";
  if (!isCallersDoing) checkUsage(last, { outcome, source, input, cached, output }, told, onViolation);
  // Never more than the model's limit, unless more has passed through.
  if (output > Math.max(MAX_OUTPUT_TOKENS, plan.words * plan.padding))
    onViolation("cost is exact", `more than the model can generate; ${told}`);
}

/** The leg that completed is billed as reported; the cost of the others is added. */
function checkLegs(
  { attempts }: CallBook,
  costNanoUsd: number,
  outcome: string,
  told: string,
  onViolation: OnViolation,
): void {
  const legs = attempts.flatMap(({ provider, usage, outcome: served }) =>
    served === "whole" && usage ? [costOf(provider, usage.input, usage.cached, usage.output)] : [],
  );
  const least = legs.length === 0 ? 0 : Math.min(...legs);
  if (outcome === "ok" && costNanoUsd < least) onViolation("cost is exact", `at least ${least} expected; ${told}`);
}

interface BilledUsage {
  outcome: string;
  source: string;
  input: number;
  cached: number;
  output: number;
}

function checkUsage(last: ServedAttempt, billed: BilledUsage, told: string, onViolation: OnViolation): void {
  const { usage } = last;
  const { outcome, source, input, cached, output } = billed;
  const isAnswered = outcome === "ok";
  if (isAnswered && usage !== undefined && last.usageSent) {
    const exact = input === usage.input && cached === usage.cached && output === usage.output && source === "measured";
    if (!exact) onViolation("cost is exact", `${JSON.stringify(usage)} was served; ${told}`);
  }
  if (isAnswered && usage === undefined && (source !== "estimated" || output === 0 || input === 0))
    onViolation("cost is exact", `the provider reported no usage; ${told}`);
  if (!isAnswered && outcome !== "client_gone" && !last.begun && input + cached + output !== 0)
    onViolation("cost is exact", `nothing was produced; ${told}`);
}

const MILLION = 1_000_000n;

/** In nano-dollars, rounded once, half up. */
export function costOf(provider: string, input: number, cached: number, output: number): number {
  const prices = pricesOf(provider);
  const exact =
    BigInt(input) * BigInt(prices.input) +
    BigInt(cached) * BigInt(prices.cacheRead) +
    BigInt(output) * BigInt(prices.output);
  return Number((exact + MILLION / 2n) / MILLION);
}
