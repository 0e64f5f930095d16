import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { VirtualClock } from "../../../testing/virtual-clock.ts";
import { GatewayError } from "../../canon/error.ts";
import type { LeaseSource } from "../../leases/lease-source.ts";
import { LeaseTable } from "../../leases/lease-table.ts";
import { Leases } from "../../leases/leases.ts";
import { type Admission, Admissions, type CallEstimate, type Reservation } from "../admit.ts";
import { levelsOf } from "../level.ts";
import type { LimitName, Limits } from "../limits.ts";
import { type PartLimits, partScopesOf, patternLevels } from "../parts/part-limits.ts";
import type { Principal } from "../principal.ts";
import { SharedLimits } from "../shared-limits.ts";
import { mostOf, type OfferUse } from "./use-at-offers.ts";

const MODELS = ["a/one", "a/two", "b/three"] as const;
const NAMES: readonly LimitName[] = ["concurrent", "requestsPerMinute", "tokensPerMinute", "budgetUsdTotal"];

function principalOf(byModel: NonNullable<PartLimits["byModel"]>, limits: Limits = {}): Principal {
  const one = { id: "key_1", name: "ci", limits, partLimits: { byModel } };
  const project = { id: "default", name: "default", limits: {} };
  const parts = partScopesOf(one, { project, gateway: undefined });
  const levels = levelsOf(one, { project, gateway: {} });
  return { keyId: "key_1", keyName: "ci", project: "default", models: ["*"], limits, levels, ...(parts && { parts }) };
}

const useOf = (model: string, cost: number, tokens = 0, provider = "p") => ({
  model,
  provider,
  estimatedCostNanoUsd: cost,
  estimatedTokens: tokens,
});
const callOf = (...offers: readonly OfferUse[]): CallEstimate => ({
  ...mostOf(offers),
  model: offers[0]?.model ?? "",
  dialect: "chat",
  offers,
});
const targetOf = ({ model, provider = "p" }: Pick<OfferUse, "model" | "provider">) => ({
  model: { id: model },
  offer: { provider },
});
const usedBy = (model: string, costNanoUsd: number, tokens = 0) => ({
  costNanoUsd,
  tokens,
  counted: { tokens, calls: 1, model },
});

function gate() {
  const clock = { ms: Date.UTC(2026, 0, 5) };
  const admissions = new Admissions({ nowMs: () => clock.ms, wallMs: () => clock.ms, spent: () => 0 });
  const admit = (who: Principal, call: CallEstimate): Admission => {
    const entry = admissions.enter(who);
    try {
      return entry.admit(call);
    } catch (refusal) {
      entry.leave();
      throw refusal;
    }
  };
  const reserved = (pattern: string) =>
    [...admissions.accounts()].find(({ level, id }) => level === "model" && id.includes(pattern))?.meter.reserved;
  return { clock, admissions, admit, reserved };
}

