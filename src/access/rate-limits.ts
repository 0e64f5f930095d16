import { GatewayError } from "../canon/error.ts";
import type { Share } from "./account.ts";
import type { Bound } from "./bound.ts";
import { requireRequestsOfDay } from "./check-budgets.ts";
import { type Level, subjectOf } from "./level.ts";
import type { LimitName } from "./limits.ts";
import type { RateWindow } from "./rate-window.ts";
import { ShareRefusal } from "./share-refusal.ts";
import { windowEndMs } from "./spend-meter.ts";

/** For a call that finds this process without a share of a limit that others have not used up: shares move quickly. */
const SHARE_RETRY_SECONDS = 1;

/** Refuses a call that exceeds the concurrency of this level, before anything of it is read (S17). */
export function checkEntry(bound: Bound, nowMs: number, wallMs: () => number, takesSlot = true): void {
  const { level, account } = bound;
  const { inFlight } = account;
  const concurrent = takesSlot ? bound.concurrent : undefined;
  if (concurrent !== undefined && inFlight + 1 > concurrent) {
    throw limited(
      `${subjectOf(level)} has ${inFlight} calls in flight; its limit is ${concurrent} concurrent calls.`,
      SHARE_RETRY_SECONDS,
    );
  }
  if (concurrent !== undefined && account.share !== undefined) {
    checkShare(level, account.share, "concurrent", inFlight, 1, `${concurrent} concurrent calls`, wallMs());
  }
  checkRequest(bound, nowMs, wallMs);
  if (bound.requestsPerDay !== undefined) requireRequestsOfDay(bound, wallMs());
}

/** Refuses a live connection that exceeds the open sessions of this level. `perKey` is for keys without such a limit. */
export function checkSessions(bound: Bound, perKey: number, wallMs: () => number): void {
  const { level, account, sessions } = bound;
  const limit = sessions ?? (account.level === "key" ? perKey : Number.POSITIVE_INFINITY);
  if (account.sessions + 1 > limit) {
    throw limited(
      `${subjectOf(level)} has ${account.sessions} open sessions; its limit is ${limit} sessions.`,
      SHARE_RETRY_SECONDS,
    );
  }
  if (sessions === undefined || account.share === undefined) return;
  checkShare(level, account.share, "sessions", account.sessions, 1, `${sessions} open sessions`, wallMs());
}

/** Refuses a request that exceeds the requests of this minute. */
export function checkRequest(bound: Bound, nowMs: number, wallMs: () => number): void {
  const { level, account, requestsPerMinute } = bound;
  if (requestsPerMinute === undefined) return;
  const window = account.requests;
  const used = window.used(nowMs);
  if (used + 1 > requestsPerMinute) {
    const wait = window.secondsUntilFree(nowMs, requestsPerMinute, 1);
    throw limited(`${subjectOf(level)} has reached its limit of ${requestsPerMinute} requests a minute.`, wait);
  }
  if (account.share === undefined) return;
  checkShare(level, account.share, "requestsPerMinute", used, 1, `${requestsPerMinute} requests a minute`, wallMs());
}

/** The part of a minute's tokens that lines of batches may use. The rest is for clients that wait. */
const LINES_SHARE = 0.75;

/** Refuses a call that may need more tokens than the level has left in this minute. */
export function checkTokens(bound: Bound, needed: number, nowMs: number, wallMs: number, isLine = false): void {
  const { level, account, tokensPerMinute } = bound;
  if (tokensPerMinute === undefined) return;
  const window = account.tokens;
  const used = window.used(nowMs);
  // A line that needs more than its share runs while nothing else does.
  const limit = isLine && used > 0 ? Math.floor(tokensPerMinute * LINES_SHARE) : tokensPerMinute;
  if (used + needed > limit) {
    // The use of other processes is not known here.
    const usedHere = account.share === undefined ? ` has used about ${used},` : "";
    throw limited(
      `${subjectOf(level)} may use ${tokensPerMinute} tokens a minute,${usedHere} and this call may need ${needed}.`,
      window.secondsUntilFree(nowMs, limit, needed),
    );
  }
  if (account.share === undefined) return;
  checkShare(level, account.share, "tokensPerMinute", used, needed, `${tokensPerMinute} tokens a minute`, wallMs);
}

/** Refuses a call that the limit allows if other processes hold what it needs. */
function checkShare(
  level: Level,
  share: Share,
  limit: LimitName,
  used: number,
  needed: number,
  words: string,
  wallMs: number,
): void {
  if (used + needed <= share.held(limit, wallMs)) return;
  share.short(limit, needed);
  const reason = `${subjectOf(level)} is limited to ${words}, and too little of that is left for this call.`;
  const retryAfterSeconds = SHARE_RETRY_SECONDS;
  const lacking = { share, limit, needed };
  throw new ShareRefusal("rate_limited", `${reason} ${again(retryAfterSeconds)}`, { retryAfterSeconds }, lacking);
}

