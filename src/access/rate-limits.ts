import { GatewayError } from "../canon/error.ts";
import type { KeyLimits } from "./key-limits.ts";
import type { Principal } from "./principal.ts";
import { RateWindow } from "./rate-window.ts";

/** What one limited key has used lately, and its calls in flight. */
export class RateCounters {
  underWay = 0;
  lastUsedMs: number;
  #requests: RateWindow | undefined;
  #tokens: RateWindow | undefined;

  constructor(nowMs: number) {
    this.lastUsedMs = nowMs;
  }

  /** Takes a slot for one more request, or refuses it before anything of it is read (S17). */
  enter(principal: Principal, nowMs: number): void {
    const { concurrent, requestsPerMinute } = principal.limits;
    const key = `The key "${principal.keyName}"`;
    if (concurrent !== undefined && this.underWay >= concurrent) {
      throw limited(`${key} has ${this.underWay} calls under way, which is all it may have at one time.`, 1);
    }
    if (requestsPerMinute !== undefined) {
      const window = this.#requestWindow(nowMs);
      if (window.used(nowMs) + 1 > requestsPerMinute) {
        const wait = window.secondsUntilFree(nowMs, requestsPerMinute, 1);
        throw limited(`${key} has made the ${requestsPerMinute} requests that it may make in a minute.`, wait);
      }
      window.add(nowMs, 1);
    }
    this.underWay += 1;
    this.lastUsedMs = nowMs;
  }

  /** The request that entered at `enteredMs` has ended. */
  leave(nowMs: number): void {
    this.underWay -= 1;
    this.lastUsedMs = nowMs;
  }

  /** The request no longer counts: it was refused for what it would use. */
  forget(limits: KeyLimits, enteredMs: number, nowMs: number): void {
    if (limits.requestsPerMinute !== undefined) this.#requestWindow(nowMs).correct(enteredMs, nowMs, 1, 0);
  }

  /** Takes the tokens that a call may need, or refuses it. */
  takeTokens({ keyName, limits }: Principal, estimatedTokens: number, nowMs: number): void {
    const { tokensPerMinute } = limits;
    if (tokensPerMinute === undefined) return;
    const window = this.#tokenWindow(nowMs);
    const used = window.used(nowMs);
    if (used + estimatedTokens > tokensPerMinute) {
      const wait = window.secondsUntilFree(nowMs, tokensPerMinute, estimatedTokens);
      throw limited(
        `The key "${keyName}" may use ${tokensPerMinute} tokens a minute, has used about ${used}, and this call may need ${estimatedTokens}.`,
        wait,
      );
    }
    window.add(nowMs, estimatedTokens);
  }

  /** Corrects what was taken at `takenMs` under the same limits. */
  correctTokens(limits: KeyLimits, takenMs: number, nowMs: number, estimated: number, actual: number): void {
    if (limits.tokensPerMinute === undefined) return;
    this.#tokenWindow(nowMs).correct(takenMs, nowMs, estimated, actual);
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
