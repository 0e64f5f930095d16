import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../../testing/eventually.ts";
import { openMemoryStorage } from "../../testing/memory-storage.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import type { TimerOptions } from "../base/clock.ts";
import { system } from "../base/system.ts";
import { GatewayError } from "../canon/error.ts";
import { openStorage } from "../storage/open.ts";
import type { Storage } from "../storage/storage.ts";
import { countKeyChange } from "../storage/tables/change-counter.ts";
import { followingKeys } from "./following-keys.sample.ts";
import { hashKey, hintOf, isWellFormedKey, newApiKey } from "./key-hash.ts";
import { KeyRing } from "./key-ring.ts";
import { createKey, listKeys, revokeKey, rotateKey, updateKey } from "./keys.ts";

const ACTOR = { who: "test" };
const CALLER = { address: "127.0.0.1" };

const folder = mkdtempSync(join(tmpdir(), "trivium-keys-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function refusalOf(ring: KeyRing, presented: string): GatewayError {
  try {
    ring.authenticate(presented, CALLER);
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown;
    throw thrown;
  }
  throw new Error("the key was accepted");
}

/** A storage whose responses can be lost or delayed, and whose queries are counted. */
class WatchedStorage implements Storage {
  readonly engine: Storage["engine"];
  down = false;
  /** The next query returns its result, as of when it was sent, when this resolves. */
  held: Promise<void> | undefined;
  readonly asked = { stamps: 0, queries: 0 };
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
    this.engine = storage.engine;
  }

  async query(text: string, parameters?: readonly (string | number | null)[]) {
    this.asked.queries += 1;
    const { held } = this;
    this.held = undefined;
    const rows = await this.#storage.query(text, parameters);
    await held;
    return rows;
  }

  async changeStamp(): ReturnType<Storage["changeStamp"]> {
    this.asked.stamps += 1;
    if (this.down) throw new Error("down");
    return await this.#storage.changeStamp();
  }

  transaction<Result>(work: Parameters<Storage["transaction"]>[0]): Promise<Result> {
    return this.#storage.transaction(work) as Promise<Result>;
  }

  runForEach(text: string, rows: readonly (readonly (string | number | null)[])[]): Promise<void> {
    return this.#storage.runForEach(text, rows);
  }

  close(): Promise<void> {
    return this.#storage.close();
  }
}

