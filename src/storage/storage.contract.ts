import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { TestDatabases } from "../../testing/test-databases.ts";
import { system } from "../base/system.ts";
import { timePrefix } from "../base/timed-id.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import { isRefusal } from "./is-refusal.ts";
import { migrate } from "./migrate.ts";
import { MIGRATIONS } from "./migrations/index.ts";
import { openStorage } from "./open.ts";
import { sampleReceipt } from "./receipts/receipt.sample.ts";
import { insertReceipt, insertReceipts, selectReceipt } from "./receipts/receipts.ts";
import { readUsageReport } from "./receipts/usage-report.ts";
import { sumCostByKey } from "./receipts/usage-sums.ts";
import type { Storage } from "./storage.ts";
import { insertAct, selectActs } from "./tables/audit.ts";
import {
  insertKey,
  markKeyRevoked,
  replaceKey,
  replaceSecret,
  type StoredKey,
  selectKeys,
  selectKeysByIdOrName,
  selectKeysMadeBy,
  selectKeysOfProject,
  writeLastUsed,
} from "./tables/keys.ts";
import { selectPrices } from "./tables/prices.ts";
import { insertProject, replaceProject, selectProject, selectProjects } from "./tables/projects.ts";
import { claimSetting, readSetting, writeSetting } from "./tables/settings.ts";

const HOSTILE = ["' OR 1=1 --", '"; DROP TABLE receipts; --', "%", "\\", "$1 ?", "a\0b", "\ud800", "é漢🙂", ""];

function sampleKey(changes: Partial<StoredKey> = {}): StoredKey {
  return {
    id: "key_1",
    name: "ci",
    project: "default",
    hash: "a".repeat(64),
    hint: "wxyz",
    models: ["acme/*"],
    limits: {},
    createdAtMs: 1_000,
    ...changes,
  };
}

const LATEST = MIGRATIONS.at(-1)?.version ?? 0;

