import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../canon/error.ts";
import { type Admission, Admissions, type CallEstimate } from "../admit.ts";
import { levelsOf } from "../level.ts";
import type { Principal } from "../principal.ts";
import { rateHeadersOf } from "../rate-headers.sample.ts";
import type { Use } from "../spend-meter.ts";
import type { EndUserStore, LoadedEndUser } from "./end-users.ts";
import { changePartLimits, type PartLimits, partLimitsView, partScopesOf, readPartLimits } from "./part-limits.ts";

// A Saturday.
const START_MS = Date.UTC(2026, 0, 31, 12);
const NOTHING: Use = { day: 0, week: 0, month: 0, quarter: 0, total: 0, requests: 0, tokens: 0 };
const DAY_MS = 86_400_000;

interface Scopes {
  key?: PartLimits;
  project?: PartLimits;
  gateway?: PartLimits;
}

function principal({ key, project, gateway }: Scopes, keyId = "key_1"): Principal {
  const ofProject = { id: "team-a", name: "Team A", limits: {}, partLimits: project };
  const parts = partScopesOf({ id: keyId, name: keyId, partLimits: key }, { project: ofProject, gateway });
  return {
    keyId,
    keyName: keyId,
    project: "team-a",
    models: ["*"],
    limits: {},
    levels: levelsOf({ id: keyId, name: keyId, limits: {} }, { project: ofProject, gateway: {} }),
    ...(parts && { parts }),
  };
}

const CALL: CallEstimate = { model: "acme/llama", dialect: "chat", estimatedCostNanoUsd: 0, estimatedTokens: 0 };

/** What the storage knows, and how often it was read. */
class Stored implements EndUserStore {
  reads = 0;
  users = new Map<string, Partial<LoadedEndUser>>();
  isAway = false;
  waitingMs = 0;
  oldestMs = () => this.waitingMs;

  async read(wanted: Parameters<EndUserStore["read"]>[0]): Promise<LoadedEndUser[]> {
    this.reads++;
    await Promise.resolve();
    if (this.isAway) throw new Error("away");
    return wanted.map(({ user }) => ({ spent: NOTHING, own: NOTHING, limits: undefined, ...this.users.get(user) }));
  }
}

function gate(maxHeld?: number) {
  const clock = { ms: START_MS };
  const store = new Stored();
  const admissions = new Admissions({
    nowMs: () => clock.ms,
    wallMs: () => clock.ms,
    spent: () => 0,
    endUsers: { store, ...(maxHeld !== undefined && { maxHeld }) },
  });
  const admit = async (who: Principal, call: Partial<CallEstimate> = {}): Promise<Admission> => {
    const entry = admissions.enter(who);
    try {
      return await entry.admitShared({ ...CALL, ...call });
    } catch (refusal) {
      entry.leave();
      throw refusal;
    }
  };
  const refusal = async (who: Principal, call: Partial<CallEstimate> = {}): Promise<GatewayError> => {
    const thrown = await admit(who, call).then(
      () => new Error("the call was admitted"),
      (error: unknown) => error,
    );
    if (thrown instanceof GatewayError) return thrown;
    throw thrown;
  };
  const used = (costNanoUsd: number, tokens = 0, model = CALL.model) => ({
    costNanoUsd,
    tokens,
    counted: { tokens, calls: 1, model },
  });
  return { clock, store, admissions, admit, refusal, used };
}

