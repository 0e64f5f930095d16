import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { cpuMs } from "../base/cpu-time.sample.ts";
import { GatewayError } from "../canon/error.ts";
import { type Admission, Admissions, type CallEstimate, type SpentSums } from "./admit.ts";
import { levelsOf } from "./level.ts";
import type { Limits } from "./limits.ts";
import type { Principal } from "./principal.ts";
import { rateHeadersOf } from "./rate-headers.sample.ts";

const START_MS = Date.UTC(2026, 0, 31, 23, 0);

interface Outer {
  project?: Limits;
  gateway?: Limits;
}

function principal(changes: Partial<Omit<Principal, "levels">> = {}, outer: Outer = {}): Principal {
  const one = { keyId: "key_1", keyName: "ci", project: "default", models: ["*"], limits: {}, ...changes };
  const project = { id: one.project, name: one.project, limits: outer.project ?? {} };
  const key = { id: one.keyId, name: one.keyName, limits: one.limits };
  return { ...one, levels: levelsOf(key, { project, gateway: outer.gateway ?? {} }) };
}

function gate(spent: SpentSums = () => 0) {
  /** `stepMs` is how far the machine's clock has been moved. */
  const clock = { ms: START_MS, stepMs: 0 };
  const admissions = new Admissions({ nowMs: () => clock.ms, wallMs: () => clock.ms + clock.stepMs, spent });
  const admit = (who: Principal, changes: Partial<CallEstimate> = {}): Admission => {
    const entry = admissions.enter(who);
    try {
      return entry.admit({
        model: "acme/llama",
        dialect: "chat",
        estimatedCostNanoUsd: 0,
        estimatedTokens: 0,
        ...changes,
      });
    } catch (refusal) {
      entry.leave();
      throw refusal;
    }
  };
  const refusal = (who: Principal, changes: Partial<CallEstimate> = {}): GatewayError => {
    try {
      admit(who, changes);
    } catch (thrown) {
      if (thrown instanceof GatewayError) return thrown;
      throw thrown;
    }
    throw new Error("the call was admitted");
  };
  return { clock, admissions, admit, refusal };
}

const isReserved = (reservation: unknown): boolean => reservation !== undefined;

describe("admit: scopes", () => {
  test("a model outside the key's patterns is forbidden, and the error names both", () => {
    const { admit, refusal } = gate();
    const who = principal({ models: ["acme/*", "other/one"] });
    admit(who, { model: "acme/x" });
    const { kind, message, path } = refusal(who, { model: "other/two" });
    expect([kind, path]).toEqual(["forbidden", "model"]);
    expect(message).toContain("other/two");
    expect(message).toContain("acme/*, other/one");
  });

  test("a protocol that the key does not allow is forbidden, and an expired key is unauthenticated", () => {
    const { clock, admit, refusal } = gate();
    const who = principal({ protocols: ["messages"], expiresAtMs: START_MS + 1 });
    expect(refusal(who).kind).toBe("forbidden");
    admit(who, { dialect: "messages" });
    clock.ms += 1;
    expect(refusal(who, { dialect: "messages" }).kind).toBe("unauthenticated");
  });

  test("the error lists the first ten of many patterns", () => {
    const { refusal } = gate();
    const models = Array.from({ length: 11 }, (_, index) => `acme/${index}`);
    expect(refusal(principal({ models })).message).toEndWith("acme/8, acme/9, ….");
    expect(refusal(principal({ models: models.slice(0, 10) })).message).toEndWith("acme/8, acme/9.");
  });

  test("a refused call takes nothing", () => {
    const { admit, refusal, clock } = gate();
    const who = principal({
      models: ["acme/*"],
      limits: { requestsPerMinute: 1, concurrent: 1, tokensPerMinute: 10, budgetUsdTotal: 1 },
    });
    refusal(who, { model: "x/y" });
    refusal(who, { estimatedTokens: 11 });
    expect(refusal(who, { estimatedCostNanoUsd: 2e9 }).kind).toBe("budget_exhausted");
    expect(refusal(who, { estimatedTokens: 11, estimatedCostNanoUsd: 1e9 }).kind).toBe("rate_limited");
    admit(who, { estimatedTokens: 10, estimatedCostNanoUsd: 1e9 }).release({ costNanoUsd: 0, tokens: 10 });
    clock.ms += 60_000;
    admit(who, { estimatedTokens: 10, estimatedCostNanoUsd: 1e9 });
  });
});