/** Tests that every engine must pass. */
export function storageContract(databases: TestDatabases): void {
  const { engine } = databases;
  describe(`storage contract on ${engine}`, () => {
    let url: string;
    let storage: Storage;

    beforeEach(async () => {
      url = await databases.withTables();
      storage = await openStorage(url, system.clock);
    });
    afterEach(() => storage.close());
    afterAll(() => databases.clear());

    test("opening it several times at once creates the tables once", async () => {
      const empty = await databases.fresh();
      const opened = await Promise.all([1, 2, 3, 4].map(() => openStorage(empty, system.clock)));
      const rows = await opened[0]?.query("SELECT version FROM migrations");
      await Promise.all(opened.map((one) => one.close()));
      expect(rows?.length).toBe(MIGRATIONS.length);
    });

    test("a failing migration changes nothing, and the next start retries it", async () => {
      const next = { version: LATEST + 1, name: "next", statements: ["CREATE TABLE half (id TEXT)"] };
      const broken = { ...next, statements: [...next.statements, "SELECT nonsense FROM nowhere"] };
      await expect(migrate(storage, [...MIGRATIONS, broken], 1)).rejects.toThrow();
      await expect(storage.query("SELECT id FROM half")).rejects.toThrow();
      await migrate(storage, [...MIGRATIONS, next], 1);
      expect(await storage.query("SELECT id FROM half")).toHaveLength(0);
    });

    test("tables of a newer program are rejected, and the error names both versions", async () => {
      await storage.query("INSERT INTO migrations (version, name, applied_at_ms) VALUES (?, ?, ?)", [900, "x", 1]);
      await expect(openStorage(url, system.clock)).rejects.toThrow(new RegExp(`version 900.*up to ${LATEST}`));
    });

    test("a transaction that throws keeps none of its work, and loses no other work", async () => {
      const [inside, meanwhile] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const failing = storage.transaction(async (queries) => {
        await insertProject(queries, { id: "rolled back", createdAtMs: 1 });
        inside.resolve();
        await meanwhile.promise;
        throw new Error("changed my mind");
      });
      await inside.promise;
      const other = insertProject(storage, { id: "other", createdAtMs: 1 });
      meanwhile.resolve();
      await expect(failing).rejects.toThrow("changed my mind");
      await other;
      expect((await selectProjects(storage)).map((project) => project.name)).toEqual(["other"]);
    });

    test("choices 9: a project id is unique, and its changeable fields are stored", async () => {
      const project = { id: "team-a", name: "Team A", limits: { concurrent: 3 }, createdAtMs: 7 };
      expect(await insertProject(storage, project)).toBe(true);
      const stamp = await storage.changeStamp();
      expect(await insertProject(storage, { id: "team-a", createdAtMs: 8 })).toBe(false);
      expect(await storage.changeStamp()).toEqual(stamp);
      const changed = { name: "é", limits: {}, discounts: [{ basis_points: 10 }], status: "suspended" as const };
      await replaceProject(storage, "team-a", changed);
      expect(await storage.changeStamp()).not.toEqual(stamp);
      expect(await selectProject(storage, "team-a")).toEqual({ id: "team-a", ...changed, createdAtMs: 7 });
      expect(await selectProject(storage, "' OR 1=1 --")).toBeUndefined();
    });

    test("the audit log accepts acts, rejects every change, and returns pages", async () => {
      for (const id of ["act_1", "act_2", "act_3"]) {
        await insertAct(storage, { id, atMs: Number(id.at(-1)), who: "test", act: "key.create", target: id });
      }
      const full = { address: "::1", project: "p", before: "{}", after: '{"a":"é\'"}' };
      await insertAct(storage, { id: "act_4", atMs: 4, who: "x", act: "key.update", target: "act_1", ...full });
      await expect(storage.query("UPDATE audit SET who = 'somebody else'")).rejects.toThrow("append-only");
      await expect(storage.query("DELETE FROM audit WHERE id = ?", ["act_1"])).rejects.toThrow("append-only");
      const page = await selectActs(storage, {}, { limit: 2 });
      expect(page.map(({ id }) => id)).toEqual(["act_4", "act_3"]);
      expect(page[0]).toEqual({ id: "act_4", atMs: 4, who: "x", act: "key.update", target: "act_1", ...full });
      const rest = await selectActs(storage, { who: "test", fromMs: 1, toMs: 3 }, { limit: 9, after: "act_3" });
      expect(rest.map(({ id }) => id)).toEqual(["act_2", "act_1"]);
      for (const hostile of HOSTILE) expect(await selectActs(storage, { who: hostile }, { limit: 9 })).toEqual([]);
    });

    test("a key's networks, scopes, rotation and last use are stored", async () => {
      const key = sampleKey({ networks: ["10.0.0.0/8"], scopes: ["keys:create"] });
      await insertKey(storage, key);
      expect(await selectKeys(storage)).toEqual([key]);
      const secret = { hash: "b".repeat(64), hint: "1234", previousUntilMs: 9_000, rotatedAtMs: 5_000 };
      await replaceSecret(storage, key.id, secret);
      const stamp = await storage.changeStamp();
      await writeLastUsed(storage, [key.id, "unheard of"], 50);
      await writeLastUsed(storage, [key.id], 40);
      expect(await storage.changeStamp()).toEqual(stamp);
      const rotated = { ...key, ...secret, previousHash: key.hash, lastUsedAtMs: 50 };
      expect(await selectKeys(storage)).toEqual([rotated]);
      await replaceKey(storage, key.id, { name: "other", models: ["*"], limits: {} });
      const { networks: _networks, scopes: _scopes, ...plain } = rotated;
      expect(await selectKeys(storage)).toEqual([{ ...plain, name: "other", models: ["*"] }]);
    });

    test("S05: revoking a key revokes its children, and no other", async () => {
      const make = (id: string, madeBy?: string) =>
        insertKey(storage, sampleKey({ id, hash: id.padEnd(64, "0"), ...withoutAbsent({ madeBy }) }));
      await make("maker");
      await make("child", "maker");
      await make("grandchild", "child");
      await make("stranger");
      await markKeyRevoked(storage, "grandchild", 1);
      expect((await markKeyRevoked(storage, "maker", 2)).toSorted()).toEqual(["child", "maker"]);
      expect(await markKeyRevoked(storage, "maker", 3)).toEqual([]);
      const revoked = Object.fromEntries((await selectKeys(storage)).map(({ id, revokedAtMs }) => [id, revokedAtMs]));
      expect(revoked).toEqual({ maker: 2, child: 2, grandchild: 1, stranger: undefined });
      expect((await selectKeysMadeBy(storage, "maker")).map(({ id }) => id)).toEqual(["child"]);
    });

    test("tables from before accounts keep their projects and keys", async () => {
      const old = await databases.fresh();
      const before = MIGRATIONS.slice(
        0,
        MIGRATIONS.findIndex(({ name }) => name === "accounts"),
      );
      const opened = await openStorage(old, system.clock, undefined, { migrations: before });
      await opened.query("INSERT INTO projects (name, created_at_ms) VALUES ('Old Team', 5)");
      await opened.query(
        `INSERT INTO api_keys (id, name, project, hash, hint, models, limits, created_at_ms, strict)
         VALUES ('key_1', 'ci', 'Old Team', 'h', 'wxyz', '["*"]', '{"concurrent":2}', 6, 0)`,
      );
      await opened.close();
      const now = await openStorage(old, system.clock);
      expect(await selectProjects(now)).toEqual([
        { id: "Old Team", name: "Old Team", limits: {}, discounts: [], status: "active", createdAtMs: 5 },
      ]);
      expect(await selectKeysOfProject(now, "Old Team")).toMatchObject([{ id: "key_1", limits: { concurrent: 2 } }]);
      await insertKey(now, sampleKey({ id: "key_2", project: "Old Team" }));
      await now.close();
    });

    test("parallel transactions all commit", async () => {
      await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          storage.transaction(async (queries) => {
            await queries.query("UPDATE change_counters SET value = value + 1 WHERE name = 'keys'");
            await insertProject(queries, { id: `p${index}`, createdAtMs: 1 });
          }),
        ),
      );
      expect(await storage.changeStamp()).toEqual({ keys: 40, catalogue: 0, questions: 0 });
      expect(await selectProjects(storage)).toHaveLength(20);
    });

    test("two connections see each other's work, and only key changes move the stamp", async () => {
      const other = await openStorage(url, system.clock);
      const before = await storage.changeStamp();
      await insertReceipts(other, [sampleReceipt()]);
      expect(await storage.changeStamp()).toEqual(before);
      await insertKey(other, sampleKey());
      const made = await storage.changeStamp();
      expect(made).not.toEqual(before);
      await markKeyRevoked(other, "key_1", 5_000);
      expect(await storage.changeStamp()).not.toEqual(made);
      expect((await selectKeys(storage))[0]?.revokedAtMs).toBe(5_000);
      await other.close();
    });

    test("a key is read back unchanged, with and without its optional fields", async () => {
      const full = sampleKey({
        id: "key_2",
        hash: "b".repeat(64),
        protocols: ["chat"],
        limits: { concurrent: 3, budgetUsdPerDay: 0.25 },
        expiresAtMs: 4_102_444_800_000,
        createdAtMs: 2_000,
        madeBy: "key_1",
      });
      await insertKey(storage, sampleKey());
      await insertKey(storage, full);
      expect(await selectKeys(storage)).toEqual([sampleKey(), full]);
      await markKeyRevoked(storage, "key_2", 3_000);
      await markKeyRevoked(storage, "key_2", 9_000);
      expect(await selectKeysByIdOrName(storage, "key_2")).toEqual([{ ...full, revokedAtMs: 3_000 }]);
    });

    test("settings can be overwritten, and are claimed once", async () => {
      expect(await readSetting(storage, "admin")).toBeUndefined();
      await writeSetting(storage, "admin", "one");
      await writeSetting(storage, "admin", "two");
      expect(await readSetting(storage, "admin")).toBe("two");
      const claims = await Promise.all(["x", "y"].map((value) => claimSetting(storage, "secret", value)));
      expect(new Set(claims).size).toBe(1);
    });

    test("H06: a receipt is read back unchanged: unknown counters stay unknown and zeros stay zeros", async () => {
      const full = sampleReceipt();
      const {
        stop: _stop,
        firstContentMs: _first,
        ...bare
      } = sampleReceipt({
        id: "rcp_2",
        offers: [],
        fields: [],
        usage: {},
        stream: false,
        outcome: "client_gone",
        usageSource: "partial",
        createdAtMs: full.createdAtMs + 1,
      });
      await insertReceipts(storage, [full, bare]);
      expect(await selectReceipt(storage, "default", "rcp_1")).toEqual(full);
      expect(await selectReceipt(storage, "default", "rcp_2")).toEqual(bare);
      expect(await selectReceipt(storage, "other", "rcp_1")).toBeUndefined();
    });

    test("H14: the same receipt twice is billed once, in one batch and in two", async () => {
      const again = sampleReceipt({ costNanoUsd: 1 });
      await insertReceipts(storage, [sampleReceipt(), again, sampleReceipt({ id: "rcp_2" })]);
      await insertReceipts(storage, [again, sampleReceipt({ id: "rcp_3" })]);
      expect(await sumCostByKey(storage, { dayMs: 0, weekMs: 0, monthMs: 0, quarterMs: 0 })).toMatchObject([
        { keyId: "key_1", total: 3 * 420_000 },
      ]);
    });

    test("numbers that do not fit an integer column do not block a batch", async () => {
      const odd = sampleReceipt({
        usage: { input: 1.4, output: Number.NaN, reasoning: 1e300, seconds: Number.POSITIVE_INFINITY },
        totalMs: 12.6,
        firstContentMs: 3.2,
      });
      await insertReceipts(storage, [odd, sampleReceipt({ id: "rcp_2" })]);
      const kept = await selectReceipt(storage, "default", "rcp_1");
      expect(kept?.usage).toEqual({ input: 1, reasoning: Number.MAX_SAFE_INTEGER });
      expect([kept?.totalMs, kept?.firstContentMs]).toEqual([13, 3]);
    });

    test("H21: a value of another type instead of a string does not block a batch", async () => {
      const odd = sampleReceipt({ stop: { unified: Object as never, raw: {} as never }, outcome: [] as never });
      await insertReceipts(storage, [odd, sampleReceipt({ id: "rcp_2" })]);
      const kept = await selectReceipt(storage, "default", "rcp_1");
      expect([kept?.stop, kept?.outcome, kept?.costNanoUsd]).toEqual([undefined, "", odd.costNanoUsd]);
      expect(await selectReceipt(storage, "default", "rcp_2")).toBeDefined();
    });

    test("H21: a statement that is rejected for its values is distinguished from one that may succeed later", async () => {
      const thrownBy = (text: string, ...parameters: (string | null)[]) =>
        storage.query(text, parameters).then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
      const insert = "INSERT INTO settings (name, value) VALUES (?, ?)";
      expect(isRefusal(await thrownBy(insert, "a", null))).toBe(true);
      await storage.query(insert, ["a", "b"]);
      expect(isRefusal(await thrownBy(insert, "a", "b"))).toBe(true);
      expect(isRefusal(await thrownBy("INSERT INTO gone (name) VALUES (?)", "a"))).toBe(false);
      expect(isRefusal(new Error("connection lost"))).toBe(false);
    });

    test("S02: hostile strings are data, in writes and in queries", async () => {
      const receipts = HOSTILE.map((hostile, index) =>
        sampleReceipt({
          id: `${hostile}-${index}`,
          model: hostile,
          stop: { unified: "other", raw: hostile },
          fields: [{ path: hostile, action: "dropped", reason: hostile }],
        }),
      );
      await insertReceipts(storage, receipts);
      // Only what the engine's text cannot hold is changed.
      const asKept = (hostile: string): string =>
        engine === "postgres" ? hostile.toWellFormed().replaceAll("\0", "\uFFFD") : hostile.toWellFormed();
      for (const receipt of receipts) {
        const kept = await selectReceipt(storage, "default", receipt.id);
        expect(kept?.model).toBe(asKept(receipt.model));
        expect(kept?.fields).toEqual(receipt.fields);
        expect(await selectReceipt(storage, receipt.id, receipt.id)).toBeUndefined();
        expect(await selectKeysByIdOrName(storage, receipt.id)).toEqual([]);
      }
      const long = "x'".repeat(500_000);
      await insertReceipts(storage, [sampleReceipt({ priceRule: long })]);
      expect((await selectReceipt(storage, "default", "rcp_1"))?.priceRule).toBe(long);
      expect(await selectReceipt(storage, "default", long)).toBeUndefined();
    });

    test("the prices of receipts are stored once, including those of parts, and before the rows that refer to them", async () => {
      const prices = { id: "a".repeat(32), text: '{"form":1,"pricings":{}}' };
      const other = { id: "b".repeat(32), text: '{"form":1,"pricings":{"prompt":[]}}' };
      await insertReceipts(storage, [
        sampleReceipt({ id: "rcp_1", pricedBy: prices }),
        sampleReceipt({ id: "rcp_2", pricedBy: prices }),
        sampleReceipt({ id: "rcp_3", pricedBy: [prices, other].map((one) => ({ prices: one, usage: { input: 7 } })) }),
      ]);
      // The same digest means the same text, so the existing row stays.
      await insertReceipt(
        storage,
        sampleReceipt({ id: "rcp_4", pricedBy: { id: other.id, text: "changed" } }),
        storage.engine,
      );
      await insertReceipts(storage, [sampleReceipt({ id: "rcp_5", pricedBy: { id: prices.id } })]);
      const pricedBy = async (id: string) => (await selectReceipt(storage, "default", id))?.pricedBy;
      expect(await pricedBy("rcp_2")).toEqual({ id: prices.id });
      expect(await pricedBy("rcp_3")).toEqual(
        [prices, other].map(({ id }) => ({ prices: { id }, usage: { input: 7 } })),
      );
      expect(await pricedBy("rcp_5")).toEqual({ id: prices.id });
      expect(await selectPrices(storage, prices.id)).toBe(prices.text);
      expect(await selectPrices(storage, other.id)).toBe(other.text);
      expect(await selectPrices(storage, "c")).toBeUndefined();
      const [row] = await storage.query("SELECT COUNT(*) AS n FROM prices");
      expect(Number(row?.["n"])).toBe(2);
    });

    test("usage is summed by group, with failures separate and unknown counters left out", async () => {
      const day = 86_400_000;
      await insertReceipts(storage, [
        sampleReceipt({
          id: `rcp_${timePrefix(day)}`,
          model: "a/x",
          createdAtMs: day,
          usage: { input: 1 },
          costNanoUsd: 5,
        }),
        sampleReceipt({
          id: `rcp_${timePrefix(2 * day - 1)}`,
          model: "a/x",
          createdAtMs: 2 * day - 1,
          usage: { input: 2, seconds: 0.5 },
          costNanoUsd: 5,
        }),
        sampleReceipt({
          id: `rcp_${timePrefix(2 * day)}`,
          model: "a/y",
          createdAtMs: 2 * day,
          outcome: "upstream_failed",
          usage: {},
          costNanoUsd: 7,
        }),
        sampleReceipt({
          id: `rcp_${timePrefix(3 * day)}`,
          model: "a/y",
          createdAtMs: 3 * day,
          outcome: "client_gone",
          key: "key_2",
          costNanoUsd: 9,
        }),
      ]);
      const question = { by: ["model"] as const, offsets: [], limit: 10 };
      const expected = [
        { groups: ["a/x"], calls: 2, failures: 0, usage: { input: 3, seconds: 0.5 }, costNanoUsd: 10 },
        { groups: ["a/y"], calls: 1, failures: 1, usage: {}, costNanoUsd: 7 },
      ];
      const span = [day, 3 * day] as const;
      for (const sources of [
        { days: [[1, 3]], hours: [], receipts: [] },
        { days: [], hours: [[24, 72]], receipts: [] },
        { days: [], hours: [], receipts: [span] },
        { days: [[2, 3]], hours: [[24, 47]], receipts: [[47 * 3_600_000, 2 * day]] },
      ] as const) {
        expect(await readUsageReport(storage, { ...question, sources })).toMatchObject(expected);
        const [total] = await readUsageReport(storage, { ...question, by: [], sources });
        expect(total).toMatchObject({ groups: [], calls: 3, failures: 1, costNanoUsd: 17 });
        for (const by of ["provider", "project", "dialect"] as const) {
          const [sum] = await readUsageReport(storage, { ...question, by: [by], sources, project: "default" });
          expect(sum?.calls).toBe(3);
        }
      }
      const all = { days: [], hours: [[0, 9 * 24]], receipts: [] } as const;
      const days = await readUsageReport(storage, { ...question, by: ["day"], sources: all });
      expect(days.map(({ groups, calls }) => [...groups, calls])).toEqual([
        ["1", 2],
        ["2", 1],
        ["3", 1],
      ]);
      const ofKey = await readUsageReport(storage, {
        ...question,
        by: ["key", "outcome"],
        sources: all,
        keyId: "key_2",
      });
      expect(ofKey.map(({ groups, failures }) => [...groups, failures])).toEqual([["key_2", "client_gone", 0]]);
      const byKey = await sumCostByKey(storage, { dayMs: 2 * day, weekMs: 2 * day, monthMs: day, quarterMs: day });
      expect(byKey.find((cost) => cost.keyId === "key_1")).toMatchObject({
        project: "default",
        keyId: "key_1",
        week: 7,
        quarter: 17,
        day: 7,
        month: 17,
        total: 17,
      });
    });
  });
}
