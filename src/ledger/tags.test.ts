import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type TestDatabases, testDatabases } from "../../testing/test-databases.ts";
import { system } from "../base/system.ts";
import { TimeZone } from "../base/time-zone.ts";
import { timePrefix } from "../base/timed-id.ts";
import type { Receipt } from "../canon/receipt.ts";
import { openStorage } from "../storage/open.ts";
import { sampleReceipt } from "../storage/receipts/receipt.sample.ts";
import { insertReceipts } from "../storage/receipts/receipts.ts";
import type { Storage } from "../storage/storage.ts";
import { insertIntents, PENDING } from "../storage/tables/intents.ts";
import { checkRollUps } from "./check-roll-ups.ts";
import { exportReceipts } from "./export.ts";
import { summariseUsage, totalUsage, type UsageRange } from "./queries.ts";
import { listReceipts } from "./receipt-pages.ts";
import { reprice } from "./reprice.ts";
import { deleteOldReceipts } from "./retention.ts";
import { rollUpBefore } from "./roll-up-before.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 2, 27);
const TAGS = ["team-a", "team", "Team-A", "feature=search", "=1-1", "cost/centre:42"];

/** The same in each run: every second receipt has no tag, the others one to three. */
function drawReceipts(count: number): Receipt[] {
  let state = 7;
  const draw = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  return Array.from({ length: count }, (_, index) => {
    const createdAtMs = START_MS + draw(4 * DAY_MS);
    const { tags: _tags, ...receipt } = sampleReceipt({
      id: `rcp_${timePrefix(createdAtMs)}${index}`,
      createdAtMs,
      model: `acme/m${draw(3)}`,
      outcome: draw(5) === 0 ? "upstream_failed" : "ok",
      costNanoUsd: draw(1_000_000),
      ...(draw(10) === 0 ? { adjusts: "rcp_other" } : {}),
    });
    const tags = TAGS.filter(() => draw(3) === 0).slice(0, 3);
    return draw(2) === 0 || tags.length === 0 ? receipt : { ...receipt, tags };
  });
}

type Figures = readonly [group: string, calls: number, costNanoUsd: number];

function figuresOf(receipts: readonly Receipt[], groupsOf: (receipt: Receipt) => readonly string[]): Figures[] {
  const sums = new Map<string, [number, number]>();
  for (const receipt of receipts) {
    for (const group of groupsOf(receipt)) {
      const [calls, cost] = sums.get(group) ?? [0, 0];
      sums.set(group, [calls + (receipt.adjusts === undefined ? 1 : 0), cost + receipt.costNanoUsd]);
    }
  }
  return [...sums].map(([group, [calls, cost]]): Figures => [group, calls, cost]).sort(byGroup);
}

const byGroup = ([one]: Figures, [other]: Figures): number => (one < other ? -1 : 1);

async function figures(storage: Storage, range: UsageRange): Promise<Figures[]> {
  const sums = await summariseUsage(storage, range);
  return sums
    .map(({ groups, calls, costNanoUsd }): Figures => [groups.join(" "), calls, costNanoUsd])
    .toSorted(byGroup);
}

const tagsOf = ({ tags = [] }: Receipt): readonly string[] => tags;
const within = (receipts: readonly Receipt[], { sinceMs, untilMs }: Pick<UsageRange, "sinceMs" | "untilMs">) =>
  receipts.filter(({ createdAtMs }) => createdAtMs >= sinceMs && createdAtMs < untilMs);

