import { afterAll, describe, expect, test } from "bun:test";
import { testDatabases } from "../../testing/test-databases.ts";
import { Sealer } from "../answers/sealer.ts";
import { system } from "../base/system.ts";
import { openStorage } from "../storage/open.ts";
import type { Storage } from "../storage/storage.ts";
import { sumCaptureSizes } from "../storage/tables/captures.ts";
import { BodyCapture } from "./body-capture.ts";
import { type CaptureLimits, Captures, UnreadableCapture } from "./captures.ts";

const LIMITS: CaptureLimits = {
  retentionMs: 3_600_000,
  maxBodyBytes: 10_000,
  maxMediaBytes: 0,
  maxTotalBytes: 100_000,
};
/** A text that hardly compresses. */
const noise = (length: number) =>
  Buffer.from(system.random.bytes((length * 3) / 8))
    .toString("hex")
    .replaceAll(/(.{8})/g, "$1 ");
const NOW = Date.UTC(2026, 10, 16);

function capturesOver(storage: Storage, key = 1) {
  const clock = { ...system.clock, wallMs: () => NOW, sleep: () => new Promise<void>((done) => setImmediate(done)) };
  const dropped: number[] = [];
  const captures = new Captures({
    storage,
    clock,
    sealer: new Sealer(new Uint8Array(32).fill(key), system.random),
    limits: LIMITS,
    onDropped: (count) => dropped.push(count),
  });
  const keep = (id: string, text: string, createdAtMs = NOW) => {
    const capture = captures.begin();
    capture?.begin(text, undefined);
    capture?.answered("done");
    capture?.settle({ receiptId: id, project: "red", keyId: "key_1", createdAtMs }, undefined);
  };
  return { captures, keep, dropped };
}

for (const databases of testDatabases("captures")) {
  describe(`0064: captures on ${databases.engine}`, () => {
    afterAll(() => databases.clear());

    const ids = async (storage: Storage) =>
      (await storage.query("SELECT receipt_id FROM captures ORDER BY created_at_ms, receipt_id")).map((row) =>
        String(row["receipt_id"]),
      );

    test("a capture is read back unchanged, including characters that a database rejects", async () => {
      const storage = await openStorage(await databases.withTables(), system.clock);
      const { captures, keep } = capturesOver(storage);
      const text = '{"a":"\u0000 \ud800 😀 \\u0000"}';
      keep("rcp_1", text);
      keep("rcp_1", "a second one of the same receipt");
      await captures.close();
      const found = await captures.read("rcp_1");
      expect(found).toMatchObject({ project: "red", keyId: "key_1", createdAtMs: NOW });
      expect(found?.bodies).toMatchObject({ client_request: { text }, provider_request: null });
      expect(await captures.read("rcp_2")).toBeUndefined();
      await storage.close();
    });

    test("the storage holds it sealed, for its own receipt and with the key of this gateway", async () => {
      const storage = await openStorage(await databases.withTables(), system.clock);
      const { captures, keep } = capturesOver(storage);
      keep("rcp_1", "a text that is not to be found");
      await captures.close();
      const [row] = await storage.query("SELECT bodies FROM captures");
      expect(Buffer.from(row?.["bodies"] as Uint8Array).toString("latin1")).not.toContain("a text");
      await expect(capturesOver(storage, 2).captures.read("rcp_1")).rejects.toThrow(UnreadableCapture);
      await storage.query("UPDATE captures SET receipt_id = 'rcp_2'");
      await expect(captures.read("rcp_2")).rejects.toThrow(UnreadableCapture);
      await storage.close();
    });

    test("captures older than the retention are deleted in small steps; the rest stays", async () => {
      const storage = await openStorage(await databases.withTables(), system.clock);
      const { captures, keep } = capturesOver(storage);
      for (let round = 0; round < 230; round++) keep(`rcp_old${round}`, "old", NOW - LIMITS.retentionMs - 1);
      keep("rcp_edge", "just within", NOW - LIMITS.retentionMs);
      keep("rcp_new", "new");
      await captures.close();
      await captures.sweep();
      expect(await ids(storage)).toEqual(["rcp_edge", "rcp_new"]);
      await storage.close();
    });

    test("beyond the total limit the oldest are deleted, including those that another process stored", async () => {
      const storage = await openStorage(await databases.withTables(), system.clock);
      const one = capturesOver(storage);
      const two = capturesOver(storage);
      for (let round = 0; round < 30; round++) {
        const { captures, keep } = round % 2 === 0 ? one : two;
        keep(`rcp_${String(round).padStart(2, "0")}`, noise(10_000), NOW + round);
        await captures.close();
      }
      await one.captures.sweep();
      const kept = await ids(storage);
      expect(await sumCaptureSizes(storage)).toBeLessThanOrEqual(LIMITS.maxTotalBytes);
      expect(kept.length).toBeGreaterThan(15);
      expect(kept.at(-1)).toBe("rcp_29");
      expect(kept).not.toContain("rcp_00");
      await storage.close();
    });
  });
}

describe("0064: what is held in memory", () => {
  test("beyond the limit bodies are cut, and written ones free their memory", async () => {
    const storage = await openStorage("sqlite::memory:", system.clock);
    const { captures } = capturesOver(storage);
    const running = Array.from({ length: 20 }, () => captures.begin()).filter((one) => one !== undefined);
    const part = new Uint8Array(4 * 1024 * 1024).fill(97);
    for (const capture of running) capture.answer.add(part);
    expect(running.map(({ answer }) => answer.isCut)).toEqual([...Array(16).fill(false), ...Array(4).fill(true)]);
    for (const [index, capture] of running.entries()) {
      capture.settle({ receiptId: `rcp_${index}`, project: "red", keyId: "key_1", createdAtMs: NOW }, undefined);
      capture.answered();
    }
    await captures.close();
    expect(captures.hold(64 * 1024 * 1024)).toBe(true);
    expect(captures.hold(1)).toBe(false);
    await storage.close();
  });

  test("one body is read up to 8 MB, and its whole size is counted", async () => {
    const storage = await openStorage("sqlite::memory:", system.clock);
    const answer = new BodyCapture(capturesOver(storage).captures);
    for (let round = 0; round < 5; round++) answer.add(new Uint8Array(2 * 1024 * 1024).fill(98));
    expect([answer.text?.length, answer.bytes, answer.isCut]).toEqual([8 * 1024 * 1024, 10 * 1024 * 1024, true]);
    const request = new BodyCapture(capturesOver(storage).captures);
    request.set("c".repeat(10 * 1024 * 1024));
    expect([request.text?.length, request.bytes, request.isCut]).toEqual([8 * 1024 * 1024, 10 * 1024 * 1024, true]);
    await storage.close();
  });
});
