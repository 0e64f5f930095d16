import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { cpuMs } from "../base/cpu-time.sample.ts";
import { GatewayError } from "../canon/error.ts";
import type { Share } from "./account.ts";
import { type Admission, Admissions, type CallEstimate } from "./admit.ts";
import { GATEWAY_ID, levelsOf, WHOLE_LEVELS, type WholeLevelName } from "./level.ts";
import type { LimitName, Limits } from "./limits.ts";
import type { Principal } from "./principal.ts";
import { rateHeadersOf } from "./rate-headers.sample.ts";

const START_MS = Date.UTC(2026, 0, 31, 12);

type LimitsByLevel = Partial<Record<WholeLevelName, Limits>>;

function principal(limits: LimitsByLevel, keyId = "key_1"): Principal {
  const key = { id: keyId, name: keyId, limits: limits.key ?? {} };
  const project = { id: "team-a", name: "Team A", limits: limits.project ?? {} };
  return {
    keyId,
    keyName: keyId,
    project: "team-a",
    models: ["*"],
    limits: key.limits,
    levels: levelsOf(key, { project, gateway: limits.gateway ?? {} }),
  };
}

const CALL: CallEstimate = { model: "acme/llama", dialect: "chat", estimatedCostNanoUsd: 0, estimatedTokens: 0 };

