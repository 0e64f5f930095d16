import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type TestDatabases, testDatabases } from "../../testing/test-databases.ts";
import { system } from "../base/system.ts";
import { TimeZone } from "../base/time-zone.ts";
import { timePrefix } from "../base/timed-id.ts";
import type { Receipt } from "../canon/receipt.ts";
import { openStorage } from "../storage/open.ts";
import { sampleReceipt } from "../storage/receipts/receipt.sample.ts";
import { insertReceipts } from "../storage/receipts/receipts.ts";
import type { UsageDimension } from "../storage/receipts/usage-question.ts";
import type { UsageSum } from "../storage/receipts/usage-report.ts";
import type { Storage } from "../storage/storage.ts";
import { checkRollUps } from "./check-roll-ups.ts";
import { summariseUsage } from "./queries.ts";
import { deleteOldReceipts } from "./retention.ts";
import { rollUpBefore } from "./roll-up-before.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Around it, clocks go back in Europe, and forward in southern Australia a month earlier. */
const START_MS = Date.UTC(2025, 9, 24);
const ZONES = [
  "UTC",
  "Europe/Berlin",
  "Asia/Kolkata",
  "Asia/Kathmandu",
  "America/St_Johns",
  "Australia/Lord_Howe",
  "Pacific/Kiritimati",
  "Pacific/Pago_Pago",
];