describe("choices 9: limits of end users, models and tags", () => {
  test("each end user has the same limits, and one does not use up those of another", async () => {
    const { admit, refusal } = gate();
    const who = principal({ key: { endUsers: { limits: { requestsPerMinute: 2, concurrent: 9 } } } });
    for (const endUser of ["ann", "bob", "ann", "bob"]) await admit(who, { endUser });
    const error = await refusal(who, { endUser: "ann" });
    expect([error.kind, error.message]).toEqual([
      "rate_limited",
      'The end user "ann" (key "key_1") has reached its limit of 2 requests a minute. Try again in 60 s.',
    ]);
    // A call without an end user has none of its limits.
    for (let call = 0; call < 5; call++) await admit(who);
  });

  test("the calls of all models that match a pattern count together, and other models do not", async () => {
    const { admit, refusal, used } = gate();
    const limits = { "openai/gpt-*": { budgetUsdPerDay: 1e-9 * 10 }, "openai/*": { requestsPerDay: 3 } };
    const who = principal({ project: { byModel: limits } });
    const call = { model: "openai/gpt-5", estimatedCostNanoUsd: 6 };
    (await admit(who, call)).release(used(6, 0, "openai/gpt-5"));
    const spent = await refusal(who, { ...call, model: "openai/gpt-5-mini" });
    expect(spent.kind).toBe("budget_exhausted");
    expect(spent.message).toStartWith('The model openai/gpt-* (project "Team A") has a budget of 1e-8 USD a day');
    await admit(who, { model: "openai/o4" });
    await admit(who, { model: "openai/o4" });
    const third = await refusal(who, { model: "openai/o4" });
    expect(third.message).toStartWith(
      'The model openai/* (project "Team A") has reached its limit of 3 requests a day',
    );
  });

  test("the calls with a tag count together, in every key of the gateway", async () => {
    const { admit, refusal } = gate();
    const gateway = { byTag: { "team:*": { concurrent: 2 } } };
    const first = await admit(principal({ gateway }, "key_1"), { tags: ["team:a", "team:b"] });
    await admit(principal({ gateway }, "key_2"), { tags: ["team:b"] });
    const error = await refusal(principal({ gateway }, "key_3"), { tags: ["x", "team:c"] });
    expect(error.message).toBe(
      "The tag team:* has 2 calls in flight; its limit is 2 concurrent calls. Try again in 1 s.",
    );
    first.release({ costNanoUsd: 0, tokens: 0 });
    await admit(principal({ gateway }, "key_3"), { tags: ["team:c"] });
  });

  test("H23: calls in flight cannot use the same remainder of a day together, and a call that ends gives back", async () => {
    const { admit, refusal, used } = gate();
    const who = principal({ key: { endUsers: { limits: { tokensPerDay: 100, requestsPerDay: 9 } } } });
    const call = { endUser: "ann", estimatedTokens: 60 };
    const one = await admit(who, call);
    const error = await refusal(who, call);
    expect([error.kind, error.retryAfterSeconds]).toEqual(["rate_limited", 2]);
    one.release(used(0, 30));
    const two = await admit(who, call);
    two.release(used(0, 60));
    const over = await refusal(who, call);
    expect(over.message).toContain("limit of 100 tokens a day: about 90 are used, and this call may need 60");
    // Until midnight in UTC.
    expect(over.retryAfterSeconds).toBe(12 * 3600);
  });

  test("a response of unknown length does not block a call that asks for no more than the limit", async () => {
    const { admit } = gate();
    const who = principal({ key: { endUsers: { limits: { tokensPerDay: 100, tokensPerMinute: 100 } } } });
    await admit(who, { endUser: "ann", estimatedTokens: 5_000, leastTokens: 20 });
  });

  test("weeks begin on Monday, quarters in January, April, July and October, in UTC", async () => {
    const { clock, store, admit, refusal, used } = gate();
    // Nothing is stored, so it stays in memory.
    store.waitingMs = Number.POSITIVE_INFINITY;
    const budget = { budgetUsdPerWeek: 1, budgetUsdPerQuarter: 1.5 };
    const who = principal({ key: { endUsers: { limits: budget } } });
    const call = { endUser: "ann", estimatedCostNanoUsd: 1e9 };
    (await admit(who, call)).release(used(1e9));
    const week = await refusal(who, call);
    expect(week.message).toContain("USD a week");
    expect(week.message).toContain("It resets at 2026-02-02T00:00:00.000Z");
    clock.ms = Date.UTC(2026, 1, 2);
    const quarter = await refusal(who, call);
    expect(quarter.message).toContain("USD a quarter");
    expect(quarter.message).toContain("It resets at 2026-04-01T00:00:00.000Z");
    clock.ms = Date.UTC(2026, 3, 1);
    await admit(who, call);
  });

  test("the headers show the tightest limit, of a minute or of a day", async () => {
    const { admit } = gate();
    const who = principal({ key: { endUsers: { limits: { requestsPerMinute: 50, requestsPerDay: 5 } } } });
    await admit(who, { endUser: "ann" });
    const headers = rateHeadersOf(await admit(who, { endUser: "ann" }));
    expect(headers["x-ratelimit-limit-requests"]).toBe("5");
    expect(headers["x-ratelimit-remaining-requests"]).toBe("3");
    expect(headers["x-ratelimit-reset-requests"]).toBe(`${12 * 3600}s`);
  });

  test("if another model answers than the call was admitted for, the limits of that model count it", async () => {
    const { admit, refusal, used } = gate();
    const byModel = { "acme/a": { budgetUsdTotal: 1 }, "acme/b": { budgetUsdTotal: 1 } };
    const who = principal({ key: { byModel } });
    (await admit(who, { model: "acme/a", estimatedCostNanoUsd: 1e9 })).release(used(1e9, 0, "acme/b"));
    await refusal(who, { model: "acme/b", estimatedCostNanoUsd: 1 });
    await admit(who, { model: "acme/a", estimatedCostNanoUsd: 1e9 });
  });

  test("S05: a child key's calls count in the limits of its parent's end users", async () => {
    const { admit, refusal } = gate();
    const endUsers = { limits: { requestsPerMinute: 1 } };
    const maker = principal({ key: { endUsers } }, "key_0");
    const child = principal({}, "key_1");
    const parts = partScopesOf({ id: "key_1", name: "key_1" }, { maker, gateway: undefined });
    const who = { ...child, maker, ...(parts && { parts }) };
    await admit(who, { endUser: "ann" });
    const error = await refusal(maker, { endUser: "ann" });
    expect(error.message).toContain('The end user "ann" (key "key_0")');
  });
});