type RateName = "requestsPerMinute" | "tokensPerMinute";
type DayName = "requestsPerDay" | "tokensPerDay";

const SECONDS = Array.from({ length: 61 }, (_, seconds) => `${seconds}s`);

/**
 * Adds the remainder of each rate, at the level that leaves the least, of a minute or of a day. That of a minute resets
 * when nothing of the last minute counts any more.
 */
export function addRateHeaders(
  headers: Record<string, string>,
  bounds: readonly Bound[],
  nowMs: number,
  wallMs: number,
): void {
  let ofRequests: Bound | undefined;
  let ofTokens: Bound | undefined;
  let requests = Number.POSITIVE_INFINITY;
  let tokens = Number.POSITIVE_INFINITY;
  let requestsAreOfDay = false;
  let tokensAreOfDay = false;
  for (const bound of bounds) {
    const requestsHere = leftOf(bound, "requestsPerMinute", nowMs, wallMs);
    if (requestsHere < requests) {
      requests = requestsHere;
      ofRequests = bound;
      requestsAreOfDay = false;
    }
    if (bound.requestsPerDay !== undefined) {
      const ofDay = leftOfDay(bound, "requestsPerDay", wallMs);
      if (ofDay < requests) {
        requests = ofDay;
        ofRequests = bound;
        requestsAreOfDay = true;
      }
    }
    const tokensHere = leftOf(bound, "tokensPerMinute", nowMs, wallMs);
    if (tokensHere < tokens) {
      tokens = tokensHere;
      ofTokens = bound;
      tokensAreOfDay = false;
    }
    if (bound.tokensPerDay !== undefined) {
      const ofDay = leftOfDay(bound, "tokensPerDay", wallMs);
      if (ofDay < tokens) {
        tokens = ofDay;
        ofTokens = bound;
        tokensAreOfDay = true;
      }
    }
  }
  if (ofRequests !== undefined) {
    headers["x-ratelimit-limit-requests"] = requestsAreOfDay
      ? String(ofRequests.requestsPerDay)
      : ofRequests.rateTexts.requestsPerMinute;
    headers["x-ratelimit-remaining-requests"] = String(Math.max(0, requests));
    headers["x-ratelimit-reset-requests"] = requestsAreOfDay
      ? dayEndsIn(wallMs)
      : resetIn(ofRequests.account.requests, nowMs);
  }
  if (ofTokens !== undefined) {
    headers["x-ratelimit-limit-tokens"] = tokensAreOfDay
      ? String(ofTokens.tokensPerDay)
      : ofTokens.rateTexts.tokensPerMinute;
    headers["x-ratelimit-remaining-tokens"] = String(Math.max(0, tokens));
    headers["x-ratelimit-reset-tokens"] = tokensAreOfDay ? dayEndsIn(wallMs) : resetIn(ofTokens.account.tokens, nowMs);
  }
}

const resetIn = (window: RateWindow, nowMs: number): string => SECONDS[window.secondsUntilEmpty(nowMs)] ?? "60s";

const dayEndsIn = (wallMs: number): string => `${Math.ceil(((windowEndMs("day", wallMs) ?? wallMs) - wallMs) / 1000)}s`;

function leftOfDay(bound: Bound, limit: DayName, wallMs: number): number {
  const { meter, share } = bound.account;
  const measure = limit === "requestsPerDay" ? "requests" : "tokens";
  const most = bound[limit] ?? Number.POSITIVE_INFINITY;
  const reserved = meter.reservedOf(measure);
  const left = most - meter.spent(measure, wallMs) - reserved;
  return share === undefined ? left : Math.min(left, share.left(limit, wallMs));
}

/** Infinity if the level does not limit it. */
function leftOf(bound: Bound, rate: RateName, nowMs: number, wallMs: number): number {
  const { account } = bound;
  const limit = bound[rate];
  if (limit === undefined) return Number.POSITIVE_INFINITY;
  const left = limit - (rate === "requestsPerMinute" ? account.requests : account.tokens).used(nowMs);
  return account.share === undefined ? left : Math.min(left, account.share.left(rate, wallMs));
}

function limited(reason: string, retryAfterSeconds: number): GatewayError {
  return new GatewayError("rate_limited", `${reason} ${again(retryAfterSeconds)}`, { retryAfterSeconds });
}

const again = (seconds: number): string => `Try again in ${seconds} s.`;
