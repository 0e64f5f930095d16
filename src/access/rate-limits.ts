import { GatewayError } from "../canon/error.ts";
import type { Account, Share } from "./account.ts";
import { type Level, subjectOf } from "./level.ts";
import type { LimitName } from "./limits.ts";
import { ShareRefusal } from "./share-refusal.ts";

/** For a call that finds this process without a share of a limit which others have not used up: shares move at once. */
const SHARE_RETRY_SECONDS = 1;

/** Refuses a request that is one too many at this level, before anything of it is read (S17). */
export function checkEntry(level: Level, account: Account, nowMs: number, wallMs: number): void {
  const { concurrent, requestsPerMinute } = level.limits;
  const { underWay } = account;
  if (concurrent !== undefined && underWay + 1 > concurrent) {
    throw limited(
      `${subjectOf(level)} has ${underWay} calls under way, and may have ${concurrent} at one time.`,
      SHARE_RETRY_SECONDS,
    );
  }
  if (concurrent !== undefined && account.share !== undefined) {
    checkShare(level, account.share, "concurrent", underWay, 1, `${concurrent} calls at one time`, wallMs);
  }
  if (requestsPerMinute === undefined) return;
  const window = account.requests(nowMs);
  const used = window.used(nowMs);
  if (used + 1 > requestsPerMinute) {
    const wait = window.secondsUntilFree(nowMs, requestsPerMinute, 1);
    throw limited(`${subjectOf(level)} has made the ${requestsPerMinute} requests that it may make in a minute.`, wait);
  }
  if (account.share === undefined) return;
  checkShare(level, account.share, "requestsPerMinute", used, 1, `${requestsPerMinute} requests in a minute`, wallMs);
}

/** Refuses a call that may need more tokens than the level has left in this minute. */
export function checkTokens(level: Level, account: Account, needed: number, nowMs: number, wallMs: number): void {
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

/** The names of headers, which are made for every call. */
const HEADERS = {
  requests: {
    limit: "x-ratelimit-limit-requests",
    remaining: "x-ratelimit-remaining-requests",
    reset: "x-ratelimit-reset-requests",
  },
  tokens: {
    limit: "x-ratelimit-limit-tokens",
    remaining: "x-ratelimit-remaining-tokens",
    reset: "x-ratelimit-reset-tokens",
  },
} as const;
const SECONDS = Array.from({ length: 61 }, (_, seconds) => `${seconds}s`);

/** What the tightest level leaves, as clients of the field read it. */
export function rateHeaders(
  levels: readonly Level[],
  accounts: readonly Account[],
  nowMs: number,
  wallMs: number,
): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  describe(headers, "requests", "requestsPerMinute", levels, accounts, nowMs, wallMs);
  describe(headers, "tokens", "tokensPerMinute", levels, accounts, nowMs, wallMs);
  return headers;
}

function describe(
  headers: Record<string, string>,
  what: "requests" | "tokens",
  name: "requestsPerMinute" | "tokensPerMinute",
  levels: readonly Level[],
  accounts: readonly Account[],
  nowMs: number,
  wallMs: number,
): void {
  let tightest: Account | undefined;
  let least = Number.POSITIVE_INFINITY;
  let shown = 0;
  for (let index = 0; index < levels.length; index += 1) {
    const limit = levels[index]?.limits[name];
    const account = accounts[index];
    if (limit === undefined || account === undefined) continue;
    const may = account.share === undefined ? limit : Math.min(limit, account.share.held(name, wallMs));
    const left = may - account.inUse(name, nowMs, wallMs);
    if (left >= least) continue;
    tightest = account;
    least = left;
    shown = limit;
  }
  if (tightest === undefined) return;
  const names = HEADERS[what];
  headers[names.limit] = String(shown);
  headers[names.remaining] = String(Math.max(0, least));
  headers[names.reset] = SECONDS[tightest[what](nowMs).secondsUntilEmpty(nowMs)] ?? "60s";
}

function limited(reason: string, retryAfterSeconds: number): GatewayError {
  return new GatewayError("rate_limited", `${reason} ${again(retryAfterSeconds)}`, { retryAfterSeconds });
}

const again = (seconds: number): string => `Try again in ${seconds} s.`;
