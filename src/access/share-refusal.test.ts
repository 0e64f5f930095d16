import { describe, expect, test } from "bun:test";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import type { LeaseSource } from "../leases/lease-source.ts";
import { LeaseTable } from "../leases/lease-table.ts";
import { Leases } from "../leases/leases.ts";
import { type Admission, Admissions, type CallEstimate } from "./admit.ts";
import { levelsOf } from "./level.ts";
import type { Limits } from "./limits.ts";
import type { Principal } from "./principal.ts";
import { rateHeadersOf } from "./rate-headers.sample.ts";
import { whenShared } from "./share-refusal.ts";
import { SharedLimits } from "./shared-limits.ts";

const CALL: CallEstimate = { model: "m", dialect: "chat", estimatedCostNanoUsd: 0, estimatedTokens: 0 };
const NOTHING = { costNanoUsd: 0, tokens: 0 };

function principalOf(limits: Limits): Principal {
  const one = { keyId: "key_1", keyName: "ci", project: "default", models: ["*"], limits };
  const project = { id: "default", name: "default", limits: {} };
  return { ...one, levels: levelsOf({ id: "key_1", name: "ci", limits }, { project, gateway: {} }) };
}

/** Processes that lease from one table. If it cannot notify them at once, they poll it five times a second. */
async function processes(count: number, limits: Limits, { tells = true } = {}) {
  const clock = new VirtualClock();
  const sources = new Map<string, LeaseSource>();
  let isAway = false;
  const table = new LeaseTable({
    leaseMs: 10_000,
    nowMs: clock.nowMs,
    epoch: () => "one",
    onWanted: (instance) => tells && clock.after(1, () => sources.get(instance)?.onWanted?.()),
  });
  const principal = principalOf(limits);
  const made = Array.from({ length: count }, (_, at) => {
    const instance = `instance_${at}`;
    const source: LeaseSource = {
      sync: async (sync) => {
        await clock.sleep(1);
        if (isAway) throw new Error("away");
        return table.sync(structuredClone(sync));
      },
      close: async () => {},
    };
    sources.set(instance, source);
    const spent = { ofWindows: async () => new Map(), ofDead: async () => new Map() };
    const leases = new Leases({ source, clock, instance, leaseMs: 10_000, isFirst: at === 0, spent });
    const shared = new SharedLimits({ leases, clock });
    const admissions = new Admissions({ ...clock, spent: () => 0, shareOf: shared.shareOf });
    shared.track(principal.levels, admissions);
    return { leases, admissions };
  });
  for (const { leases } of made) await clock.until(leases.start());
  /** Enters and is admitted like a request; reports how long it waited. */
  const admit = async (
    at: number,
    call: Partial<CallEstimate> = {},
  ): Promise<{ waitedMs: number; admission: Admission }> => {
    const { admissions } = made[at] ?? { admissions: undefined };
    if (admissions === undefined) throw new Error("no such process");
    const beganMs = clock.nowMs();
    const enter = () => admissions.enter(principal);
    const entry = await (async () => enter())().catch((refusal) => whenShared(refusal, enter, clock.nowMs));
    const admission = await entry.admitShared({ ...CALL, ...call });
    return { waitedMs: clock.nowMs() - beganMs, admission };
  };
  const goAway = () => {
    isAway = true;
  };
  return { clock, admit, goAway };
}

/** Not `rejects`: it runs the event loop within a turn, and hangs if another `setImmediate` of that turn is due. */
const refusalOf = (admitting: Promise<unknown>): Promise<string> =>
  admitting.then(
    () => "admitted",
    (refusal: unknown) => String(refusal),
  );

describe("H23, choices 9: a call that finds no share here waits a moment for one", () => {
  for (const [tells, withinMs] of [
    [true, 60],
    [false, 400],
  ] as const) {
    const how = tells ? "notified at once" : "polled";
    for (const [what, limits, call] of [
      ["concurrent calls", { concurrent: 1 }, {}],
      ["requests a minute", { requestsPerMinute: 30 }, {}],
      ["tokens a minute", { tokensPerMinute: 300 }, { estimatedTokens: 10 }],
      ["money", { budgetUsdTotal: 0.003 }, { estimatedCostNanoUsd: 100_000 }],
    ] as const) {
      test(`${what}, ${how}: a call that fits the limit is admitted at any of three processes`, async () => {
        const { clock, admit } = await processes(3, limits, { tells });
        let longestMs = 0;
        // As unevenly as possible: ten at each of them in turn.
        for (let index = 0; index < 30; index += 1) {
          const { waitedMs, admission } = await clock.until(admit(Math.floor(index / 10), call));
          longestMs = Math.max(longestMs, waitedMs);
          admission.release({ costNanoUsd: 100_000, tokens: 10 });
          await clock.pass(5);
        }
        expect(longestMs).toBeLessThanOrEqual(withinMs);
      });
    }
  }

  test("a call beyond the limit is refused after half a second, and the next ones at once", async () => {
    const { clock, admit } = await processes(2, { concurrent: 2 });
    const held = [await clock.until(admit(0)), await clock.until(admit(1))];
    const beganMs = clock.nowMs();
    expect(await clock.until(refusalOf(admit(0)))).toContain("is limited to 2 concurrent calls");
    expect(clock.nowMs() - beganMs).toBe(500);
    expect(await clock.until(refusalOf(admit(0)))).toContain("is limited to 2 concurrent calls");
    expect(clock.nowMs() - beganMs).toBe(500);
    for (const { admission } of held) admission.release(NOTHING);
    await clock.pass(1_500);
    for (const at of [0, 0]) await clock.until(admit(at));
    expect(await clock.until(refusalOf(admit(1)))).toContain("is limited to 2 concurrent calls");
  });

  test("it is admitted when a call ends at another process in the meantime", async () => {
    const { clock, admit } = await processes(2, { concurrent: 2 });
    await clock.until(admit(0));
    const { admission } = await clock.until(admit(1));
    clock.after(200, () => admission.release(NOTHING));
    const { waitedMs } = await clock.until(admit(0));
    expect(waitedMs).toBeWithin(200, 450);
  });

  test("S17: at most a thousand calls wait, and none while the source is unavailable", async () => {
    const { clock, admit, goAway } = await processes(2, { concurrent: 4 });
    for (const at of [0, 0, 1, 1]) await clock.until(admit(at));
    const waited: number[] = [];
    const beganMs = clock.nowMs();
    const calls = Array.from({ length: 1_050 }, () => admit(0).catch(() => waited.push(clock.nowMs() - beganMs)));
    await clock.until(Promise.all(calls));
    expect(waited.filter((ms) => ms === 0)).toHaveLength(50);
    expect(waited.filter((ms) => ms === 500)).toHaveLength(1_000);
    await clock.pass(3_000);
    goAway();
    await clock.pass(500);
    const againMs = clock.nowMs();
    expect(await clock.until(refusalOf(admit(0)))).toContain("Try again in 1 s.");
    expect(clock.nowMs()).toBe(againMs);
  });

  test("a request that is finally refused for its tokens does not count as a request of the minute", async () => {
    const { clock, admit } = await processes(2, { requestsPerMinute: 10, tokensPerMinute: 100 });
    for (const at of [0, 1]) await clock.until(admit(at, { estimatedTokens: 50 }));
    for (let count = 0; count < 12; count += 1) {
      expect(await clock.until(refusalOf(admit(0, { estimatedTokens: 50 })))).toContain("100 tokens");
    }
    const { admission } = await clock.until(admit(0));
    expect(rateHeadersOf(admission)["x-ratelimit-remaining-requests"]).not.toBe("0");
  });
});
