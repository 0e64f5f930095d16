import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { system } from "../base/system.ts";
import { GatewayError } from "../canon/error.ts";
import { openStorage } from "../storage/open.ts";
import type { Storage } from "../storage/storage.ts";
import { hashKey, isWellFormedKey, newApiKey } from "./key-hash.ts";
import { KeyRing } from "./key-ring.ts";
import { createKey, listKeys, revokeKey } from "./keys.ts";

const folder = mkdtempSync(join(tmpdir(), "trivium-keys-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function refusalOf(ring: KeyRing, presented: string): GatewayError {
  try {
    ring.authenticate(presented);
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown;
    throw thrown;
  }
  throw new Error("the key was taken");
}

describe("KeyRing", () => {
  let storage: Storage;
  let nowMs = 0;
  beforeEach(async () => {
    nowMs = Date.UTC(2026, 0, 1);
    storage = await openStorage("sqlite::memory:", system.clock);
  });
  afterEach(() => storage.close());
  const open = (staticKeys: Parameters<typeof KeyRing.open>[0]["staticKeys"] = []): Promise<KeyRing> =>
    KeyRing.open({ storage, staticKeys, clock: { ...system.clock, wallMs: () => nowMs } });

  test("a key is a prefix and 43 random characters, and only its digest is stored", async () => {
    const { key, id, hint } = await createKey(storage, { name: "ci", project: "default" }, system);
    expect(key).toMatch(/^sk-trv-[A-Za-z0-9_-]{43}$/);
    expect(isWellFormedKey(key)).toBe(true);
    expect(hint).toBe(key.slice(-4));
    const rows = await storage.query("SELECT * FROM api_keys");
    expect(JSON.stringify(rows)).not.toContain(key.slice(7, -4));
    const principal = (await open()).authenticate(key);
    expect(principal).toEqual({ keyId: id, keyName: "ci", project: "default", models: ["*"], limits: {} });
  });

  test("H21: authentication asks nothing of the storage", async () => {
    const { key } = await createKey(storage, { name: "ci", project: "default" }, system);
    const ring = await open();
    await storage.close();
    expect(ring.authenticate(key).keyName).toBe("ci");
  });

  test("S06: keys that differ in the last character only are two keys", async () => {
    const { key } = newApiKey({ bytes: (length) => new Uint8Array(length).fill(7) });
    const twin = `${key.slice(0, -1)}${key.endsWith("A") ? "B" : "A"}`;
    expect(hashKey(key)).toHaveLength(64);
    const common = { project: "default", models: ["*"] };
    const both = await open([
      { ...common, name: "one", key },
      { ...common, name: "two", key: twin },
    ]);
    expect([both.authenticate(key).keyName, both.authenticate(twin).keyName]).toEqual(["one", "two"]);
    const one = await open([{ ...common, name: "one", key }]);
    expect(refusalOf(one, twin).message).toContain("not known");
    expect(refusalOf(one, key.slice(0, -1)).message).toContain("well-formed");
  });

  test("S02: hostile keys are data, and S10: no refusal repeats them", async () => {
    await createKey(storage, { name: "ci", project: "default" }, system);
    const ring = await open();
    const hostile = [
      "' OR 1=1 --",
      "x".repeat(1 << 20),
      "sk-trv-\0",
      "a\0b",
      "\ud800",
      "%",
      "$1",
      `sk-trv-${"'".repeat(43)}`,
    ];
    for (const presented of hostile) {
      const refusal = refusalOf(ring, presented);
      expect(refusal.kind).toBe("unauthenticated");
      expect(refusal.message).toContain("well-formed");
      if (presented.length > 1) expect(refusal.message).not.toContain(presented);
    }
    expect(refusalOf(ring, "").message).toContain("No API key was given");
    const { key } = newApiKey(system.random);
    expect(refusalOf(ring, key).message).not.toContain(key.slice(-4));
  });

  test("a key of the configuration may look like anything: a wrong one is not told to look like a made one", async () => {
    const ring = await open([{ name: "one", project: "default", models: ["*"], key: "a-key-of-the-configuration" }]);
    expect(refusalOf(ring, "a-key-of-the-confguration").message).toContain("is not known here. Ask the operator");
    expect(refusalOf(ring, "sk-trv-short").message).toContain("well-formed");
    expect(refusalOf(ring, "trv-admin-abcdef").message).toContain("This is an admin secret");
  });

  test("unknown, revoked and expired keys are refused in the same words but for the cause", async () => {
    const made = await createKey(storage, { name: "old", project: "default" }, system);
    const brief = await createKey(
      storage,
      { name: "brief", project: "default", expiresAtMs: nowMs + 10 },
      { ...system, clock: { ...system.clock, wallMs: () => nowMs } },
    );
    await revokeKey(storage, made.id, system);
    const ring = await open();
    const unknown = refusalOf(ring, newApiKey({ bytes: (length) => new Uint8Array(length) }).key).message;
    expect(refusalOf(ring, made.key).message).toBe(unknown.replace("is not known here", "has been revoked"));
    expect(ring.authenticate(brief.key).keyName).toBe("brief");
    nowMs += 10;
    expect(refusalOf(ring, brief.key).message).toBe(
      unknown.replace("is not known here", "expired on 2026-01-01T00:00:00.010Z"),
    );
  });

  test("H25: the configuration's keys change all at once, and a bad list changes nothing", async () => {
    const common = { project: "default", models: ["*"] };
    const ring = await open([{ ...common, name: "a", key: "static-key-a" }]);
    const held = ring.authenticate("static-key-a");
    expect(held.keyId).toBe("static:a");
    const bad = [
      [
        { ...common, name: "b", key: "static-key-b" },
        { ...common, name: "b", key: "static-key-c" },
      ],
      [
        { ...common, name: "b", key: "static-key-b" },
        { ...common, name: "c", key: "static-key-b" },
      ],
      [{ ...common, name: "b", key: "" }],
      [{ ...common, name: "b", key: "static-key-b", limits: { concurrent: 0 } }],
    ];
    for (const keys of bad) {
      expect(() => ring.replaceStatic(keys)).toThrow(GatewayError);
      expect(ring.authenticate("static-key-a").keyName).toBe("a");
      expect(() => ring.authenticate("static-key-b")).toThrow(GatewayError);
    }
    ring.replaceStatic([{ ...common, name: "b", key: "static-key-b" }]);
    expect(ring.authenticate("static-key-b").keyName).toBe("b");
    expect(() => ring.authenticate("static-key-a")).toThrow(GatewayError);
  });

  test("a stored key with a limit of a newer program does not work, and spoils no other", async () => {
    const odd = await createKey(storage, { name: "odd", project: "default" }, system);
    const good = await createKey(storage, { name: "good", project: "default" }, system);
    await storage.query("UPDATE api_keys SET limits = ? WHERE id = ?", ['{"imagesPerMinute":3}', odd.id]);
    const problems: unknown[] = [];
    const ring = await KeyRing.open({
      storage,
      staticKeys: [],
      clock: { ...system.clock, wallMs: () => nowMs },
      onProblem: (error) => problems.push(error),
    });
    expect(ring.authenticate(good.key).keyName).toBe("good");
    expect(() => ring.authenticate(odd.key)).toThrow(GatewayError);
    expect(String(problems[0])).toContain(odd.id);
  });

  test("choices 7: a key made or revoked by another process counts within a second", async () => {
    const url = `sqlite:${join(folder, "shared.db")}`;
    const shared = await openStorage(url, system.clock);
    const ring = await KeyRing.open({ storage: shared, staticKeys: [], clock: system.clock });
    const stop = ring.startWatching();
    const child = Bun.spawn([process.execPath, join(import.meta.dir, "key-maker.child.ts"), url], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    });
    const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    const accepts = (key: string): boolean => {
      try {
        return ring.authenticate(key).project === "default";
      } catch {
        return false;
      }
    };
    const withinASecond = async (accepted: boolean, key: string): Promise<boolean> => {
      const startedMs = performance.now();
      while (performance.now() - startedMs < 1_000) {
        if (accepts(key) === accepted) return true;
        await Bun.sleep(10);
      }
      return false;
    };
    const key = (await lines.read()).value?.trim() ?? "";
    expect(key).toStartWith("sk-trv-");
    expect(await withinASecond(true, key)).toBe(true);
    child.stdin.write("revoke\n");
    child.stdin.end();
    expect((await lines.read()).value?.trim()).toBe("revoked");
    expect(await withinASecond(false, key)).toBe(true);
    await child.exited;
    stop();
    await shared.close();
  });

  test("a refresh that took long does not undo a later one", async () => {
    const { key, id } = await createKey(storage, { name: "ci", project: "default" }, system);
    const held = Promise.withResolvers<void>();
    let hold = false;
    const slow: Storage = {
      engine: storage.engine,
      query: async (text, parameters) => {
        const waits = hold;
        hold = false;
        const rows = await storage.query(text, parameters);
        if (waits) await held.promise;
        return rows;
      },
      transaction: (work) => storage.transaction(work),
      runForEach: (text, rows) => storage.runForEach(text, rows),
      changeStamp: () => storage.changeStamp(),
      close: () => storage.close(),
    };
    const ring = await KeyRing.open({ storage: slow, staticKeys: [], clock: { ...system.clock, wallMs: () => nowMs } });
    hold = true;
    const early = ring.refresh();
    await Bun.sleep(5);
    await revokeKey(storage, id, system);
    await ring.refresh();
    held.resolve();
    await early;
    expect(refusalOf(ring, key).message).toContain("revoked");
  });

  test("H21, H29: while the storage fails the watcher says so once, keeps its keys, and looks again", async () => {
    const { key, id } = await createKey(storage, { name: "ci", project: "default" }, system);
    let down = true;
    const problems: unknown[] = [];
    const flaky: Storage = {
      engine: storage.engine,
      query: (text, parameters) => storage.query(text, parameters),
      transaction: (work) => storage.transaction(work),
      runForEach: (text, rows) => storage.runForEach(text, rows),
      changeStamp: () => (down ? Promise.reject(new Error("down")) : storage.changeStamp()),
      close: () => storage.close(),
    };
    down = false;
    const ring = await KeyRing.open({
      storage: flaky,
      staticKeys: [],
      clock: { ...system.clock, wallMs: () => nowMs },
      onProblem: (error) => problems.push(error),
    });
    down = true;
    const stop = ring.startWatching(5);
    await revokeKey(storage, id, system);
    await Bun.sleep(150);
    expect(problems).toHaveLength(1);
    expect(ring.blindMs).toBeGreaterThan(100);
    expect(ring.authenticate(key).keyName).toBe("ci");
    down = false;
    await Bun.sleep(150);
    expect(refusalOf(ring, key).message).toContain("revoked");
    expect(ring.blindMs).toBeLessThan(100);
    stop();
  });

  test("H29: a key that is revoked here stops at once, and the storage learns of it when it can", async () => {
    const { key, id } = await createKey(storage, { name: "ci", project: "default" }, system);
    const twin = await createKey(storage, { name: "twin", project: "default" }, system);
    await createKey(storage, { name: "twin", project: "default" }, system);
    const ring = await KeyRing.open({ storage, staticKeys: [], clock: { ...system.clock, wallMs: () => nowMs } });
    expect(ring.revokeHere("unheard of")).toBe(false);
    expect(ring.revokeHere("twin")).toBe(false);
    expect(ring.revokeHere("ci")).toBe(true);
    expect(refusalOf(ring, key).message).toContain("revoked");
    expect(ring.authenticate(twin.key).keyName).toBe("twin");
    const stop = ring.startWatching(5);
    const isRevoked = async () => (await listKeys(storage)).find((one) => one.id === id)?.revokedAtMs === nowMs;
    while (!(await isRevoked())) await Bun.sleep(5);
    stop();
    await ring.refresh();
    expect(refusalOf(ring, key).message).toContain("revoked");
  });
});