describe("choices 9: the state of end users comes from the storage", () => {
  const limits = { budgetUsdTotal: 1 };
  const who = principal({ key: { endUsers: { limits } } });
  const call = { endUser: "ann", estimatedCostNanoUsd: 1e8 };
  const spent = { ...NOTHING, total: 0.95e9 };

  test("an idle end user leaves memory when its receipts are stored, and comes back with what it has used", async () => {
    const { clock, store, admissions, admit, refusal, used } = gate();
    store.users.set("ann", { spent: { ...NOTHING, total: 0.5e9 } });
    (await admit(who, call)).release(used(0.45e9));
    expect([store.reads, admissions.endUsers.size]).toEqual([1, 1]);
    await refusal(who, call);
    expect(store.reads).toBe(1);
    clock.ms += 3_600_000;
    // A receipt is still waiting to be stored.
    store.waitingMs = 3_600_000;
    admissions.enter(who).leave();
    expect(admissions.endUsers.size).toBe(1);
    store.waitingMs = 0;
    clock.ms += 2_000;
    admissions.enter(who).leave();
    expect(admissions.endUsers.size).toBe(0);
    store.users.set("ann", { spent });
    await refusal(who, call);
    expect(store.reads).toBe(2);
  });

  test("calls of one end user that arrive together read its state once, and many end users share a read", async () => {
    const { store, admit } = gate();
    store.users.set("ann", { spent: { ...NOTHING, total: 0.75e9 } });
    const results = await Promise.allSettled([
      ...Array.from({ length: 20 }, () => admit(who, call)),
      ...Array.from({ length: 50 }, (_, at) => admit(who, { ...call, endUser: `other-${at}` })),
    ]);
    expect(results.slice(0, 20).filter(({ status }) => status === "fulfilled").length).toBe(2);
    expect(results.slice(20).every(({ status }) => status === "fulfilled")).toBe(true);
    expect(store.reads).toBeLessThanOrEqual(2);
  });

  test("S17: a client that invents an end user for each call fills neither the memory nor the room of others", async () => {
    const { clock, admissions, admit, refusal, used } = gate(100);
    const minute = principal({ key: { endUsers: { limits: { requestsPerMinute: 5 } } } }, "key_9");
    let admitted = 0;
    for (let at = 0; at < 500; at++) {
      const admission = await admit(minute, { endUser: `invented-${at}` }).catch(() => undefined);
      admission?.release(used(0));
      if (admission !== undefined) admitted++;
    }
    expect(admitted).toBe(80);
    const error = await refusal(minute, { endUser: "one-more" });
    expect([error.kind, error.message]).toEqual([
      "rate_limited",
      'The key "key_9" has more different end users at once than the gateway can keep. Try again in 1 s.',
    ]);
    // Another key finds room.
    await admit(who, call);
    // And so does this one once nothing of the last minute counts.
    clock.ms += 70_000;
    await admit(minute, { endUser: "one-more" });
    expect(admissions.endUsers.size).toBeLessThanOrEqual(100);
  });

  test("H29: if the storage does not answer, end users in memory are served, and others are refused unless nothing stored limits them", async () => {
    const { clock, store, admit, refusal } = gate();
    await admit(who, call);
    store.isAway = true;
    await admit(who, call);
    const error = await refusal(who, { ...call, endUser: "bob" });
    expect([error.kind, error.retryAfterSeconds]).toEqual(["overloaded", 5]);
    const reads = store.reads;
    await refusal(who, { ...call, endUser: "carl" });
    expect(store.reads).toBe(reads);
    await admit(principal({ key: { endUsers: { limits: { requestsPerMinute: 1 } } } }, "key_2"), { endUser: "bob" });
    store.isAway = false;
    clock.ms += 1_500;
    await admit(who, { ...call, endUser: "bob" });
  });

  test("an end user's own limits replace the defaults as soon as they change", async () => {
    const { store, admissions, admit, refusal } = gate();
    await admit(who, call);
    store.users.set("ann", { limits: { budgetUsdTotal: 0, requestsPerMinute: 7 } });
    admissions.endUsers.changed([{ level: "key", id: "key_1", user: "ann" }]);
    expect((await refusal(who, call)).message).toContain("budget of 0 USD");
    await admit(who, { ...call, endUser: "bob" });
    store.users.set("ann", { limits: { budgetUsdTotal: null } });
    admissions.endUsers.changed();
    for (let at = 0; at < 30; at++) await admit(who, call);
  });

  test("work that outlasts its call holds its end user's money, also after a restart", async () => {
    const { admissions, admit, refusal, store } = gate();
    const owner = { keyId: "key_1", project: "team-a", call: { principal: who, model: "m", endUser: "ann" } };
    const release = admissions.hold(owner, 0.95e9);
    await refusal(who, call);
    release(0.1e9, START_MS, 0, 1);
    await admit(who, call);
    expect(admissions.endUsers.bound(who.parts?.[0] ?? never(), "ann")?.account.meter.spent("total", START_MS)).toBe(
      1e8,
    );
    expect(store.reads).toBe(1);
  });

  test("a limited key without such limits looks nothing up", async () => {
    const { admissions, store, admit } = gate();
    await admit(principal({}), { endUser: "ann" });
    expect([admissions.endUsers.size, store.reads]).toEqual([0, 0]);
  });
});