function gate(options: { shareOf?: () => Share | undefined } = {}) {
  const clock = { ms: START_MS };
  const admissions = new Admissions({ nowMs: () => clock.ms, wallMs: () => clock.ms, spent: () => 0, ...options });
  const admit = (who: Principal, changes: Partial<CallEstimate> = {}): Admission => {
    const entry = admissions.enter(who);
    try {
      return entry.admit({ ...CALL, ...changes });
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

const SUBJECTS: Readonly<Record<WholeLevelName, string>> = {
  key: 'The key "key_1"',
  project: 'The project "Team A"',
  gateway: "This gateway as a whole",
};

/** Each limit allows one call; a second exceeds it. */
const ONE_CALL: readonly [Limits, Partial<CallEstimate>][] = [
  [{ requestsPerMinute: 1 }, {}],
  [{ concurrent: 1 }, {}],
  [{ tokensPerMinute: 10 }, { estimatedTokens: 10 }],
  [{ budgetUsdPerDay: 1 }, { estimatedCostNanoUsd: 1e9 }],
  [{ budgetUsdPerMonth: 1 }, { estimatedCostNanoUsd: 1e9 }],
  [{ budgetUsdTotal: 1 }, { estimatedCostNanoUsd: 1e9 }],
];

describe("levels", () => {
  for (const level of WHOLE_LEVELS) {
    test(`choices 9: every limit applies at the level of the ${level}, and the error names it`, () => {
      for (const [limits, call] of ONE_CALL) {
        const { admit, refusal } = gate();
        const who = principal({ [level]: limits });
        admit(who, call);
        expect(refusal(who, call).message).toStartWith(SUBJECTS[level]);
      }
    });
  }

  test("keys of a project share its limits, and other projects do not", () => {
    for (const [limits, call] of ONE_CALL) {
      const { admit, refusal } = gate();
      admit(principal({ project: limits }, "key_1"), call);
      refusal(principal({ project: limits }, "key_2"), call);
      const other = { id: "team-b", name: "Team B", limits };
      const levels = levelsOf({ id: "key_3", name: "key_3", limits: {} }, { project: other, gateway: {} });
      admit({ ...principal({}, "key_3"), project: "team-b", levels }, call);
    }
  });

  test("a call that an outer level refuses leaves nothing at the inner ones", () => {
    const inner: Limits = { requestsPerMinute: 1, concurrent: 1, tokensPerMinute: 10, budgetUsdTotal: 1 };
    for (const [limits, call] of ONE_CALL) {
      const { admissions, admit, refusal } = gate();
      const occupant = admit({ ...principal({ gateway: limits }, "other"), project: "team-b" }, call);
      const who = principal({ key: inner, project: inner, gateway: limits });
      for (let time = 0; time < 3; time += 1) expect(refusal(who, call).message).toStartWith(SUBJECTS.gateway);
      for (const id of ["requestsPerMinute", "tokensPerMinute", "concurrent", "budgetUsdTotal"] as const) {
        expect(admissions.account("key", "key_1").inUse(id, START_MS, START_MS)).toBe(0);
      }
      // Without the outer limit, the inner ones are untouched.
      occupant.release({ costNanoUsd: 0, tokens: 0 });
      admit(principal({ key: inner }), call);
    }
  });

  test("x-ratelimit headers report the tightest level", () => {
    const { admit } = gate();
    const limits = { project: { requestsPerMinute: 3, tokensPerMinute: 90 }, gateway: { requestsPerMinute: 5 } };
    expect(
      rateHeadersOf(admit(principal({ key: { requestsPerMinute: 4 }, ...limits }), { estimatedTokens: 30 })),
    ).toEqual({
      "x-ratelimit-limit-requests": "3",
      "x-ratelimit-remaining-requests": "2",
      "x-ratelimit-reset-requests": "60s",
      "x-ratelimit-limit-tokens": "90",
      "x-ratelimit-remaining-tokens": "60",
      "x-ratelimit-reset-tokens": "60s",
    });
    const second = admit(principal({ key: { requestsPerMinute: 1 }, ...limits }, "key_2"));
    expect(rateHeadersOf(second)["x-ratelimit-limit-requests"]).toBe("1");
  });

  test("callers cannot see what the gateway as a whole has spent", () => {
    const { admit, refusal } = gate();
    admit(principal({}, "other")).release({ costNanoUsd: 123_000_000, tokens: 0 });
    const { message } = refusal(principal({ gateway: { budgetUsdPerDay: 0.2 } }), { estimatedCostNanoUsd: 1e9 });
    expect(message).not.toContain("0.123");
    expect(message).toContain("1 USD");
  });

  test("H25: a project budget that is added later counts what its keys spent before", () => {
    const { admissions, admit, refusal } = gate();
    admit(principal({}, "key_1")).release({ costNanoUsd: 3e8, tokens: 0 });
    admit(principal({ key: { concurrent: 3 } }, "key_2")).release({ costNanoUsd: 4e8, tokens: 0 });
    admissions.hold({ keyId: "key_3", project: "team-a" }, 0)(1e8, START_MS);
    const { message } = refusal(principal({ project: { budgetUsdPerDay: 0.8 } }));
    expect(message).toContain("0.8 USD spent");
  });

  test("H24: an operation's reservation counts at every level", () => {
    for (const level of WHOLE_LEVELS) {
      const { admissions, admit, refusal } = gate();
      const settle = admissions.hold({ keyId: "key_1", project: "team-a" }, 8e8);
      const who = principal({ [level]: { budgetUsdPerDay: 1 } });
      refusal(who, { estimatedCostNanoUsd: 3e8 });
      settle(1e8, START_MS);
      admit(who, { estimatedCostNanoUsd: 3e8 });
    }
  });
});

describe("levels: races (H23)", () => {
  const MANY = 2_000;
  const FEW = 500;

  /** A provider that answers later, in another order than it was called. */
  const later = async (index: number): Promise<void> => {
    for (let turn = 0; turn < 1 + ((index * 7) % 5); turn += 1) await Promise.resolve();
  };

  const LIMITS: readonly [string, Limits, Partial<CallEstimate>, { costNanoUsd: number; tokens: number }][] = [
    ["a budget", { budgetUsdTotal: 5 }, { estimatedCostNanoUsd: 1e7 }, { costNanoUsd: 1e7, tokens: 0 }],
    ["requests a minute", { requestsPerMinute: FEW }, {}, { costNanoUsd: 0, tokens: 0 }],
    ["tokens a minute", { tokensPerMinute: 50_000 }, { estimatedTokens: 100 }, { costNanoUsd: 0, tokens: 100 }],
  ];

  for (const level of WHOLE_LEVELS) {
    for (const [what, limits, call, actual] of LIMITS) {
      test(`${MANY} concurrent calls against ${what} for ${FEW} at the level of the ${level}: exactly ${FEW} are admitted`, async () => {
        const { admissions } = gate();
        const keys = level === "key" ? 1 : 7;
        let passed = 0;
        const one = async (index: number): Promise<void> => {
          await later(index);
          const entry = admissions.enter(principal({ [level]: limits }, `key_${index % keys}`));
          await later(index + 3);
          let admission: Admission;
          try {
            admission = entry.admit({ ...CALL, ...call });
          } catch (refusal) {
            entry.leave();
            throw refusal;
          }
          passed += 1;
          await later(index + 1);
          admission.release(actual);
        };
        const ends = await Promise.allSettled(Array.from({ length: MANY }, (_, index) => one(index)));
        expect(passed).toBe(FEW);
        const kinds = ends.flatMap((end) => (end.status === "rejected" ? [(end.reason as GatewayError).kind] : []));
        expect(new Set(kinds)).toEqual(new Set([what === "a budget" ? "budget_exhausted" : "rate_limited"]));
        expect(admissions.held).toEqual({ calls: 0, nanoUsd: 0 });
      });
    }

    test(`${MANY} concurrent calls, at most ${FEW} at the level of the ${level}: the limit holds, and all slots are released`, async () => {
      const { admissions } = gate();
      let running = 0;
      let most = 0;
      const one = async (index: number): Promise<void> => {
        await later(index);
        const entry = admissions.enter(
          principal({ [level]: { concurrent: FEW } }, level === "key" ? "key_0" : `key_${index}`),
        );
        running += 1;
        most = Math.max(most, running);
        const admission = entry.admit(CALL);
        await later(index + 2);
        running -= 1;
        admission.release({ costNanoUsd: 0, tokens: 0 });
      };
      await Promise.allSettled(Array.from({ length: MANY }, (_, index) => one(index)));
      expect(most).toBe(FEW);
      expect(admissions.held.calls).toBe(0);
    });
  }

  test("whatever calls start, end, extend or are refused: no level exceeds its limits, and in the end nothing is reserved", () => {
    const amount = fc.nat(40);
    const step = fc.record({ key: fc.nat(2), cost: amount, tokens: amount, extend: fc.boolean(), end: fc.boolean() });
    const limitsOf = fc.record({
      concurrent: fc.integer({ min: 1, max: 5 }),
      tokensPerMinute: fc.integer({ min: 20, max: 200 }),
      budgetUsdTotal: fc.integer({ min: 20, max: 200 }).map((nano) => nano / 1e9),
    });
    fc.assert(
      fc.property(limitsOf, limitsOf, limitsOf, fc.array(step, { maxLength: 60 }), (key, project, gateway, steps) => {
        const { admissions, admit } = gate();
        const running: { admission: Admission; cost: number; tokens: number }[] = [];
        const limits = { key, project, gateway };
        for (const { key: number, cost, tokens, extend, end } of steps) {
          if (end) {
            const ending = running.shift();
            ending?.admission.release({ costNanoUsd: ending.cost, tokens: ending.tokens });
          }
          try {
            const call = { estimatedCostNanoUsd: cost, estimatedTokens: tokens };
            const admission = admit(principal(limits, `key_${number}`), call);
            if (extend) admission.extend();
            running.push({ admission, cost, tokens });
          } catch (thrown) {
            if (!(thrown instanceof GatewayError)) throw thrown;
          }
          for (const account of admissions.accounts()) {
            const { level } = account;
            if (level !== "key" && level !== "project" && level !== "gateway") throw new Error(level);
            const used = (limit: LimitName) => account.inUse(limit, START_MS, START_MS);
            const allowed = limits[level];
            expect(used("concurrent")).toBeLessThanOrEqual(allowed.concurrent);
            expect(used("tokensPerMinute")).toBeLessThanOrEqual(allowed.tokensPerMinute);
            expect(used("budgetUsdTotal")).toBeLessThanOrEqual(Math.round(allowed.budgetUsdTotal * 1e9));
          }
        }
        for (const { admission, cost, tokens } of running) admission.release({ costNanoUsd: cost, tokens });
        expect(admissions.held).toEqual({ calls: 0, nanoUsd: 0 });
      }),
      { numRuns: 200 },
    );
  });
});

describe("levels: shares", () => {
  function shared(held: Partial<Record<LimitName, number>>) {
    const short: [LimitName, number][] = [];
    const share: Share = {
      held: (limit) => held[limit] ?? Number.POSITIVE_INFINITY,
      left: () => 0,
      short: (limit, needed) => short.push([limit, needed]),
      holdsAll: () => false,
      window: () => undefined,
    };
    return { short, ...gate({ shareOf: () => share }) };
  }

  test("a process uses no more than it holds, and announces what it lacks", () => {
    for (const [limits, call, name, held] of [
      [{ requestsPerMinute: 9 }, {}, "requestsPerMinute", 1],
      [{ concurrent: 9 }, {}, "concurrent", 1],
      [{ tokensPerMinute: 99 }, { estimatedTokens: 10 }, "tokensPerMinute", 19],
      [{ budgetUsdPerDay: 1 }, { estimatedCostNanoUsd: 1e8 }, "budgetUsdPerDay", 19e7],
    ] as const) {
      const { short, admit, refusal } = shared({ [name]: held });
      const who = principal({ key: limits });
      admit(who, call);
      const { retryAfterSeconds } = refusal(who, call);
      expect(retryAfterSeconds).toBeWithin(1, 3);
      expect(short.map(([limit]) => limit)).toEqual([name]);
    }
  });

  test("a call that the limit itself refuses requests no larger share", () => {
    const { short, admit, refusal } = shared({ requestsPerMinute: 1 });
    const who = principal({ key: { requestsPerMinute: 1 } });
    admit(who);
    refusal(who);
    expect(short).toEqual([]);
  });

  test("the share of a budget counts what this process has spent, not what the ledger held before", () => {
    const clock = { ms: START_MS };
    const share: Share = {
      held: () => 1e8,
      left: () => 1e8,
      short: () => {},
      holdsAll: () => false,
      window: () => undefined,
    };
    const admissions = new Admissions({
      nowMs: () => clock.ms,
      wallMs: () => clock.ms,
      spent: (_level, _id, window) => (window === "day" ? 5e8 : 7e8),
      shareOf: () => share,
    });
    const who = principal({ key: { budgetUsdPerDay: 1 } });
    const call = { ...CALL, estimatedCostNanoUsd: 1e8 };
    admissions.enter(who).admit(call).release({ costNanoUsd: 6e7, tokens: 0 });
    const account = admissions.account("key", "key_1");
    expect(account.inUse("budgetUsdPerDay", clock.ms, clock.ms)).toBe(6e7);
    expect(account.meter.spent("day", clock.ms)).toBe(5.6e8);
    expect(() => admissions.enter(who).admit(call)).toThrow(
      "a budget of 1 USD a day: at least 0.56 USD spent, and this call may cost up to 0.1 USD. Calls in flight may free some of it when they finish. It resets at 2026-02-01T00:00:00.000Z.",
    );
    admissions.enter(who).admit({ ...call, estimatedCostNanoUsd: 4e7 });
    expect(account.inUse("budgetUsdTotal", clock.ms, clock.ms)).toBe(1e8);
    // The next day starts with only the reservations.
    clock.ms += 86_400_000;
    expect(account.inUse("budgetUsdPerDay", clock.ms, clock.ms)).toBe(4e7);
    expect([...admissions.accounts()].map(({ level, id }) => `${level} ${id}`)).toEqual([
      "key key_1",
      "project team-a",
      `gateway ${GATEWAY_ID}`,
    ]);
  });
});

test("limits at three levels cost a call a few microseconds", () => {
  const { admissions } = gate();
  const limits: Limits = {
    requestsPerMinute: 1e9,
    tokensPerMinute: 1e12,
    concurrent: 1e6,
    budgetUsdPerDay: 1e6,
    budgetUsdPerMonth: 1e6,
    budgetUsdTotal: 1e6,
  };
  const who = principal({ key: limits, project: limits, gateway: limits });
  const run = (times: number) => {
    for (let index = 0; index < times; index += 1) {
      admissions
        .enter(who)
        .admit({ ...CALL, estimatedTokens: 10, estimatedCostNanoUsd: 10 })
        .release({ costNanoUsd: 1, tokens: 1 });
    }
  };
  run(20_000);
  const startedMs = cpuMs();
  run(50_000);
  const microseconds = (cpuMs() - startedMs) / 50;
  expect(microseconds).toBeLessThan(20);
});