describe("H58: what a call holds of the limits of models", () => {
  const LIMITS = { "a/one": { budgetUsdTotal: 1 }, "b/*": { budgetUsdTotal: 1 } };
  const CHEAP = useOf("a/one", 1e8);
  const DEAR = useOf("b/three", 4e8);

  test("every model has what it may use there, and everything else the most of any, until a request is sent", () => {
    const { admissions, admit, reserved } = gate();
    const call = admit(principalOf(LIMITS, { budgetUsdTotal: 1 }), callOf(CHEAP, DEAR));
    expect([reserved("a/one"), reserved("b/*"), admissions.held.nanoUsd]).toEqual([1e8, 4e8, 4e8]);
    expect(call.begin(targetOf(CHEAP))).toBeUndefined();
    expect([reserved("a/one"), reserved("b/*"), admissions.held.nanoUsd]).toEqual([1e8, 0, 1e8]);
    expect(call.begin(targetOf(DEAR))).toBeUndefined();
    expect([reserved("a/one"), reserved("b/*"), admissions.held.nanoUsd]).toEqual([0, 4e8, 4e8]);
    call.release(usedBy("b/three", 3e8));
    expect([reserved("a/one"), reserved("b/*"), admissions.held.nanoUsd]).toEqual([0, 0, 0]);
  });

  test("an offer that others have used up meanwhile is refused, and the next one may be called", () => {
    const { admissions, admit } = gate();
    const who = principalOf(LIMITS, { budgetUsdTotal: 1 });
    const call = admit(who, callOf(CHEAP, DEAR, { ...CHEAP, provider: "q" }));
    expect(call.begin(targetOf(CHEAP))).toBeUndefined();
    const other = admit(who, callOf(useOf("b/three", 8e8)));
    const refusal = call.begin(targetOf(DEAR));
    expect(refusal).toBeInstanceOf(GatewayError);
    expect(call.refusalOf(targetOf(DEAR))).toBe(refusal as GatewayError);
    expect(call.begin(targetOf({ ...CHEAP, provider: "q" }))).toBeUndefined();
    call.release(usedBy("a/one", 1e8));
    other.release(usedBy("b/three", 8e8));
    expect(admissions.held).toEqual({ calls: 0, nanoUsd: 0 });
  });

  test("if two requests are paid, each of their models holds both: either may be in the receipt", () => {
    const { admit, reserved } = gate();
    const call = admit(principalOf(LIMITS), callOf(CHEAP, DEAR));
    void call.begin(targetOf(CHEAP));
    const second = call.extend();
    void second?.begin(targetOf(DEAR));
    expect([reserved("a/one"), reserved("b/*")]).toEqual([5e8, 5e8]);
    call.release(usedBy("b/three", 5e8));
    expect([reserved("a/one"), reserved("b/*")]).toEqual([0, 0]);
  });

  test("an offer that nobody expected holds as much as any that was, at its own model", () => {
    const { admit, reserved } = gate();
    const call = admit(principalOf(LIMITS), callOf(CHEAP, useOf("c/none", 2e8)));
    expect(call.begin(targetOf(useOf("b/other", 0)))).toBeUndefined();
    expect([reserved("a/one"), reserved("b/*")]).toEqual([0, 2e8]);
  });

  test("work for a call counts in full at the limits of other models than that of its cause", () => {
    const { admissions, admit } = gate();
    const who = principalOf({ "a/one": { requestsPerMinute: 1 }, "b/*": { requestsPerMinute: 1, concurrent: 1 } });
    const cause = admit(who, callOf(CHEAP));
    void cause.begin(targetOf(CHEAP));
    const work = (use: OfferUse) => admissions.enterWork(who, cause).admit(callOf(use));
    const first = work(DEAR);
    expect(() => work(DEAR)).toThrow("The model b/*");
    first.release(usedBy("b/three", 1));
    expect(() => work(DEAR)).toThrow("limit of 1 requests a minute");
    expect(() => work(CHEAP)).not.toThrow();
  });

  test("whatever calls begin, move on, extend or end: no limit is exceeded, and in the end nothing is reserved", () => {
    const limitsOf = fc.record({
      concurrent: fc.integer({ min: 1, max: 4 }),
      requestsPerMinute: fc.integer({ min: 1, max: 12 }),
      tokensPerMinute: fc.integer({ min: 20, max: 120 }),
      budgetUsdTotal: fc.integer({ min: 20, max: 150 }).map((nano) => nano / 1e9),
    });
    const offer = fc.record({ model: fc.constantFrom(...MODELS), cost: fc.nat(30), tokens: fc.nat(30) });
    const step = fc.record({
      what: fc.constantFrom("admit", "admit", "begin", "begin", "extend", "end"),
      offers: fc.array(offer, { minLength: 1, maxLength: 4 }),
      at: fc.nat(9),
    });
    const all = fc.tuple(limitsOf, limitsOf, limitsOf, fc.array(step, { maxLength: 80 }));
    fc.assert(
      fc.property(all, ([key, ofA, ofB, steps]) => {
        const { admissions, admit } = gate();
        const byModel = { "a/*": ofA, "b/*": ofB };
        const who = principalOf(byModel, key);
        interface Running {
          admission: Admission;
          uses: readonly OfferUse[];
          requests: { reservation: Reservation; sent: OfferUse | undefined }[];
        }
        const running: Running[] = [];
        const end = (one: Running | undefined) => {
          if (one === undefined) return;
          const sent = one.requests.flatMap((request) => request.sent ?? []);
          const cost = sent.reduce((sum, use) => sum + use.estimatedCostNanoUsd, 0);
          const tokens = sent.reduce((sum, use) => sum + use.estimatedTokens, 0);
          one.admission.release(usedBy(sent.at(-1)?.model ?? one.uses[0]?.model ?? "", cost, tokens));
        };
        for (const { what, offers, at } of steps) {
          const one = running[at % Math.max(1, running.length)];
          if (what === "admit") {
            const uses = offers.map(({ model, cost, tokens }, index) => useOf(model, cost, tokens, `p${index}`));
            try {
              const admission = admit(who, callOf(...uses));
              running.push({ admission, uses, requests: [{ reservation: admission.latest, sent: undefined }] });
            } catch (thrown) {
              if (!(thrown instanceof GatewayError)) throw thrown;
            }
          } else if (what === "begin") {
            const request = one?.requests[at % one.requests.length];
            const use = one?.uses[at % one.uses.length];
            if (request === undefined || use === undefined) continue;
            const refusal = request.reservation.begin(targetOf(use));
            if (refusal instanceof Promise) throw new Error("one process never waits");
            request.sent = refusal === undefined ? use : undefined;
          } else if (what === "extend") {
            const reservation = one?.admission.extend();
            if (reservation !== undefined) one?.requests.push({ reservation, sent: undefined });
          } else end(running.splice(at % Math.max(1, running.length), 1)[0]);
          for (const account of admissions.accounts()) {
            const { level, id } = account;
            const allowed: Limits = level === "key" ? key : level !== "model" ? {} : id.includes("a/*") ? ofA : ofB;
            for (const name of NAMES) {
              const limit = allowed[name] ?? Number.POSITIVE_INFINITY;
              const most = name === "budgetUsdTotal" ? Math.round(limit * 1e9) : limit;
              expect(account.inUse(name, Date.UTC(2026, 0, 5), Date.UTC(2026, 0, 5))).toBeLessThanOrEqual(most);
            }
          }
        }
        for (const one of running) end(one);
        for (const { meter, inFlight } of admissions.accounts())
          expect([meter.reserved, meter.reservedRequests, meter.reservedTokens, inFlight]).toEqual([0, 0, 0, 0]);
      }),
      { numRuns: 400 },
    );
  });
});