describe("admit: before the body is read (S17)", () => {
  test("a request that is still being read holds a slot, and frees it when it is refused", () => {
    const { admissions, refusal } = gate();
    const who = principal({ limits: { concurrent: 1 } });
    const reading = admissions.enter(who);
    expect(refusal(who).kind).toBe("rate_limited");
    reading.leave();
    reading.leave();
    admissions.enter(who);
    expect(refusal(who).kind).toBe("rate_limited");
  });

  test("a request with a worthless body still counts as a request", () => {
    const { admissions, refusal } = gate();
    const who = principal({ limits: { requestsPerMinute: 2 } });
    admissions.enter(who).leave();
    admissions.enter(who).leave();
    expect(refusal(who).kind).toBe("rate_limited");
  });
});

describe("admit: rates", () => {
  test("requests a minute: calls up to the limit pass, and one more passes after the reported wait", () => {
    const { clock, admit, refusal } = gate();
    const who = principal({ limits: { requestsPerMinute: 3 } });
    admit(who);
    clock.ms += 20_000;
    admit(who);
    const last = admit(who);
    expect(rateHeadersOf(last)).toEqual({
      "x-ratelimit-limit-requests": "3",
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "60s",
    });
    const { kind, retryAfterSeconds } = refusal(who);
    expect([kind, retryAfterSeconds]).toEqual(["rate_limited", 40]);
    clock.ms += 39_000;
    expect(refusal(who).retryAfterSeconds).toBe(1);
    clock.ms += 1_000;
    admit(who);
    expect(refusal(who).retryAfterSeconds).toBe(20);
  });

  test("at most the limit passes within 59 seconds, and the reported wait always suffices", () => {
    const gaps = fc.array(fc.nat({ max: 30_000 }), { maxLength: 60 });
    fc.assert(
      fc.property(gaps, fc.integer({ min: 1, max: 5 }), (between, limit) => {
        const { clock, admit } = gate();
        const who = principal({ limits: { requestsPerMinute: limit } });
        const passed: number[] = [];
        for (const gap of between) {
          clock.ms += gap;
          try {
            admit(who);
          } catch (thrown) {
            const wait = thrown instanceof GatewayError ? (thrown.retryAfterSeconds ?? 0) : 0;
            expect(wait).toBeWithin(1, 61);
            clock.ms += wait * 1_000;
            admit(who);
          }
          passed.push(clock.ms);
        }
        for (const at of passed) {
          expect(passed.filter((other) => other >= at && other < at + 59_000).length).toBeLessThanOrEqual(limit);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("tokens a minute: the estimate counts at once, and actual use replaces it", () => {
    const { clock, admit, refusal } = gate();
    const who = principal({ limits: { tokensPerMinute: 1_000 } });
    const first = admit(who, { estimatedTokens: 900 });
    expect(rateHeadersOf(first)["x-ratelimit-remaining-tokens"]).toBe("100");
    expect(rateHeadersOf(first)["x-ratelimit-limit-requests"]).toBeUndefined();
    expect(refusal(who, { estimatedTokens: 200 }).kind).toBe("rate_limited");
    clock.ms += 10_000;
    first.release({ costNanoUsd: 0, tokens: 100 });
    const second = admit(who, { estimatedTokens: 900 });
    clock.ms += 70_000;
    // Ends long after its own minute with more than estimated: the excess still counts.
    second.release({ costNanoUsd: 0, tokens: 1_600 });
    expect(refusal(who, { estimatedTokens: 400 }).kind).toBe("rate_limited");
    admit(who, { estimatedTokens: 300 });
  });

  test("a call that needs more tokens than a minute allows is refused with that reason and a wait in range", () => {
    const { refusal } = gate();
    const { message, retryAfterSeconds } = refusal(principal({ limits: { tokensPerMinute: 10 } }), {
      estimatedTokens: 11,
    });
    expect(message).toContain("may need 11");
    expect(retryAfterSeconds).toBeWithin(1, 61);
  });

  test("H25: a limit removed by a new configuration no longer appears in headers", () => {
    const { admit } = gate();
    admit(principal({ limits: { requestsPerMinute: 3, tokensPerMinute: 10 } }));
    expect(rateHeadersOf(admit(principal({ limits: { tokensPerMinute: 10 } })))).toEqual({
      "x-ratelimit-limit-tokens": "10",
      "x-ratelimit-remaining-tokens": "10",
      "x-ratelimit-reset-tokens": "0s",
    });
  });

  test("H25: if a new configuration lowers the limit, the remainder is zero, never negative", () => {
    const { admissions, admit } = gate();
    const reading = admissions.enter(principal({ limits: { requestsPerMinute: 1 } }));
    for (let index = 0; index < 2; index += 1) admit(principal({ limits: { requestsPerMinute: 3 } }));
    const call = { model: "acme/llama", dialect: "chat", estimatedCostNanoUsd: 0, estimatedTokens: 0 } as const;
    expect(rateHeadersOf(reading.admit(call))["x-ratelimit-remaining-requests"]).toBe("0");
  });

  test("concurrent calls: a call that ends frees its slot once", () => {
    const { admit, refusal } = gate();
    const who = principal({ limits: { concurrent: 2 } });
    const one = admit(who);
    admit(who);
    expect(refusal(who).retryAfterSeconds).toBe(1);
    one.release({ costNanoUsd: 0, tokens: 0 });
    one.release({ costNanoUsd: 0, tokens: 0 });
    admit(who);
    expect(refusal(who).kind).toBe("rate_limited");
  });

  test("keys do not share their counters", () => {
    const { admit, refusal } = gate();
    const limits = { requestsPerMinute: 1 };
    admit(principal({ limits }));
    admit(principal({ keyId: "key_2", limits }));
    refusal(principal({ limits }));
  });

  test("H30: setting the clock back or forward does not affect rates", () => {
    const { clock, admit, refusal } = gate();
    const who = principal({ limits: { requestsPerMinute: 1, tokensPerMinute: 10 } });
    admit(who, { estimatedTokens: 10 }).release({ costNanoUsd: 0, tokens: 10 });
    for (const stepMs of [-3_600_000, 3_600_000, 0]) {
      clock.stepMs = stepMs;
      expect(refusal(who)).toMatchObject({ kind: "rate_limited", retryAfterSeconds: 60 });
    }
    clock.stepMs = -3_600_000;
    clock.ms += 60_000;
    admit(who, { estimatedTokens: 10 });
  });
});

describe("admit: budgets", () => {
  const call = { estimatedCostNanoUsd: 100_000_000 };

  test("H23: of 100 parallel calls a budget of ten lets ten in", () => {
    const { admit } = gate();
    const who = principal({ limits: { budgetUsdTotal: 1 } });
    const kinds = Array.from({ length: 100 }, () => {
      try {
        admit(who, call);
        return "in";
      } catch (thrown) {
        return thrown instanceof GatewayError ? thrown.kind : "?";
      }
    });
    expect(kinds.filter((kind) => kind === "in")).toHaveLength(10);
    expect(kinds.filter((kind) => kind === "budget_exhausted")).toHaveLength(90);
  });

  test("H23: whatever the order of calls, spending and reservations together stay within the budget", () => {
    const step = fc.record({
      estimate: fc.nat(40),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
      endsFirst: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const { admit } = gate();
        const who = principal({ limits: { budgetUsdTotal: 100e-9 } });
        const running: { admission: Admission; costNanoUsd: number }[] = [];
        let spent = 0;
        for (const { estimate, share, endsFirst } of steps) {
          if (endsFirst) {
            const ending = running.shift();
            ending?.admission.release({ costNanoUsd: ending.costNanoUsd, tokens: 0 });
            spent += ending?.costNanoUsd ?? 0;
          }
          try {
            const admission = admit(who, { estimatedCostNanoUsd: estimate });
            running.push({ admission, costNanoUsd: Math.floor(estimate * share) });
          } catch (thrown) {
            expect((thrown as GatewayError).kind).toBe("budget_exhausted");
          }
          expect(spent + running.reduce((sum, one) => sum + one.costNanoUsd, 0)).toBeLessThanOrEqual(100);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("the unused part of a reservation becomes available again", () => {
    const { admit, refusal } = gate();
    const who = principal({ limits: { budgetUsdTotal: 0.1 } });
    const first = admit(who, call);
    expect(refusal(who, call).message).toContain("0.1 USD reserved");
    first.release({ costNanoUsd: 0, tokens: 0 });
    admit(who, call).release({ costNanoUsd: 1, tokens: 0 });
    expect(refusal(who, call).kind).toBe("budget_exhausted");
  });

  test("H23: a call reserves its highest possible cost, so that concurrent calls cannot exceed a budget together", () => {
    const { admit, refusal } = gate();
    const who = principal({ limits: { budgetUsdTotal: 1 } });
    const open = { estimatedCostNanoUsd: 1e8, maxCostNanoUsd: 8e8 };
    const first = admit(who, open);
    const refused = refusal(who, open);
    expect(refused.message).toContain(
      "0 USD spent, 0.8 USD reserved by calls in flight, and this call may cost up to 0.8 USD.",
    );
    expect(refused.message).toContain("Set an output token limit in the request to lower this.");
    // It fits with an output limit.
    expect(refusal(who, { estimatedCostNanoUsd: 2e8 + 1 }).message).not.toContain("Set an output token limit");
    admit(who, { estimatedCostNanoUsd: 2e8 }).release({ costNanoUsd: 0, tokens: 0 });
    first.release({ costNanoUsd: 6e8, tokens: 0 });
    // Less is left than it can cost at most: it runs alone, and keeps all others out.
    admit(who, open);
    expect(refusal(who).kind).toBe("budget_exhausted");
  });

  test("H23: another request of the same call reserves the same amount again, or is not sent", () => {
    const { admissions, admit, refusal } = gate();
    const who = principal({ limits: { budgetUsdTotal: 1, tokensPerMinute: 250 } });
    const call = { estimatedCostNanoUsd: 0.3e9, maxCostNanoUsd: 0.4e9, estimatedTokens: 100 };
    const admission = admit(who, call);
    expect([isReserved(admission.extend()), admissions.held.nanoUsd]).toEqual([true, 0.8e9]);
    // Neither the money nor the tokens are enough for a third.
    expect([isReserved(admission.extend()), admissions.held.nanoUsd]).toEqual([false, 0.8e9]);
    expect(refusal(who, call).kind).toBe("budget_exhausted");
    admission.release({ costNanoUsd: 0.5e9, tokens: 120 });
    expect(admissions.held).toEqual({ calls: 0, nanoUsd: 0 });
    expect(admission.extend()).toBeUndefined();
    // 120 of 250 tokens are used, and half of the money.
    const cheap = { estimatedCostNanoUsd: 0, estimatedTokens: 131 };
    expect(refusal(who, cheap).kind).toBe("rate_limited");
    expect(admit(who, { ...call, estimatedTokens: 130 }).extend()).toBeUndefined();
    expect(admissions.held.nanoUsd).toBe(0.4e9);
  });

  test("H23: if another request needs too many tokens, its money is released", () => {
    const { admissions, admit } = gate();
    const who = principal({ limits: { budgetUsdTotal: 1, tokensPerMinute: 150 } });
    const admission = admit(who, { estimatedCostNanoUsd: 0.1e9, estimatedTokens: 100 });
    expect([isReserved(admission.extend()), admissions.held.nanoUsd]).toEqual([false, 0.1e9]);
    const open = admit(principal());
    expect(open.extend()).toBeDefined();
  });

  test("H19: a call that only waits for others gets a retry time; one that never fits does not", () => {
    const { admit, refusal } = gate();
    const who = principal({ limits: { budgetUsdTotal: 1 } });
    admit(who).release({ costNanoUsd: 4e8, tokens: 0 });
    const running = admit(who, { estimatedCostNanoUsd: 1e8 });
    const waits = refusal(who, { estimatedCostNanoUsd: 6e8 });
    expect(waits.retryAfterSeconds).toBe(2);
    expect(waits.message).toEndWith("Retry when calls in flight have finished.");
    const never = refusal(who, { estimatedCostNanoUsd: 6e8 + 1 });
    expect(never.retryAfterSeconds).toBeUndefined();
    expect(never.message).not.toContain("Retry when");
    running.release({ costNanoUsd: 6e8, tokens: 0 });
    expect(refusal(who).retryAfterSeconds).toBeUndefined();
  });

  test("an exhausted budget refuses calls of unknown cost as well", () => {
    const { admit, refusal } = gate();
    const who = principal({ limits: { budgetUsdTotal: 0.1 } });
    admit(who).release({ costNanoUsd: 100_000_000, tokens: 0 });
    expect(refusal(who).kind).toBe("budget_exhausted");
    expect(refusal(principal({ keyId: "key_0", limits: { budgetUsdTotal: 0 } })).kind).toBe("budget_exhausted");
  });

  test("H30: a budget counts the receipts of its day and month, however the clock is set", () => {
    const receipts: { atMs: number; costNanoUsd: number }[] = [];
    const DAY_MS = 86_400_000;
    const monthOf = (ms: number) => new Date(ms).toISOString().slice(0, 7);
    const step = fc.record({
      // Mostly hours and days, back and forth.
      stepMs: fc.integer({ min: -72, max: 72 }).map((hours) => hours * 3_600_000),
      lateMs: fc.integer({ min: 0, max: 7_200_000 }),
      costNanoUsd: fc.integer({ min: 0, max: 1_000 }),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
        receipts.length = 0;
        const { clock, admit, refusal } = gate();
        const who = principal({ limits: { budgetUsdPerDay: 1, budgetUsdPerMonth: 1 } });
        for (const { stepMs, lateMs, costNanoUsd } of steps) {
          clock.stepMs = stepMs;
          const admission = admit(who);
          clock.ms += lateMs;
          clock.stepMs = 0;
          admission.release({ costNanoUsd, tokens: 0 });
          receipts.push({ atMs: admission.atMs, costNanoUsd });
          clock.stepMs = stepMs;
          const nowMs = clock.ms + stepMs;
          const sum = (same: (atMs: number) => boolean) =>
            receipts.reduce((total, receipt) => total + (same(receipt.atMs) ? receipt.costNanoUsd : 0), 0);
          const day = sum((atMs) => Math.floor(atMs / DAY_MS) === Math.floor(nowMs / DAY_MS));
          const month = sum((atMs) => monthOf(atMs) === monthOf(nowMs));
          for (const [window, spent] of [
            ["day", day],
            ["month", month],
          ] as const) {
            const only = principal({ limits: window === "day" ? { budgetUsdPerDay: 1 } : { budgetUsdPerMonth: 1 } });
            const left = 1e9 - spent;
            admit(only, { estimatedCostNanoUsd: left }).release({ costNanoUsd: 0, tokens: 0 });
            expect(refusal(only, { estimatedCostNanoUsd: left + 1 }).kind).toBe("budget_exhausted");
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  test("H30: if the clock was wrong at the start, the ledger's sums of the right day are read later", () => {
    const { clock, admissions, admit, refusal } = gate();
    const who = principal({ limits: { budgetUsdPerDay: 1 } });
    clock.stepMs = -86_400_000;
    admit(who).release({ costNanoUsd: 2e8, tokens: 0 });
    // The ledger holds the row of that call too.
    admissions.learn((_level, _id, window) => (window === "total" ? 9e9 : 9e8), clock.ms + clock.stepMs);
    expect(refusal(who, { estimatedCostNanoUsd: 1e8 + 1 }).kind).toBe("budget_exhausted");
    const other = principal({ keyId: "key_2", limits: { budgetUsdPerDay: 1 } });
    expect(refusal(other, { estimatedCostNanoUsd: 1e8 + 1 }).kind).toBe("budget_exhausted");
    clock.stepMs = 0;
    admit(who, { estimatedCostNanoUsd: 1e9 });
  });

  test("days and months reset in UTC; a total never does", () => {
    const { clock, admit, refusal } = gate();
    const pay = (who: Principal): void => admit(who).release({ costNanoUsd: 1e9, tokens: 0 });
    const daily = principal({ keyId: "day", limits: { budgetUsdPerDay: 1 } });
    const monthly = principal({ keyId: "month", limits: { budgetUsdPerMonth: 1 } });
    const total = principal({ keyId: "total", limits: { budgetUsdTotal: 1 } });
    for (const who of [daily, monthly, total]) {
      pay(who);
      expect(refusal(who).kind).toBe("budget_exhausted");
    }
    for (const who of [daily, monthly]) expect(refusal(who).message).toContain("resets at 2026-02-01T00:00:00.000Z.");
    expect(refusal(total).message).not.toContain("anew");
    clock.ms = Date.UTC(2026, 1, 1);
    pay(daily);
    pay(monthly);
    expect(refusal(total).kind).toBe("budget_exhausted");
    clock.ms = Date.UTC(2026, 1, 2);
    pay(daily);
    expect(refusal(monthly).kind).toBe("budget_exhausted");
  });

  test("spending in the ledger at the start counts in its window", () => {
    const { clock, admit, refusal } = gate((_level, _id, window) => (window === "day" ? 1e9 : 3e9));
    const limits = { budgetUsdPerDay: 1, budgetUsdPerMonth: 10, budgetUsdTotal: 4 };
    expect(refusal(principal({ limits })).message).toContain("a day");
    clock.ms += 86_400_000;
    admit(principal({ limits })).release({ costNanoUsd: 1e9, tokens: 0 });
    clock.ms += 86_400_000;
    expect(refusal(principal({ limits })).message).toContain("in total");
  });

  test("H30: setting the clock repeatedly does not lose the sums read at the start, and the last ones count", () => {
    const { clock, admissions, refusal } = gate((_level, _id, window) => (window === "total" ? 9e8 : 0));
    const dayMs = 86_400_000;
    for (let day = 1; day <= 6; day += 1) admissions.learn(() => day * 1e8, clock.ms + day * dayMs);
    const spentOn = (day: number): string => {
      clock.stepMs = day * dayMs;
      const who = principal({ keyId: `key_${day}`, limits: { budgetUsdPerDay: 0.01 } });
      return /: (\S+) USD spent/.exec(refusal(who, { estimatedCostNanoUsd: 1e9 }).message)?.[1] ?? "";
    };
    // For keys that are not known yet, the first days are dropped and the last three are kept.
    expect([1, 2, 3, 4, 5, 6].map(spentOn)).toEqual(["0", "0", "0", "0.4", "0.5", "0.6"]);
    const total = principal({ keyId: "key_0", limits: { budgetUsdTotal: 1 } });
    expect(refusal(total, { estimatedCostNanoUsd: 2e8 }).message).toContain("0.9 USD spent");
  });

  test("H24: an operation's reservation counts until it ends, and then its cost", () => {
    const { clock, admissions, admit, refusal } = gate();
    const who = principal({ limits: { budgetUsdPerDay: 1 } });
    const settle = admissions.hold(who, 8e8);
    expect(refusal(who, { estimatedCostNanoUsd: 3e8 }).message).toContain("0 USD spent, 0.8 USD reserved");
    settle(5e8, clock.ms);
    expect(refusal(who, { estimatedCostNanoUsd: 6e8 }).message).toContain("0.5 USD spent, 0 USD reserved");
    admit(who, { estimatedCostNanoUsd: 5e8 });
  });

  test("H06: a call that is settled twice is charged once, with limits or without", () => {
    for (const limits of [{}, { budgetUsdTotal: 9 }]) {
      const { admit, refusal } = gate();
      const call = admit(principal({ limits }));
      call.release({ costNanoUsd: 1e9, tokens: 0 });
      call.release({ costNanoUsd: 1e9, tokens: 0 });
      expect(refusal(principal({ limits: { budgetUsdTotal: 1 } })).message).toContain(": 1 USD spent, 0 USD reserved");
    }
  });

  test("H25: a budget added by a new configuration counts what was spent before", () => {
    const { admit, refusal } = gate();
    admit(principal()).release({ costNanoUsd: 1e9, tokens: 0 });
    admit(principal({ limits: { concurrent: 9 } })).release({ costNanoUsd: 1e9, tokens: 0 });
    admit(principal({ limits: { budgetUsdPerDay: 2.1 } }), call);
    expect(refusal(principal({ limits: { budgetUsdPerDay: 2 } })).message).toContain("2 USD spent");
  });
});

describe("admit: cost and memory", () => {
  test("H20: counters of idle keys are dropped; those of calls in flight stay", () => {
    const { clock, admissions, admit, refusal } = gate();
    const limits = { requestsPerMinute: 5, concurrent: 1 };
    for (let index = 0; index < 5_000; index += 1) {
      admit(principal({ keyId: `key_${index}`, limits })).release({ costNanoUsd: 0, tokens: 0 });
    }
    const busy = principal({ keyId: "busy", limits });
    admit(busy);
    expect(admissions.tracked).toBe(5_001);
    // Idle accounts are looked for once a minute.
    for (const [passMs, tracked] of [
      [60_000, 5_001],
      [59_999, 5_001],
      [1, 1],
    ] as const) {
      clock.ms += passMs;
      admit(principal());
      expect(admissions.tracked).toBe(tracked);
    }
    expect(refusal(busy).kind).toBe("rate_limited");
  });

  test("a key without limits has no headers and no counters, and costs almost nothing", () => {
    const { admissions, admit } = gate();
    const who = principal({ models: ["acme/*"] });
    const call = { model: "acme/llama", dialect: "chat", estimatedCostNanoUsd: 5, estimatedTokens: 5 } as const;
    expect(rateHeadersOf(admit(who))).toEqual({});
    for (let index = 0; index < 20_000; index += 1)
      admissions.enter(who).admit(call).release({ costNanoUsd: 1, tokens: 1 });
    const startedMs = cpuMs();
    for (let index = 0; index < 100_000; index += 1)
      admissions.enter(who).admit(call).release({ costNanoUsd: 1, tokens: 1 });
    const microseconds = (cpuMs() - startedMs) / 100;
    expect(microseconds).toBeLessThan(5);
    expect(admissions.tracked).toBe(0);
  });
});

describe("choices 12: lines of batches", () => {
  const call = { model: "acme/llama", dialect: "chat", estimatedCostNanoUsd: 0, estimatedTokens: 400 };

  test("use at most three quarters of the tokens of a minute, unless nothing else uses any", () => {
    const { clock, admissions, admit } = gate();
    const who = principal({ limits: { tokensPerMinute: 1_000 } });
    const line = () => admissions.enterWork(who).admit(call);
    line();
    expect(line).toThrow("1000 tokens a minute");
    admit(who, { estimatedTokens: 400 });
    clock.ms += 61_000;
    admissions.enterWork(who).admit({ ...call, estimatedTokens: 900 });
    expect(line).toThrow();
  });

  test("H23: what a batch may cost is reserved in the turn in which it is checked", async () => {
    const { admissions, refusal } = gate();
    const who = principal({ limits: { budgetUsdTotal: 1 } });
    const both = await Promise.allSettled([admissions.reserve(who, 6e8), admissions.reserve(who, 6e8)]);
    expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(refusal(who, { estimatedCostNanoUsd: 5e8 }).kind).toBe("budget_exhausted");
    const [first] = both;
    if (first?.status === "fulfilled") first.value(0, START_MS);
    expect(await admissions.reserve(who, 1e9)).toBeFunction();
  });
});