const never = (): never => {
  throw new Error("it has one");
};

describe("the settings", () => {
  test("are read from files and shown as they were written", () => {
    const given = {
      end_users: { limits: { requests_per_day: 5, budget_usd_per_quarter: 1 }, required: true },
      limits_by_model: { "openai/gpt-*": { budget_usd_per_week: 2 } },
      limits_by_tag: { "team:a": { concurrent: 1 } },
    };
    expect(partLimitsView(readPartLimits(given))).toEqual(given);
    expect(readPartLimits({})).toBeUndefined();
  });

  test("a change leaves what it does not name, and null removes", () => {
    const before = readPartLimits({
      end_users: { limits: { concurrent: 1, tokens_per_day: 2 } },
      limits_by_model: { "a/b": { concurrent: 1 }, "a/c": { concurrent: 1 } },
    });
    const after = changePartLimits(before, {
      end_users: { limits: { concurrent: null } },
      limits_by_model: { "a/b": null, "a/c": { requests_per_day: 3 } },
    });
    expect(partLimitsView(after)).toEqual({
      end_users: { limits: { tokens_per_day: 2 }, required: false },
      limits_by_model: { "a/c": { concurrent: 1, requests_per_day: 3 } },
      limits_by_tag: {},
    });
    expect(changePartLimits(after, { end_users: null, limits_by_model: null })).toBeUndefined();
  });

  test.each([
    [{ end_users: { limits: { sessions: 1 } } }, "end_users.limits.sessions is not possible"],
    [{ limits_by_model: { "a b": { concurrent: 1 } } }, 'limits_by_model has "a b"'],
    [{ limits_by_tag: { "team a": { concurrent: 1 } } }, 'limits_by_tag has "team a"'],
    [{ limits_by_tag: { a: { requests: 1 } } }, 'limits_by_tag["a"].requests is not a limit'],
  ])("H25: what cannot be enforced is refused: %j", (given, message) => {
    expect(() => readPartLimits(given)).toThrow(message);
  });

  test("days, weeks and quarters of the clock match those of the receipts (H30)", async () => {
    const { clock, store, admit, refusal, used } = gate();
    store.waitingMs = Number.POSITIVE_INFINITY;
    const who = principal({ key: { endUsers: { limits: { requestsPerDay: 1 } } } });
    (await admit(who, { endUser: "ann" })).release(used(0));
    await refusal(who, { endUser: "ann" });
    clock.ms += DAY_MS;
    (await admit(who, { endUser: "ann" })).release(used(0));
    clock.ms -= DAY_MS;
    await refusal(who, { endUser: "ann" });
  });
});
