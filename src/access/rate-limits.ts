import { GatewayError } from "../canon/error.ts";
import type { KeyLimits } from "./key-limits.ts";
import type { Principal } from "./principal.ts";
import { RateWindow } from "./rate-window.ts";

/** What one limited key has used lately, and has under way. */
export class RateCounters {
  underWay = 0;
  lastUsedMs: number;
  #requests: RateWindow | undefined;
  #tokens: RateWindow | undefined;

  constructor(nowMs: number) {
    this.lastUsedMs = nowMs;
  }

  /** Refuses a call for which the limits leave no room; takes nothing yet. */
  check(principal: Principal, estimatedTokens: number, nowMs: number): void {
    const { concurrent, requestsPerMinute, tokensPerMinute } = principal.limits;
    const key = `The key "${principal.keyName}"`;
    if (concurrent !== undefined && this.underWay >= concurrent) {
      throw limited(`${key} has ${this.underWay} calls under way, which is all it may have at one time.`, 1);
    }
    if (requestsPerMinute !== undefined) {
      const window = this.#requestWindow(nowMs);
      if (window.used(nowMs) + 1 > requestsPerMinute) {
        const wait = window.secondsUntilRoom(nowMs, requestsPerMinute, 1);
        throw limited(`${key} has made the ${requestsPerMinute} requests that it may make in a minute.`, wait);
      }
    }
    if (tokensPerMinute !== undefined) {
      const window = this.#tokenWindow(nowMs);
      const used = window.used(nowMs);
      if (used + estimatedTokens > tokensPerMinute) {
        const wait = window.secondsUntilRoom(nowMs, tokensPerMinute, estimatedTokens);
        throw limited(
          `${key} may use ${tokensPerMinute} tokens a minute, has used about ${used}, and this call may need ${estimatedTokens}.`,
          wait,
        );
      }
    }
  }

  take(limits: KeyLimits, estimatedTokens: number, nowMs: number): void {
    this.underWay += 1;
    this.lastUsedMs = nowMs;
    if (limits.requestsPerMinute !== undefined) this.#requestWindow(nowMs).add(nowMs, 1);
    if (limits.tokensPerMinute !== undefined) this.#tokenWindow(nowMs).add(nowMs, estimatedTokens);
  }

  /** The call that was taken at `takenMs`, under the same limits, has ended. */
  end(limits: KeyLimits, takenMs: number, nowMs: number, estimatedTokens: number, actualTokens: number): void {
    this.underWay -= 1;
    this.lastUsedMs = nowMs;
    if (limits.tokensPerMinute === undefined) return;
    this.#tokenWindow(nowMs).correct(takenMs, nowMs, estimatedTokens, actualTokens);
  }

  headers(limits: KeyLimits, nowMs: number): Readonly<Record<string, string>> {
    const headers: Record<string, string> = {};
    const describe = (what: string, limit: number | undefined, window: RateWindow | undefined): void => {
      if (limit === undefined || window === undefined) return;
      headers[`x-ratelimit-limit-${what}`] = String(limit);
      headers[`x-ratelimit-remaining-${what}`] = String(Math.max(0, limit - window.used(nowMs)));
      headers[`x-ratelimit-reset-${what}`] = `${window.secondsUntilEmpty(nowMs)}s`;
    };
    describe("requests", limits.requestsPerMinute, this.#requests);
    describe("tokens", limits.tokensPerMinute, this.#tokens);
    return headers;
  }

  #requestWindow(nowMs: number): RateWindow {
    this.#requests ??= new RateWindow(nowMs);
    return this.#requests;
  }

  #tokenWindow(nowMs: number): RateWindow {
    this.#tokens ??= new RateWindow(nowMs);
    return this.#tokens;
  }
}

function limited(reason: string, retryAfterSeconds: number): GatewayError {
  return new GatewayError("rate_limited", `${reason} Try again in ${retryAfterSeconds} s.`, { retryAfterSeconds });
}
