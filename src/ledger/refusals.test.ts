import { describe, expect, test } from "bun:test";
import { openMemoryStorage } from "../../testing/memory-storage.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import type { Storage } from "../storage/storage.ts";
import { sumRefusals } from "../storage/tables/refusals.ts";
import { type RefusalSummary, Refusals } from "./refusals.ts";

const MINUTE_MS = 60_000;

async function counting(change: (storage: Storage) => Storage = (storage) => storage) {
  const clock = new VirtualClock();
  const storage = await openMemoryStorage(clock);
  const told: RefusalSummary[] = [];
  const problems: unknown[] = [];
  const refusals = new Refusals({
    storage: change(storage),
    clock,
    instance: "instance_1",
    summarise: (summary) => void told.push(summary),
    onProblem: (problem) => void problems.push(problem),
  });
  const fromStranger = (address: string, reason = "unauthenticated") =>
    refusals.count({ reason, addressClass: "public", address });
  const total = async () => {
    const [sum] = await sumRefusals(storage, { by: [], fromMs: 0, toMs: clock.wallMs() + MINUTE_MS }, 1);
    return sum?.requests ?? 0;
  };
  return { clock, storage, refusals, told, problems, fromStranger, total };
}

describe("S21: counting refusals is bounded, whoever causes them", () => {
  test("a flood from many addresses makes few rows and log lines, and every request is counted", async () => {
    const { clock, storage, refusals, told, fromStranger, total } = await counting();
    let lines = 0;
    for (let index = 0; index < 20_000; index++) if (fromStranger(`203.0.${index >> 8}.${index & 255}`)) lines++;
    await refusals.write();
    const [row] = await storage.query("SELECT COUNT(*) AS n FROM refusals");
    expect(Number(row?.["n"])).toBeLessThanOrEqual(97);
    expect([lines, await total()]).toEqual([20, 20_000]);
    await clock.pass(2 * MINUTE_MS);
    expect(told.length).toBeLessThanOrEqual(21);
    expect(told.reduce((sum, { requests }) => sum + requests, lines)).toBe(20_000);
  });

  test("messages to clients are kept for the last hundred keys and reasons, and shortened", async () => {
    const { refusals } = await counting();
    for (let index = 0; index < 150; index++) {
      const key = { id: `key_${index}`, project: "default" };
      const told = { endpoint: "POST /v1/chat/completions", message: "x".repeat(10_000) };
      refusals.count({ reason: "forbidden", key, addressClass: "public", address: "203.0.113.1", told });
    }
    const { examples } = refusals;
    expect(examples).toHaveLength(100);
    expect(examples[0]?.keyId).toBe("key_149");
    expect(examples.at(-1)?.keyId).toBe("key_50");
    expect(examples[0]?.message).toHaveLength(300);
  });

  test("keys stay separate when their addresses no longer are", async () => {
    const { storage, clock, refusals, fromStranger } = await counting();
    for (let index = 0; index < 64; index++) fromStranger(`203.0.113.${index}`);
    const key = { id: "key_1", project: "red" };
    for (const address of ["10.0.0.1", "10.0.0.2"])
      refusals.count({ reason: "rate_limited", key, addressClass: "private", address });
    await refusals.write();
    const question = { by: ["key", "address"] as const, fromMs: 0, toMs: clock.wallMs() + MINUTE_MS, keyId: "key_1" };
    expect(await sumRefusals(storage, question, 10)).toMatchObject([{ groups: ["key_1", "other"], requests: 2 }]);
  });

  test("a persistent client gets one log line, and then a summary each minute", async () => {
    const { clock, told, fromStranger } = await counting();
    let lines = 0;
    for (let second = 0; second < 180; second++) {
      if (fromStranger("203.0.113.1")) lines++;
      await clock.pass(1_000);
    }
    await clock.pass(2 * MINUTE_MS);
    expect(lines).toBe(1);
    expect(told.reduce((sum, { requests }) => sum + requests, lines)).toBe(180);
    expect(told.length).toBeWithin(3, 5);
  });

  test("H29: counts that cannot be written are written once the storage is back", async () => {
    let isAway = true;
    const { clock, problems, fromStranger, total } = await counting((storage) =>
      Object.create(storage, {
        query: {
          value: (...given: Parameters<Storage["query"]>) =>
            isAway ? Promise.reject(new Error("away")) : storage.query(...given),
        },
      }),
    );
    for (let minute = 0; minute < 5; minute++) {
      fromStranger("203.0.113.1");
      fromStranger("203.0.113.1");
      await clock.pass(MINUTE_MS);
    }
    expect([await total(), problems.length]).toEqual([0, 1]);
    isAway = false;
    await clock.pass(20_000);
    expect(await total()).toBe(10);
  });
});