/** Processes that lease from one table. */
async function processes(count: number, byModel: NonNullable<PartLimits["byModel"]>) {
  const clock = new VirtualClock();
  const sources = new Map<string, LeaseSource>();
  const table = new LeaseTable({
    leaseMs: 10_000,
    nowMs: clock.nowMs,
    epoch: () => "one",
    onWanted: (instance) => clock.after(1, () => sources.get(instance)?.onWanted?.()),
  });
  const who = principalOf(byModel);
  const made = Array.from({ length: count }, (_, at) => {
    const instance = `instance_${at}`;
    const source: LeaseSource = {
      sync: async (sync) => {
        await clock.sleep(1);
        return table.sync(structuredClone(sync));
      },
      close: async () => {},
    };
    sources.set(instance, source);
    const spent = { ofWindows: async () => new Map(), ofDead: async () => new Map() };
    const leases = new Leases({ source, clock, instance, leaseMs: 10_000, isFirst: at === 0, spent });
    const shared = new SharedLimits({ leases, clock });
    const admissions = new Admissions({ ...clock, spent: () => 0, shareOf: shared.shareOf });
    const levels = (who.parts ?? []).flatMap((scope) => patternLevels(scope, "model"));
    for (const { level, id } of levels) admissions.account(level, id);
    shared.track(levels, admissions);
    return { leases, admissions };
  });
  for (const { leases } of made) await clock.until(leases.start());
  const admit = async (at: number, call: CallEstimate): Promise<Admission | undefined> => {
    const entry = made[at % count]?.admissions.enter(who);
    try {
      return await entry?.admitShared(call);
    } catch (refusal) {
      if (!(refusal instanceof GatewayError)) throw refusal;
      entry?.leave();
      return undefined;
    }
  };
  return { clock, admit };
}

describe("H58: limits of models that several processes share", () => {
  const ONE = useOf("a/one", 100);
  const OTHER = useOf("b/three", 100);

  test("a call gets the model that it prefers if another process can give its share", async () => {
    const { clock, admit } = await processes(3, { "a/*": { budgetUsdTotal: 9e-7 }, "b/*": { budgetUsdTotal: 9e-6 } });
    for (let index = 0; index < 9; index++) {
      const call = await clock.until(admit(Math.floor(index / 3), callOf(ONE, OTHER)));
      expect(call?.refusalOf(targetOf(ONE))).toBeUndefined();
      expect(await call?.begin(targetOf(ONE))).toBeUndefined();
      call?.release(usedBy("a/one", 100));
      await clock.pass(5);
    }
    const last = await clock.until(admit(0, callOf(ONE, OTHER)));
    expect((await clock.until(Promise.resolve(last?.begin(targetOf(ONE)))))?.kind).toBe("budget_exhausted");
    expect(await last?.begin(targetOf(OTHER))).toBeUndefined();
  });

  test("calls that fall back at once, at three processes, do not exceed the limit of the fallback", async () => {
    const { clock, admit } = await processes(3, { "b/*": { budgetUsdTotal: 5e-7 } });
    let spent = 0;
    const call = async (at: number) => {
      const admission = await admit(at, callOf(ONE, OTHER));
      if (admission === undefined) return;
      await admission.begin(targetOf(ONE));
      await clock.sleep(20);
      const fellBack = (await admission.begin(targetOf(OTHER))) === undefined;
      await clock.sleep(20);
      if (fellBack) spent += 100;
      admission.release(usedBy(fellBack ? "b/three" : "a/one", fellBack ? 100 : 0));
    };
    await clock.until(Promise.all(Array.from({ length: 30 }, (_, at) => call(at))));
    expect(spent).toBe(500);
  });
});
