import { GatewayError } from "../canon/error.ts";
import type { Share } from "./account.ts";
import type { Bound } from "./bound.ts";
import { type Level, subjectOf } from "./level.ts";
import type { LimitName } from "./limits.ts";
import { ShareRefusal } from "./share-refusal.ts";

/** For a call that finds this process without a share of a limit which others have not used up: shares move at once. */
const SHARE_RETRY_SECONDS = 1;

/** Refuses a request that is one too many at this level, before anything of it is read (S17). */
export function checkEntry({ level, account }: Bound, nowMs: number, wallMs: () => number): void {
  const { concurrent, requestsPerMinute } = level.limits;
  const { underWay } = account;
  if (concurrent !== undefined && underWay + 1 > concurrent) {
    throw limited(
      `${subjectOf(level)} has ${underWay} calls under way, and may have ${concurrent} at one time.`,
      SHARE_RETRY_SECONDS,
    );
  }
  if (concurrent !== undefined && account.share !== undefined) {
    checkShare(level, account.share, "concurrent", underWay, 1, `${concurrent} calls at one time`, wallMs());
  }
  if (requestsPerMinute === undefined) return;
  const window = account.requests(nowMs);
  const used = window.used(nowMs);
  if (used + 1 > requestsPerMinute) {
    const wait = window.secondsUntilFree(nowMs, requestsPerMinute, 1);
    throw limited(`${subjectOf(level)} has made the ${requestsPerMinute} requests that it may make in a minute.`, wait);
  }
  if (account.share === undefined) return;
  checkShare(level, account.share, "requestsPerMinute", used, 1, `${requestsPerMinute} requests in a minute`, wallMs());
}

/** Refuses a call that may need more tokens than the level has left in this minute. */
export function checkTokens({ level, account }: Bound, needed: number, nowMs: number, wallMs: number): void {
  const { tokensPerMinute } = level.limits;
  if (tokensPerMinute === undefined) return;
  const window = account.tokens(nowMs);
  const used = window.used(nowMs);
  if (used + needed > tokensPerMinute) {
    throw limited(
      `${subjectOf(level)} may use ${tokensPerMinute} tokens a minute, has used about ${used}, and this call may need ${needed}.`,
      window.secondsUntilFree(nowMs, tokensPerMinute, needed),
    );
  }
  if (account.share === undefined) return;
  checkShare(level, account.share, "tokensPerMinute", used, needed, `${tokensPerMinute} tokens in a minute`, wallMs);
}

/** Refuses a call that the limit allows, where other processes hold what it needs. */
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
  const reason = `${subjectOf(level)} may have ${words}, and other processes of this gateway hold what is left of them.`;
  const retryAfterSeconds = SHARE_RETRY_SECONDS;
  const shortage = { share, limit, needed };
  throw new ShareRefusal("rate_limited", `${reason} ${again(retryAfterSeconds)}`, { retryAfterSeconds }, shortage);
}

/** What is left of a rate at the level that leaves the least. */
export interface RateLeft {
  readonly limit: string;
  readonly left: number;
  /** Until nothing of the last minute counts any more. */
  readonly resetSeconds: number;
}

export function rateLeft(
  bounds: readonly Bound[],
  name: "requestsPerMinute" | "tokensPerMinute",
  nowMs: number,
  wallMs: number,
): RateLeft | undefined {
  let tightest: Bound | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const bound of bounds) {
    const { level, account } = bound;
    const limit = level.limits[name];
    if (limit === undefined) continue;
    const may = account.share === undefined ? limit : Math.min(limit, account.share.held(name, wallMs));
    const left = may - account.inUse(name, nowMs, wallMs);
    if (left >= least) continue;
    tightest = bound;
    least = left;
  }
  if (tightest === undefined) return undefined;
  const { account, rateTexts } = tightest;
  const window = name === "requestsPerMinute" ? account.requests(nowMs) : account.tokens(nowMs);
  return {
    limit: rateTexts[name],
    left: Math.max(0, least),
    resetSeconds: window.secondsUntilEmpty(nowMs),
  };
}

const SECONDS = Array.from({ length: 61 }, (_, seconds) => `${seconds}s`);

/** As clients of the field read them. */
export function addRateHeaders(
  headers: Record<string, string>,
  requests: RateLeft | undefined,
  tokens: RateLeft | undefined,
): void {
  if (requests !== undefined) {
    headers["x-ratelimit-limit-requests"] = requests.limit;
    headers["x-ratelimit-remaining-requests"] = String(requests.left);
    headers["x-ratelimit-reset-requests"] = SECONDS[requests.resetSeconds] ?? "60s";
  }
  if (tokens !== undefined) {
    headers["x-ratelimit-limit-tokens"] = tokens.limit;
    headers["x-ratelimit-remaining-tokens"] = String(tokens.left);
    headers["x-ratelimit-reset-tokens"] = SECONDS[tokens.resetSeconds] ?? "60s";
  }
}

function limited(reason: string, retryAfterSeconds: number): GatewayError {
  return new GatewayError("rate_limited", `${reason} ${again(retryAfterSeconds)}`, { retryAfterSeconds });
}

const again = (seconds: number): string => `Try again in ${seconds} s.`;
