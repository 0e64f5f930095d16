import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../testing/eventually.ts";
import { type TestDatabases, testDatabases } from "../../testing/test-databases.ts";
import type { Clock } from "../base/clock.ts";
import { system } from "../base/system.ts";
import { openStorage } from "../storage/open.ts";
import type { Storage } from "../storage/storage.ts";
import { totalCachedAnswers } from "../storage/tables/cached-answers.ts";
import { AnswerCache } from "./answer-cache.ts";
import type { AnswerPlace, CachedAnswer } from "./cached-answer.ts";
import { Sealer } from "./sealer.ts";

let laterMs = 0;
const clock: Clock = { ...system.clock, wallMs: () => system.clock.wallMs() + laterMs };
const KEY = new Uint8Array(32).fill(1);

const open = (storage: Storage, key = KEY, problems: unknown[] = []) =>
  new AnswerCache({
    storage,
    clock,
    sealer: new Sealer(key, system.random),
    onProblem: (error) => void problems.push(error),
  });

const answer = (text: string): CachedAnswer => ({
  text,
  marks: [],
  receipt: "rcpt_1",
  model: "acme/one",
  upstreamDialect: "chat",
  lane: "native",
  stop: { unified: "stop", raw: "stop" },
  fields: [],
  usage: { input: 1, output: 2 },
  costNanoUsd: 7,
});

const at = (digest: string, changes: Partial<AnswerPlace> = {}): AnswerPlace => ({
  project: "default",
  digest,
  ttlMs: 60_000,
  maxBytes: 1024 * 1024,
  ...changes,
});

async function keep(cache: AnswerCache, place: AnswerPlace, text = place.digest): Promise<void> {
  cache.keep({ place, make: () => answer(text), release: () => {} });
  await cache.close();
}

const look = (cache: AnswerCache, place: AnswerPlace) => cache.look(place);
/** Hard to compress. */
const noise = (bytes: number) => Buffer.from(system.random.bytes(bytes)).toString("base64");

function cacheContract(databases: TestDatabases): void {
  describe(`decision 0128: cached responses on ${databases.engine}`, () => {
    let storage: Storage;
    let url: string;
    beforeEach(async () => {
      url = await databases.withTables();
      storage = await openStorage(url, system.clock);
      // The first query of a new connection may take longer than a call waits.
      await totalCachedAnswers(storage);
    });
    afterAll(() => databases.clear());

    test("two instances, each with a connection of its own, share responses, which outlive the first", async () => {
      await keep(open(storage), at("a"), "hello");
      expect(await look(open(storage), at("a"))).toMatchObject({ text: "hello", ageSeconds: 0, costNanoUsd: 7 });
      expect(await look(open(storage), at("a", { project: "other" }))).toBeUndefined();
      const [row] = await storage.query("SELECT content FROM cached_answers");
      expect(Buffer.from(row?.["content"] as Uint8Array).includes("hello")).toBe(false);
      const second = await openStorage(url, system.clock);
      await totalCachedAnswers(second);
      await keep(open(storage), at("b"), "from the first");
      // A look that takes longer than a call waits finds nothing.
      const found = (name: string) => eventually("a stored response", () => look(open(second), at(name)));
      expect(await found("b")).toMatchObject({ text: "from the first" });
      await storage.close();
      expect(await found("a")).toMatchObject({ text: "hello" });
      await second.close();
    });

    test("a response that was sealed with another key is a miss", async () => {
      const problems: unknown[] = [];
      await keep(open(storage), at("a"));
      expect(await look(open(storage, new Uint8Array(32).fill(2), problems), at("a"))).toBeUndefined();
      expect(problems).toHaveLength(1);
      await storage.close();
    });

    test("sums are exact: stored at once, replaced, evicted, expired and cleared", async () => {
      const caches = [open(storage), open(storage), open(storage)];
      const check = async () => {
        const [row] = await storage.query(
          "SELECT COUNT(*) AS entries, CAST(COALESCE(SUM(size), 0) AS BIGINT) AS bytes FROM cached_answers",
        );
        const total = await totalCachedAnswers(storage);
        expect(total).toEqual({ entries: Number(row?.["entries"]), bytes: Number(row?.["bytes"]) });
        return total;
      };
      const maxBytes = 100_000;
      await Promise.all(
        caches.map(async (cache, index) => {
          for (let n = 0; n < 8; n++) {
            const place = at(`${n % 5}-${index}`, { maxBytes, ttlMs: 1_000 * (n + 1) });
            cache.keep({ place, make: () => answer(noise(9_000)), release: () => {} });
          }
        }),
      );
      await Promise.all(caches.map((cache) => cache.close()));
      const { entries, bytes } = await check();
      expect(entries).toBeGreaterThan(3);
      expect(bytes).toBeLessThanOrEqual(maxBytes);
      expect(caches.reduce((sum, { counts }) => sum + counts.evicted, 0)).toBeGreaterThan(0);
      await keep(open(storage), at("x", { project: "other" }));
      laterMs += 7_500;
      const [sweeper = open(storage)] = caches;
      await sweeper.sweep();
      expect((await check()).entries).toBeLessThan(entries);
      const left = (await sweeper.sums("default")).entries;
      expect(await sweeper.clear("default")).toBe(left);
      expect(await check()).toMatchObject({ entries: 1 });
      expect(await sweeper.sums("default")).toEqual({ entries: 0, bytes: 0, oldestMs: undefined });
      await storage.close();
    });
  });
}

for (const databases of testDatabases("cached responses")) cacheContract(databases);