function tagContract(databases: TestDatabases): void {
  describe(`tags on ${databases.engine}`, () => {
    let storage: Storage;
    const receipts = drawReceipts(400);
    beforeEach(async () => {
      storage = await openStorage(await databases.withTables(), system.clock);
    });
    afterEach(() => storage.close());
    afterAll(() => databases.clear());

    /** Some are summed up before, some later, and some arrive after their hour was summed up. */
    async function insertAll(): Promise<void> {
      await insertReceipts(storage, receipts.slice(0, 200));
      await rollUpBefore(storage, START_MS + 2 * DAY_MS);
      await insertReceipts(storage, receipts.slice(150, 350));
      for (const receipt of receipts.slice(350)) await insertReceipts(storage, [receipt]);
    }

    test("a call counts once under each of its tags, in any range and zone, and once in the total", async () => {
      await insertAll();
      const zone = TimeZone.named("Asia/Kolkata");
      const ranges = [
        { sinceMs: START_MS, untilMs: START_MS + 4 * DAY_MS },
        { sinceMs: START_MS + HOUR_MS / 3, untilMs: START_MS + 3 * DAY_MS + 1 },
        { sinceMs: START_MS + DAY_MS + 5, untilMs: START_MS + DAY_MS + HOUR_MS },
      ];
      for (const range of ranges) {
        const asked = within(receipts, range);
        expect(await figures(storage, { ...range, by: ["tag"] })).toEqual(figuresOf(asked, tagsOf));
        expect(await figures(storage, { ...range, by: ["tag", "model"] })).toEqual(
          figuresOf(asked, (receipt) => tagsOf(receipt).map((tag) => `${tag} ${receipt.model}`)),
        );
        const day = (ms: number) => new Date(ms + 5.5 * HOUR_MS).toISOString().slice(0, 10);
        expect(await figures(storage, { ...range, zone, by: ["day", "tag"] })).toEqual(
          figuresOf(asked, (receipt) => tagsOf(receipt).map((tag) => `${day(receipt.createdAtMs)} ${tag}`)),
        );
        const one = asked.filter((receipt) => tagsOf(receipt).includes("team"));
        expect(await figures(storage, { ...range, tag: "team", by: ["model"] })).toEqual(
          figuresOf(one, ({ model }) => [model]),
        );
        const sums = await summariseUsage(storage, { ...range, by: ["tag"] });
        const [[, calls, costNanoUsd] = ["", 0, 0]] = figuresOf(asked, () => ["all"]);
        expect(await totalUsage(storage, { ...range, by: ["tag"] }, sums)).toMatchObject({ calls, costNanoUsd });
      }
      expect((await checkRollUps(storage)).differences).toEqual([]);
    });

    test("a tag's sum that disagrees with the receipts is found", async () => {
      await insertAll();
      await rollUpBefore(storage, START_MS + 30 * DAY_MS);
      expect((await checkRollUps(storage)).differences).toEqual([]);
      await storage.query("UPDATE tag_hours SET calls = calls + 1 WHERE tag = 'team-a'");
      const { differences } = await checkRollUps(storage);
      expect(new Set(differences.map(({ where }) => where))).toEqual(
        new Set(["tag_days vs tag_hours", "tag_hours vs receipts"]),
      );
    });

    test("a report by tag reads a bounded number of sums, whatever tags callers invent", async () => {
      const rest = "'p', 'k', 'm', 'v', 'chat', 'ok', 1, 1, 0, 0, 1";
      const columns = "day, tag, project, key_id, model, provider, dialect, outcome, calls, cost_nano_usd";
      // In parts: one statement may take five seconds, and a busy machine needs more for all of them.
      for (let first = 1; first <= 200_001; first += 20_000) {
        await storage.query(
          `INSERT INTO tag_days (${columns}, first_contents, first_content_ms, total_ms)
           WITH RECURSIVE counted (n) AS (SELECT ${first} UNION ALL SELECT n + 1 FROM counted WHERE n < ${Math.min(first + 19_999, 200_001)})
           SELECT 20000 + n / 100001, 'request=' || n, ${rest} FROM counted`,
        );
      }
      const days = (count: number) => ({ sinceMs: 20_000 * DAY_MS, untilMs: (20_000 + count) * DAY_MS });
      expect(await summariseUsage(storage, { ...days(1), by: ["tag"] })).toHaveLength(1_000);
      const refusal = await summariseUsage(storage, { ...days(2), by: ["tag"] }).catch((thrown: unknown) => thrown);
      expect(String(refusal)).toContain("Use a shorter range");
      expect(await figures(storage, { ...days(2), tag: "request=7", by: ["model"] })).toEqual([["m", 1, 1]]);
      expect(await figures(storage, { ...days(2), by: ["model"] })).toEqual([]);
    });

    test("retention deletes receipts and keeps the cost of each tag", async () => {
      await insertAll();
      const range = { by: ["tag"], sinceMs: START_MS, untilMs: START_MS + 4 * DAY_MS } as const;
      const before = await figures(storage, range);
      const clock = { ...system.clock, wallMs: () => START_MS + 6 * DAY_MS, sleep: async () => {} };
      expect(await deleteOldReceipts({ storage, clock, retentionDays: 3 })).toBeGreaterThan(100);
      expect(await figures(storage, range)).toEqual(before);
    });

    test("a filter finds the receipts with a tag, and no others that only look like it", async () => {
      await insertAll();
      for (const tag of TAGS) {
        const found: string[] = [];
        let after: string | undefined;
        do {
          const page = await listReceipts(storage, { tag }, { limit: 40, ...(after === undefined ? {} : { after }) });
          found.push(...page.receipts.map(({ id }) => id));
          after = page.next;
        } while (after !== undefined);
        const expected = receipts.filter((receipt) => tagsOf(receipt).includes(tag)).map(({ id }) => id);
        expect(found).toEqual(expected.sort().reverse());
      }
      expect((await listReceipts(storage, { tag: "%" }, { limit: 5 })).receipts).toEqual([]);
    });

    test("S14: exports contain the tags, and no cell that a spreadsheet would run", async () => {
      await insertReceipts(storage, [
        sampleReceipt({ id: `rcp_${timePrefix(START_MS)}1`, createdAtMs: START_MS, tags: ["=1-1", "team-a"] }),
      ]);
      const text = async (format: "csv" | "jsonl") => {
        let whole = "";
        for await (const piece of exportReceipts(storage, { tag: "team-a" }, format)) whole += piece;
        return whole;
      };
      const [head, row] = (await text("csv")).trim().split("\r\n");
      expect(head?.endsWith(",tags,key_name")).toBe(true);
      expect(row?.endsWith(",'=1-1 team-a,")).toBe(true);
      expect(JSON.parse(await text("jsonl"))).toMatchObject({ tags: ["=1-1", "team-a"] });
    });

    test("a correction has the tags of what it corrects", async () => {
      const createdAtMs = START_MS + 1;
      const id = `rcp_${timePrefix(createdAtMs)}1`;
      await insertReceipts(storage, [sampleReceipt({ id, createdAtMs, costNanoUsd: 100, tags: ["team-a"] })]);
      await reprice(storage, {
        fromMs: START_MS,
        untilMs: START_MS + DAY_MS,
        isWanted: () => true,
        priceAgain: () => ({ costNanoUsd: 70, priceRule: "less" }),
        dryRun: false,
      });
      const range = { sinceMs: START_MS, untilMs: START_MS + DAY_MS };
      expect(await figures(storage, { ...range, by: ["tag"] })).toEqual([["team-a", 1, 70]]);
    });

    test("a call that is not settled yet shows its tags, and is found by them", async () => {
      const id = `rcp_${timePrefix(START_MS)}1`;
      await insertIntents(storage, [sampleReceipt({ id, outcome: PENDING, tags: ["team-a"] })]);
      const { receipts } = await listReceipts(storage, { tag: "team-a" }, { limit: 5 });
      expect(receipts).toMatchObject([{ id, tags: ["team-a"] }]);
      expect((await listReceipts(storage, { tag: "team" }, { limit: 5 })).receipts).toEqual([]);
    });
  });
}

for (const databases of testDatabases("sums of tags")) tagContract(databases);
