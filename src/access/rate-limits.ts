import { GatewayError } from "../canon/error.ts";
import type { Account } from "./account.ts";
import { type Level, subjectOf } from "./level.ts";
import type { LimitName } from "./limits.ts";

/** For a call that finds this process without a share of a limit which others have not used up: shares move at once. */
const SHARE_RETRY_SECONDS = 1;

/** Refuses a request that is one too many at this level, before anything of it is read (S17). */
export function checkEntry(level: Level, account: Account, nowMs: number, wallMs: number): void {
  const { concurrent, requestsPerMinute } = level.limits;
  if (concurrent !== undefined && lacks(account, "concurrent", account.underWay, 1, concurrent, wallMs)) {
    throw limited(
      `${subjectOf(level)} has ${account.underWay} calls under way, and may have ${concurrent} at one time.`,
      SHARE_RETRY_SECONDS,
    );
  }
  if (requestsPerMinute === undefined) return;
  const window = account.requests(nowMs);
  const used = window.used(nowMs);
  if (!lacks(account, "requestsPerMinute", used, 1, requestsPerMinute, wallMs)) return;
  if (used + 1 <= requestsPerMinute) throw unshared(level, `${requestsPerMinute} requests`);
  const wait = window.secondsUntilFree(nowMs, requestsPerMinute, 1);
  throw limited(`${subjectOf(level)} has made the ${requestsPerMinute} requests that it may make in a minute.`, wait);
}

/** Refuses a call that may need more tokens than the level has left in this minute. */
export function checkTokens(level: Level, account: Account, needed: number, nowMs: number, wallMs: number): void {
  const { tokensPerMinute } = level.limits;
  if (tokensPerMinute === undefined) return;
  const window = account.tokens(nowMs);
  const used = window.used(nowMs);
  if (!lacks(account, "tokensPerMinute", used, needed, tokensPerMinute, wallMs)) return;
  if (used + needed <= tokensPerMinute) throw unshared(level, `${tokensPerMinute} tokens`);
  throw limited(
    `${subjectOf(level)} may use ${tokensPerMinute} tokens a minute, has used about ${used}, and this call may need ${needed}.`,
    window.secondsUntilFree(nowMs, tokensPerMinute, needed),
  );
}

function lacks(
  { share }: Account,
  name: LimitName,
  used: number,
  needed: number,
  limit: number,
  wallMs: number,
): boolean {
  if (used + needed > limit) return true;
  if (share === undefined || used + needed <= share.held(name, wallMs)) return false;
  share.short(name, needed);
  return true;
}

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
  headers[`x-ratelimit-limit-${what}`] = String(shown);
  headers[`x-ratelimit-remaining-${what}`] = String(Math.max(0, least));
  headers[`x-ratelimit-reset-${what}`] = `${tightest[what](nowMs).secondsUntilEmpty(nowMs)}s`;
}

const unshared = (level: Level, limit: string): GatewayError =>
  limited(
    `${subjectOf(level)} may use ${limit} in a minute, and other processes of this gateway hold what is left of them.`,
    SHARE_RETRY_SECONDS,
  );

function limited(reason: string, retryAfterSeconds: number): GatewayError {
  return new GatewayError("rate_limited", `${reason} Try again in ${retryAfterSeconds} s.`, { retryAfterSeconds });
}