/** Numbers that look random and are the same in each run. */
function drawer(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function drawReceipts(count: number, draw: (below: number) => number): Receipt[] {
  return Array.from({ length: count }, (_, index) => {
    const createdAtMs = START_MS + draw(6 * DAY_MS);
    return sampleReceipt({
      id: `rcp_${timePrefix(createdAtMs)}${index}`,
      createdAtMs,
      model: `acme/m${draw(3)}`,
      key: `key_${draw(2)}`,
      outcome: ["ok", "client_gone", "upstream_failed"][draw(3)] ?? "ok",
      costNanoUsd: draw(1_000_000),
      usage: draw(4) === 0 ? {} : { input: draw(5_000), seconds: draw(8) / 4 },
      ...(draw(10) === 0 ? { adjusts: "rcp_other" } : {}),
    });
  });
}

/** The local date according to the runtime. */
const dateIn = (zone: string, ms: number): string =>
  new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short" }).format(ms);

function groupOf(receipt: Receipt, by: UsageDimension, zone: string): string {
  if (by === "day") return dateIn(zone, receipt.createdAtMs);
  if (by === "hour") return `${new Date(receipt.createdAtMs).toISOString().slice(0, 13)}:00Z`;
  if (by === "end_user") return receipt.endUser ?? "";
  return by === "key" ? receipt.key : by === "outcome" ? receipt.outcome : receipt.model;
}

interface Figures {
  name: string;
  calls: number;
  costNanoUsd: number;
  /** Undefined if no receipt has counted them. */
  input: number | undefined;
  seconds: number;
}

const byName = (figures: readonly Figures[]): Figures[] => figures.toSorted((a, b) => (a.name < b.name ? -1 : 1));

function expected(receipts: readonly Receipt[], by: readonly UsageDimension[], zone: string): Figures[] {
  const groups = new Map<string, Figures>();
  for (const receipt of receipts) {
    const name = by.map((dimension) => groupOf(receipt, dimension, zone)).join(" ");
    const group = groups.get(name) ?? { name, calls: 0, costNanoUsd: 0, input: undefined, seconds: 0 };
    const { input, seconds = 0 } = receipt.usage;
    group.calls += receipt.adjusts === undefined ? 1 : 0;
    group.costNanoUsd += receipt.costNanoUsd;
    if (input !== undefined) group.input = (group.input ?? 0) + input;
    group.seconds += seconds;
    groups.set(name, group);
  }
  return byName([...groups.values()]);
}

const figuresOf = (sums: readonly UsageSum[]): Figures[] =>
  byName(
    sums.map(({ groups, calls, costNanoUsd, usage: { input, seconds = 0 } }) => ({
      name: groups.join(" "),
      calls,
      costNanoUsd,
      input,
      seconds,
    })),
  );

const QUESTIONS = [
  ["day"],
  ["day", "model"],
  ["outcome", "day"],
  ["key", "outcome"],
  ["hour"],
  ["hour", "model"],
  ["day", "hour"],
] as const;

function usageContract(databases: TestDatabases): void {
  describe(`usage on ${databases.engine}`, () => {
    let storage: Storage;
    beforeEach(async () => {
      storage = await openStorage(await databases.withTables(), system.clock);
    });
    afterEach(() => storage.close());
    afterAll(() => databases.clear());

    test("the sums of any range, in any zone and by any two dimensions, equal those of its receipts", async () => {
      const draw = drawer(14);
      const receipts = drawReceipts(400, draw);
      // Some are summed up, some arrive later, and some are not summed up yet.
      for (let at = 0; at < receipts.length; at += 37) {
        await insertReceipts(storage, receipts.slice(at, at + 37));
        if (at === 37 * 6) await rollUpBefore(storage, START_MS + 4 * DAY_MS + HOUR_MS / 3);
      }
      // Sent again, as after a lost response.
      await insertReceipts(storage, receipts.slice(20, 60));
      for (let round = 0; round < 24; round += 1) {
        const zone = ZONES[round % ZONES.length] ?? "UTC";
        const aligned = round % 3 === 0 ? HOUR_MS : 1;
        const sinceMs = Math.floor((START_MS + draw(3 * DAY_MS)) / aligned) * aligned;
        const untilMs = sinceMs + 1 + draw(4 * DAY_MS);
        const within = receipts.filter(({ createdAtMs: at }) => at >= sinceMs && at < untilMs);
        for (const by of QUESTIONS) {
          const sums = await summariseUsage(storage, { by, sinceMs, untilMs, zone: TimeZone.named(zone) });
          expect({ zone, by, found: figuresOf(sums) }).toEqual({ zone, by, found: expected(within, by, zone) });
        }
        for (const outcome of ["failed", "client_gone"]) {
          const asked = { by: ["day"], sinceMs, untilMs, outcome, zone: TimeZone.named(zone) } as const;
          const meant = outcome === "failed" ? "upstream_failed" : outcome;
          const ofOutcome = within.filter((receipt) => receipt.outcome === meant);
          const found = figuresOf(await summariseUsage(storage, asked));
          expect({ zone, outcome, found }).toEqual({ zone, outcome, found: expected(ofOutcome, ["day"], zone) });
        }
        const [total] = await summariseUsage(storage, { by: [], sinceMs, untilMs });
        expect(total?.costNanoUsd).toBe(within.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0));
      }
      expect(await checkRollUps(storage)).toMatchObject({ differences: [] });
    });

    test("a counter that appears only in the part of a UTC day that belongs to the zone's next day is unknown before, not 0", async () => {
      const at = (hour: number, minute: number, usage: Receipt["usage"]) => {
        const createdAtMs = START_MS + hour * HOUR_MS + minute * 60_000;
        return sampleReceipt({ id: `rcp_${timePrefix(createdAtMs)}${minute}`, createdAtMs, usage });
      };
      const morning = at(10, 1, { input: 5, seconds: 0.7 });
      const evening = [0.1, 0.2, 0.3].map((seconds, index) => at(20, index, { input: 2, images: 1, seconds }));
      await insertReceipts(storage, [morning, ...evening]);
      await rollUpBefore(storage, START_MS + 3 * DAY_MS);
      const zone = TimeZone.named("Asia/Kolkata");
      const range = { sinceMs: START_MS, untilMs: START_MS + 2 * DAY_MS, zone };
      expect((await summariseUsage(storage, { ...range, by: ["day"] })).map(({ usage }) => usage)).toEqual([
        { input: 5, seconds: 0.7 },
        { input: 6, images: 3, seconds: 0.6 },
      ]);
    });

    test("S13: a report with too many groups has those of the first hours, complete", async () => {
      const [hours, models] = [200, 12];
      const receipts = Array.from({ length: hours * models }, (_, index) => {
        const createdAtMs = START_MS + Math.floor(index / models) * HOUR_MS + (index % models) * 60_000;
        const id = `rcp_${timePrefix(createdAtMs)}${index}`;
        return sampleReceipt({ id, createdAtMs, model: `acme/m${index % models}`, costNanoUsd: index });
      });
      await insertReceipts(storage, receipts);
      await rollUpBefore(storage, START_MS + 50 * HOUR_MS);
      const range = { sinceMs: START_MS + HOUR_MS / 4, untilMs: START_MS + hours * HOUR_MS };
      const within = receipts.filter(({ createdAtMs }) => createdAtMs >= range.sinceMs);
      const sums = await summariseUsage(storage, { ...range, by: ["model", "hour"] });
      const costs = new Map(sums.map(({ groups, costNanoUsd }) => [groups.join(" "), costNanoUsd]));
      const first = within.slice(0, 1_200).map((receipt) => groupOf(receipt, "hour", "UTC"));
      expect(sums.map(({ groups }) => groups[1] ?? "")).toEqual(first.slice(0, 1_000));
      for (const receipt of within.slice(0, 900)) {
        expect(costs.get(`${receipt.model} ${groupOf(receipt, "hour", "UTC")}`)).toBe(receipt.costNanoUsd);
      }
    });

    test("a roll-up that disagrees with its receipts is found", async () => {
      await insertReceipts(storage, drawReceipts(50, drawer(3)));
      await rollUpBefore(storage, START_MS + 30 * DAY_MS);
      expect((await checkRollUps(storage)).differences).toEqual([]);
      await storage.query("UPDATE usage_hours SET cost_nano_usd = cost_nano_usd + 1 WHERE model = 'acme/m1'");
      const { differences } = await checkRollUps(storage);
      expect(new Set(differences.map(({ where }) => where))).toEqual(
        new Set(["usage_days vs usage_hours", "usage_hours vs receipts"]),
      );
    });

    test("retention: old receipts are deleted, their sums stay, and budgets still count the spending", async () => {
      const receipts = drawReceipts(1_200, drawer(5));
      await insertReceipts(storage, receipts);
      const clock = { ...system.clock, wallMs: () => START_MS + 10 * DAY_MS + HOUR_MS / 2, sleep: async () => {} };
      const range = { by: ["day"], sinceMs: START_MS - DAY_MS, untilMs: START_MS + 9 * DAY_MS } as const;
      const before = await summariseUsage(storage, range);
      const deleted = await deleteOldReceipts({ storage, clock, retentionDays: 7 });
      const cut = START_MS + 3 * DAY_MS;
      expect(deleted).toBe(receipts.filter(({ createdAtMs }) => createdAtMs < cut).length);
      expect(deleted).toBeGreaterThan(500);
      expect(await summariseUsage(storage, range)).toEqual(before);
      expect((await checkRollUps(storage)).differences).toEqual([]);
      expect(await storage.query("SELECT id FROM receipts WHERE created_at_ms < ?", [cut])).toHaveLength(0);
    });
  });
}

for (const databases of testDatabases("sums of usage")) usageContract(databases);