describe("KeyRing", () => {
  let storage: Storage;
  let nowMs = 0;
  beforeEach(async () => {
    nowMs = Date.UTC(2026, 0, 1);
    storage = await openMemoryStorage(system.clock);
  });
  afterEach(() => storage.close());
  const open = (staticKeys: Parameters<typeof KeyRing.open>[0]["staticKeys"] = []): Promise<KeyRing> =>
    KeyRing.open({ ...system, storage, staticKeys, clock: { ...system.clock, wallMs: () => nowMs } });

  test("a key is a prefix and 43 random characters, and only its digest is stored", async () => {
    const { key, id, hint } = await createKey(storage, { name: "ci", project: "default" }, system, ACTOR);
    expect(key).toMatch(/^sk-trv-[A-Za-z0-9_-]{43}$/);
    expect(isWellFormedKey(key)).toBe(true);
    expect(hint).toBe(key.slice(-4));
    const rows = await storage.query("SELECT * FROM api_keys");
    expect(JSON.stringify(rows)).not.toContain(key.slice(7, -4));
    const principal = (await open()).authenticate(key, CALLER);
    expect(principal).toEqual({ keyId: id, keyName: "ci", project: "default", models: ["*"], limits: {}, levels: [] });
  });

  test("S05: a caller has the limits of its key, stored or configured", async () => {
    const bounds = {
      models: ["acme/*"],
      protocols: ["chat"] as const,
      limits: { concurrent: 2 },
      strict: true,
      expiresAtMs: nowMs + 10,
    };
    const sources = { ...system, clock: { ...system.clock, wallMs: () => nowMs } };
    const { key, id } = await createKey(storage, { name: "stored", project: "p", ...bounds }, sources, ACTOR);
    const ring = await open([{ name: "static", project: "q", key: "a-key-of-the-configuration", ...bounds }]);
    const levelsFor = (id: string, name: string) => [{ level: "key" as const, id, name, limits: bounds.limits }];
    const levels = levelsFor(id, "stored");
    expect(ring.authenticate(key, CALLER)).toEqual({
      keyId: id,
      keyName: "stored",
      project: "p",
      ...bounds,
      levels,
    });
    expect(ring.authenticate("a-key-of-the-configuration", CALLER)).toEqual({
      keyId: "static:static",
      keyName: "static",
      project: "q",
      ...bounds,
      levels: levelsFor("static:static", "static"),
    });
    nowMs += 10;
    expect(refusalOf(ring, "a-key-of-the-configuration").message).toContain("expired on 2026-01-01T00:00:00.010Z");
  });

  test("a key of the configuration may have at most 512 characters; a longer one is unknown", async () => {
    const common = { name: "long", project: "default", models: ["*"] };
    const ring = await open([{ ...common, key: "k".repeat(512) }]);
    expect(ring.authenticate("k".repeat(512), CALLER).keyName).toBe("long");
    expect(refusalOf(ring, "k".repeat(513)).message).toContain("is unknown");
    expect(() => ring.reconfigure([{ ...common, key: "k".repeat(513) }], {})).toThrow("1 to 512 characters");
  });

  test("a short key, which a hint might reveal, has an empty hint", () => {
    expect(hintOf("a".repeat(19))).toBe("");
    expect(hintOf(`${"a".repeat(16)}wxyz`)).toBe("wxyz");
  });

  test("H21: authentication does not query the storage", async () => {
    const { key } = await createKey(storage, { name: "ci", project: "default" }, system, ACTOR);
    const ring = await open();
    await storage.close();
    expect(ring.authenticate(key, CALLER).keyName).toBe("ci");
  });

  test("S06: keys that differ only in the last character are two keys", async () => {
    const { key } = newApiKey({ bytes: (length) => new Uint8Array(length).fill(7) });
    const twin = `${key.slice(0, -1)}${key.endsWith("A") ? "B" : "A"}`;
    expect(hashKey(key)).toHaveLength(64);
    const common = { project: "default", models: ["*"] };
    const both = await open([
      { ...common, name: "one", key },
      { ...common, name: "two", key: twin },
    ]);
    expect([both.authenticate(key, CALLER).keyName, both.authenticate(twin, CALLER).keyName]).toEqual(["one", "two"]);
    const one = await open([{ ...common, name: "one", key }]);
    expect(refusalOf(one, twin).message).toContain("is unknown");
    expect(refusalOf(one, key.slice(0, -1)).message).toContain("malformed");
  });

  test("S02: hostile keys are treated as data, and S10: no error repeats them", async () => {
    await createKey(storage, { name: "ci", project: "default" }, system, ACTOR);
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
      expect(refusal.message).toContain("malformed");
      if (presented.length > 1) expect(refusal.message).not.toContain(presented);
    }
    expect(refusalOf(ring, "").message).toContain("No API key was given");
    const { key } = newApiKey(system.random);
    expect(refusalOf(ring, key).message).not.toContain(key.slice(-4));
  });

  test("a key of the configuration may have any form: the error about a wrong key does not suggest the usual form", async () => {
    const ring = await open([{ name: "one", project: "default", models: ["*"], key: "a-key-of-the-configuration" }]);
    expect(refusalOf(ring, "a-key-of-the-confguration").message).toContain("is unknown. Ask the operator");
    expect(refusalOf(ring, "sk-trv-short").message).toContain("malformed");
    expect(refusalOf(ring, "trv-admin-abcdef").message).toContain("This is an admin secret");
  });

  test("unknown, revoked and expired keys get the same error apart from the cause", async () => {
    const made = await createKey(storage, { name: "old", project: "default" }, system, ACTOR);
    const brief = await createKey(
      storage,
      { name: "brief", project: "default", expiresAtMs: nowMs + 10 },
      { ...system, clock: { ...system.clock, wallMs: () => nowMs } },
      ACTOR,
    );
    await revokeKey(storage, made.id, system, ACTOR);
    const ring = await open();
    const unknown = refusalOf(ring, newApiKey({ bytes: (length) => new Uint8Array(length) }).key).message;
    expect(refusalOf(ring, made.key).message).toBe(unknown.replace("is unknown", "has been revoked"));
    expect(ring.authenticate(brief.key, CALLER).keyName).toBe("brief");
    nowMs += 10;
    expect(refusalOf(ring, brief.key).message).toBe(
      unknown.replace("is unknown", "expired on 2026-01-01T00:00:00.010Z"),
    );
  });

  test("H25: the configuration's keys change all at once, and a bad list changes nothing", async () => {
    const common = { project: "default", models: ["*"] };
    const ring = await open([{ ...common, name: "a", key: "static-key-a" }]);
    const held = ring.authenticate("static-key-a", CALLER);
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
      expect(() => ring.reconfigure(keys, {})).toThrow(GatewayError);
      expect(ring.authenticate("static-key-a", CALLER).keyName).toBe("a");
      expect(() => ring.authenticate("static-key-b", CALLER)).toThrow(GatewayError);
    }
    ring.reconfigure([{ ...common, name: "b", key: "static-key-b" }], {});
    expect(ring.authenticate("static-key-b", CALLER).keyName).toBe("b");
    expect(() => ring.authenticate("static-key-a", CALLER)).toThrow(GatewayError);
  });

  test("a stored key with a limit that only a newer program knows does not work, and affects no other", async () => {
    const odd = await createKey(storage, { name: "odd", project: "default" }, system, ACTOR);
    const good = await createKey(storage, { name: "good", project: "default" }, system, ACTOR);
    await storage.query("UPDATE api_keys SET limits = ? WHERE id = ?", ['{"imagesPerMinute":3}', odd.id]);
    const problems: unknown[] = [];
    const ring = await KeyRing.open({
      ...system,
      storage,
      staticKeys: [],
      clock: { ...system.clock, wallMs: () => nowMs },
      onProblem: (error) => problems.push(error),
    });
    expect(ring.authenticate(good.key, CALLER).keyName).toBe("good");
    expect(() => ring.authenticate(odd.key, CALLER)).toThrow(GatewayError);
    expect(String(problems[0])).toContain(odd.id);
  });

  test("choices 7: a key created or revoked by another process applies here", async () => {
    const url = `sqlite:${join(folder, "shared.db")}`;
    const shared = await openStorage(url, system.clock);
    const ring = await KeyRing.open({ ...system, storage: shared, staticKeys: [] });
    const stop = followingKeys(ring, shared, system.clock).start();
    const child = Bun.spawn([process.execPath, join(import.meta.dir, "key-maker.child.ts"), url], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    });
    const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    const accepts = (key: string): boolean => {
      try {
        return ring.authenticate(key, CALLER).project === "default";
      } catch {
        return false;
      }
    };
    const key = (await lines.read()).value?.trim() ?? "";
    expect(key).toStartWith("sk-trv-");
    await eventually("the created key to work", () => accepts(key));
    child.stdin.write("revoke\n");
    child.stdin.end();
    expect((await lines.read()).value?.trim()).toBe("revoked");
    await eventually("the revoked key to be refused", () => !accepts(key));
    await child.exited;
    stop();
    await shared.close();
  });

  describe("looking for keys that other processes created or revoked", () => {
    let clock: VirtualClock;
    let watched: WatchedStorage;
    let problems: string[];
    beforeEach(() => {
      clock = new VirtualClock();
      watched = new WatchedStorage(storage);
      problems = [];
    });
    const openWatched = (): Promise<KeyRing> =>
      KeyRing.open({
        ...system,
        storage: watched,
        staticKeys: [],
        clock,
        onProblem: (error) => problems.push(String(error)),
      });
    const create = (name: string) => createKey(storage, { name, project: "default" }, { ...system, clock }, ACTOR);

    test("what is committed during a slow reading is read by the next one", async () => {
      const { key, id } = await create("ci");
      const ring = await openWatched();
      const answer = Promise.withResolvers<void>();
      await create("other");
      watched.held = answer.promise;
      const changes = followingKeys(ring, watched, clock);
      const early = changes.catchUp();
      await clock.pass(0);
      await revokeKey(storage, id, { ...system, clock }, ACTOR);
      const later = changes.catchUp();
      answer.resolve();
      await Promise.all([early, later]);
      expect(refusalOf(ring, key).message).toContain("revoked");
    });

    test("H21: only changes are read, including a key created by a new one; all keys if a change has no number", async () => {
      const keys = [await create("one"), await create("two")];
      const ring = await openWatched();
      const before = keys.map(({ key }) => ring.authenticate(key, CALLER));
      const maker = await createKey(
        storage,
        { name: "maker", project: "default", scopes: ["keys:create"] },
        { ...system, clock },
        ACTOR,
      );
      await ring.refresh();
      const principal = ring.authenticate(maker.key, CALLER);
      const child = await createKey(
        storage,
        { name: "child", project: "default", maker: principal },
        { ...system, clock },
        ACTOR,
      );
      await ring.refresh();
      expect(ring.authenticate(child.key, CALLER).maker?.keyId).toBe(maker.id);
      // The others are the same objects, so nothing that depends on them is rebuilt.
      expect(keys.map(({ key }, at) => ring.authenticate(key, CALLER) === before[at])).toEqual([true, true]);
      const rotated = await rotateKey(storage, maker.id, { overlapSeconds: 0 }, { ...system, clock }, ACTOR);
      await updateKey(storage, child.id, { name: "renamed" }, { ...system, clock }, ACTOR);
      await ring.refresh();
      expect(() => ring.authenticate(maker.key, CALLER)).toThrow(GatewayError);
      expect(ring.authenticate(rotated.key, CALLER).keyName).toBe("maker");
      expect(ring.authenticate(child.key, CALLER).keyName).toBe("renamed");
      await revokeKey(storage, maker.id, { ...system, clock }, ACTOR);
      await ring.refresh();
      expect(() => ring.authenticate(child.key, CALLER)).toThrow("revoked");
      await storage.query("UPDATE api_keys SET name = 'other' WHERE id = ?", [keys[0]?.id ?? ""]);
      await countKeyChange(storage);
      await ring.refresh();
      expect(ring.authenticate(keys[0]?.key ?? "", CALLER).keyName).toBe("other");
    });

    test("choices 7, H21: a change applies within a fifth of a second, and nothing is read if nothing changed", async () => {
      const ring = await openWatched();
      const stop = followingKeys(ring, watched, clock).start();
      const { key, id } = await create("ci");
      await clock.pass(199);
      expect(() => ring.authenticate(key, CALLER)).toThrow(GatewayError);
      await clock.pass(1);
      expect(ring.authenticate(key, CALLER).keyName).toBe("ci");
      await revokeKey(storage, id, { ...system, clock }, ACTOR);
      await clock.pass(500);
      expect(refusalOf(ring, key).message).toContain("revoked");
      Object.assign(watched.asked, { stamps: 0, queries: 0 });
      await clock.pass(5_000);
      expect(watched.asked).toEqual({ stamps: 25, queries: 0 });
      stop();
    });

    test("choices 9: a key that another process has just made is looked up before it is refused, with all of its calls", async () => {
      const ring = await openWatched();
      followingKeys(ring, watched, clock);
      const { key, id } = await create("ci");
      const calls = Array.from({ length: 4 }, () => ring.identify(key, CALLER));
      expect((await clock.until(Promise.all(calls))).map(({ keyId }) => keyId)).toEqual([id, id, id, id]);
      const child = await create("child");
      expect((await clock.until(Promise.resolve(ring.recall({ keyId: child.id, project: "default" }))))?.keyName).toBe(
        "child",
      );
    });

    test("choices 9: an unknown key is asked for once a second, and thousands of them cost 20 readings a second", async () => {
      const ring = await openWatched();
      followingKeys(ring, watched, clock);
      const kindOf = async (key: string) => {
        try {
          await ring.identify(key, CALLER);
          return "accepted";
        } catch (thrown) {
          return thrown instanceof GatewayError ? thrown.kind : thrown;
        }
      };
      const guess = (number: number) =>
        newApiKey({ ...system.random, bytes: () => new Uint8Array(32).fill(number % 256, 0, 8).fill(number >> 8, 8) })
          .key;
      Object.assign(watched.asked, { stamps: 0, queries: 0 });
      for (let times = 0; times < 10; times++) expect(await clock.until(kindOf(guess(0)))).toBe("unauthenticated");
      expect(watched.asked).toEqual({ stamps: 1, queries: 0 });
      Object.assign(watched.asked, { stamps: 0, queries: 0 });
      const kinds: Promise<unknown>[] = [];
      // As many as 5,000 in a second, each another one.
      for (let turn = 0; turn < 100; turn++) {
        for (let made = 0; made < 50; made++) kinds.push(kindOf(guess(1 + turn * 50 + made)));
        await clock.pass(10);
      }
      expect(new Set(await clock.until(Promise.all(kinds)))).toEqual(new Set(["unauthenticated"]));
      expect(watched.asked.stamps).toBeWithin(10, 22);
      // More at one time than may wait are told to try again, and known keys do not wait for any of them.
      const crowd = Array.from({ length: 1_500 }, (_, at) => kindOf(guess(10_000 + at)));
      const counted = Object.groupBy(await clock.until(Promise.all(crowd)), String);
      expect([counted["unauthenticated"]?.length, counted["overloaded"]?.length]).toEqual([1_000, 500]);
    });

    test("H29: an unknown key is not called unknown while the storage does not answer", async () => {
      const ring = await openWatched();
      followingKeys(ring, watched, clock);
      const { key } = await create("ci");
      watched.down = true;
      const refusal = await clock.until(Promise.resolve(ring.identify(key, CALLER)).catch((thrown: unknown) => thrown));
      expect(refusal).toMatchObject({ kind: "overloaded", code: "storage_away" });
      watched.down = false;
      expect((await clock.until(Promise.resolve(ring.identify(key, CALLER)))).keyName).toBe("ci");
    });

    test("once stopped it never looks again, even during a look, and keeps no process alive", async () => {
      const options: (TimerOptions | undefined)[] = [];
      const after: VirtualClock["after"] = (ms, run, given?: TimerOptions) => {
        options.push(given);
        return clock.after(ms, run);
      };
      const { nowMs, wallMs, soon, every, sleep } = clock;
      const recording = { nowMs, wallMs, soon, every, sleep, after };
      const ring = await KeyRing.open({ ...system, storage: watched, staticKeys: [], clock: recording });
      const changes = followingKeys(ring, watched, recording);
      changes.start()();
      expect(clock.timers).toBe(0);
      const stop = changes.start();
      await create("ci");
      const answer = Promise.withResolvers<void>();
      watched.held = answer.promise;
      await clock.pass(200);
      stop();
      answer.resolve();
      await clock.pass(0);
      expect(clock.timers).toBe(0);
      expect(options).toEqual([{ background: true }, { background: true }]);
    });

    test("H21, H29: while the storage fails the watcher reports it once, keeps its keys, and retries", async () => {
      const { key, id } = await create("ci");
      const ring = await openWatched();
      const troubles: unknown[] = [];
      const changes = followingKeys(ring, watched, clock, (_, error) => troubles.push(error));
      const stop = changes.start();
      for (const reported of [1, 3]) {
        await clock.pass(1_000);
        expect(changes.blindMs).toBe(0);
        watched.down = true;
        await clock.pass(60_000);
        expect(troubles).toHaveLength(reported);
        expect(troubles.at(-1)).toEqual(new Error("down"));
        expect(changes.blindMs).toBe(60_000);
        watched.down = false;
      }
      await revokeKey(storage, id, { ...system, clock }, ACTOR);
      expect(ring.authenticate(key, CALLER).keyName).toBe("ci");
      await clock.pass(200);
      expect(refusalOf(ring, key).message).toContain("revoked");
      expect(changes.blindMs).toBe(0);
      stop();
    });

    test("H29: a key that is revoked here stops at once, and the storage is updated when it can be", async () => {
      const { key, id } = await create("ci");
      const twin = await create("twin");
      const other = await create("twin");
      const ring = await openWatched();
      expect(ring.revokeHere("unheard of", ACTOR)).toBe(false);
      expect(ring.revokeHere("twin", ACTOR)).toBe(false);
      expect(ring.revokeHere("ci", ACTOR)).toBe(true);
      expect(refusalOf(ring, key).message).toContain("revoked");
      expect(ring.authenticate(twin.key, CALLER).keyName).toBe("twin");
      const stop = followingKeys(ring, watched, clock).start();
      const revokedAtMs = clock.wallMs() + 200;
      await clock.pass(5_000);
      const stored = await listKeys(storage);
      expect(stored.find((one) => one.id === id)?.revokedAtMs).toBe(revokedAtMs);
      expect(stored.filter((one) => one.revokedAtMs !== undefined)).toHaveLength(1);
      expect(refusalOf(ring, key).message).toContain("revoked");
      // It is written once, and already revoked when requested again.
      Object.assign(watched.asked, { stamps: 0, queries: 0 });
      await clock.pass(200);
      expect(watched.asked).toEqual({ stamps: 1, queries: 0 });
      expect(ring.revokeHere("ci", ACTOR)).toBe(false);
      expect(ring.revokeHere(other.id, ACTOR)).toBe(true);
      expect(refusalOf(ring, other.key).message).toContain("revoked");
      await clock.pass(500);
      expect(ring.revokeHere("twin", ACTOR)).toBe(true);
      stop();
    });

    test("H29: a key that was revoked here stays revoked if the storage fails again after the write", async () => {
      const { key, id } = await create("ci");
      const ring = await openWatched();
      ring.revokeHere(id, ACTOR);
      watched.down = true;
      const stop = followingKeys(ring, watched, clock).start();
      await clock.pass(60_000);
      expect((await listKeys(storage))[0]?.revokedAtMs).toBeNumber();
      expect(refusalOf(ring, key).message).toContain("revoked");
      stop();
    });
  });
});
