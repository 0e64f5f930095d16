import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openMemoryStorage } from "../../testing/memory-storage.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { system } from "../base/system.ts";
import { GatewayError } from "../canon/error.ts";
import type { Storage } from "../storage/storage.ts";
import { countKeyChange } from "../storage/tables/change-counter.ts";
import { Admissions } from "./admit.ts";
import { followingKeys } from "./following-keys.sample.ts";
import { KeyRing } from "./key-ring.ts";
import { createKey, type KeyRequest, listKeys, revokeKey, rotateKey, updateKey } from "./keys.ts";
import type { StaticKey } from "./known-keys.ts";
import type { Limits } from "./limits.ts";
import type { Principal } from "./principal.ts";
import { createProject, updateProject } from "./projects.ts";
import { checkScopes } from "./scopes.ts";

const ACTOR = { who: "test" };
const HERE = { address: "127.0.0.1" };

let storage: Storage;
let clock: VirtualClock;
let sources: typeof system;
beforeEach(async () => {
  clock = new VirtualClock();
  sources = { ...system, clock };
  storage = await openMemoryStorage(system.clock);
});
afterEach(() => storage.close());

const open = (staticKeys: readonly StaticKey[] = [], limits: Limits = {}) =>
  KeyRing.open({ ...sources, storage, staticKeys, limits });
const create = (request: Partial<KeyRequest> = {}) =>
  createKey(storage, { name: "k", project: "default", ...request }, sources, ACTOR);

function refusal(work: () => unknown): GatewayError {
  try {
    work();
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown;
    throw thrown;
  }
  throw new Error("it was admitted");
}

async function refusalOf(work: Promise<unknown>): Promise<string> {
  const thrown = await work.catch((error: unknown) => error);
  return thrown instanceof GatewayError ? `${thrown.kind} ${thrown.path ?? ""}`.trim() : "admitted";
}

describe("rotation", () => {
  test("both secrets work during the overlap, then only the new one; both authenticate the same key", async () => {
    const old = await create();
    const { key, id } = await rotateKey(storage, old.id, { overlapSeconds: 60 }, sources, ACTOR);
    const ring = await open();
    expect(id).toBe(old.id);
    expect(ring.authenticate(old.key, HERE)).toEqual(ring.authenticate(key, HERE));
    await clock.pass(59_999);
    ring.authenticate(old.key, HERE);
    await clock.pass(1);
    expect(refusal(() => ring.authenticate(old.key, HERE)).message).toContain("was replaced by a new one");
    ring.authenticate(key, HERE);
  });

  test("without overlap the old secret ends at once; after two rotations only the last two secrets count", async () => {
    const first = await create();
    const ring = await open();
    const second = await rotateKey(storage, first.id, { overlapSeconds: 0 }, sources, ACTOR);
    await ring.refresh();
    expect(refusal(() => ring.authenticate(first.key, HERE)).kind).toBe("unauthenticated");
    const third = await rotateKey(storage, first.id, { overlapSeconds: 9 }, sources, ACTOR);
    await ring.refresh();
    expect(refusal(() => ring.authenticate(first.key, HERE)).message).toContain("is unknown");
    for (const { key } of [second, third]) ring.authenticate(key, HERE);
    await revokeKey(storage, first.id, sources, ACTOR);
    await ring.refresh();
    for (const { key } of [second, third]) {
      expect(refusal(() => ring.authenticate(key, HERE)).message).toContain("revoked");
    }
  });

  test("an overlap out of range, and a revoked key, are rejected", async () => {
    const { id } = await create();
    for (const overlapSeconds of [-1, 0.5, Number.NaN, 2_592_001, Number.POSITIVE_INFINITY]) {
      const rotated = Promise.try(() => rotateKey(storage, id, { overlapSeconds }, sources, ACTOR));
      expect(await refusalOf(rotated)).toBe("invalid_request overlap_seconds");
    }
    await revokeKey(storage, id, sources, ACTOR);
    expect(await refusalOf(rotateKey(storage, id, { overlapSeconds: 0 }, sources, ACTOR))).toBe("invalid_request");
  });
});

describe("networks", () => {
  test("a key is refused outside its networks, and the error names the address", async () => {
    const { key } = await create({ networks: ["10.0.0.0/8", "2001:db8::/32"] });
    const ring = await open();
    for (const address of ["10.1.2.3", "::ffff:10.1.2.3", "2001:db8::7"]) ring.authenticate(key, { address });
    const { kind, message } = refusal(() => ring.authenticate(key, { address: "::ffff:192.0.2.9" }));
    expect(kind).toBe("forbidden");
    expect(message).toContain("may not be used from 192.0.2.9; it may be used from: 10.0.0.0/8, 2001:db8::/32.");
    expect(refusal(() => ring.authenticate(key, { address: "" })).message).toContain("an unknown address");
  });

  test("the address is not read if the key has no networks", async () => {
    const { key } = await create();
    const ring = await open();
    const caller = {
      get address(): string {
        throw new Error("not needed");
      },
    };
    expect(ring.authenticate(key, caller).keyName).toBe("k");
  });

  test("an invalid network is rejected with its path; a change applies and can be reverted", async () => {
    expect(await refusalOf(create({ networks: ["10.0.0.0/8", "10.0.0.0/33"] }))).toBe("invalid_request networks[1]");
    expect(await refusalOf(create({ networks: [] }))).toBe("invalid_request networks");
    const { key, id } = await create();
    const ring = await open();
    await updateKey(storage, id, { networks: ["192.0.2.7"] }, sources, ACTOR);
    await ring.refresh();
    expect(refusal(() => ring.authenticate(key, HERE)).message).toContain("192.0.2.7/32");
    await updateKey(storage, id, { networks: null }, sources, ACTOR);
    await ring.refresh();
    ring.authenticate(key, HERE);
  });
});

describe("S05: keys that keys make", () => {
  const make = async (request: Partial<KeyRequest> = {}) => {
    const made = await create({ name: "maker", scopes: ["keys:create"], ...request });
    const ring = await open();
    const child = (more: Partial<KeyRequest> = {}) =>
      create({ name: "child", maker: ring.authenticate(made.key, { address: "10.0.0.1" }), ...more });
    return { made, ring, child };
  };

  test("only a key with the scope creates keys, and its children cannot create keys", async () => {
    const { key } = await create();
    const ring = await open();
    expect(await refusalOf(create({ maker: ring.authenticate(key, HERE) }))).toBe("forbidden");
    const { child } = await make();
    expect(await refusalOf(child({ scopes: ["keys:create"] }))).toBe("forbidden scopes");
    expect(await refusalOf(child({ scopes: ["root"] }))).toBe("invalid_request scopes");
    expect(await refusalOf(child())).toBe("admitted");
  });

  test("a child key can request no more than its parent has, in any setting", async () => {
    const { child } = await make({
      models: ["acme/*"],
      protocols: ["chat"],
      networks: ["10.0.0.0/8"],
      expiresAtMs: clock.wallMs() + 1_000,
      limits: { requestsPerMinute: 5, budgetUsdTotal: 1 },
    });
    for (const [more, path] of [
      [{ project: "other" }, "project"],
      [{ models: ["*"] }, "models"],
      [{ models: ["acme/*", "other/x"] }, "models"],
      [{ protocols: ["chat", "genai"] }, "protocols"],
      [{ networks: ["10.0.0.0/7"] }, "networks"],
      [{ networks: ["10.1.0.0/16", "192.0.2.0/24"] }, "networks"],
      [{ networks: ["2001:db8::/32"] }, "networks"],
      [{ expiresAtMs: clock.wallMs() + 1_001 }, "expires_at"],
      [{ limits: { requestsPerMinute: 6 } }, "limits.requests_per_minute"],
      [{ limits: { budgetUsdTotal: 1.000001 } }, "limits.budget_usd_total"],
    ] as const) {
      expect(await refusalOf(child(more))).toBe(`forbidden ${path}`);
    }
    expect(await listKeys(storage)).toHaveLength(1);
    await child({ models: ["acme/x"], networks: ["10.1.0.0/16"], limits: { requestsPerMinute: 1, concurrent: 1 } });
    await child();
  });

  test("narrowing a parent key later narrows its children", async () => {
    const { made, ring, child } = await make({ models: ["*"] });
    const { key } = await child();
    const change = async (update: Parameters<typeof updateKey>[2]) => {
      await updateKey(storage, made.id, update, sources, ACTOR);
      await ring.refresh();
    };
    await ring.refresh();
    const call = { model: "acme/x", dialect: "chat" };
    const check = () => checkScopes(ring.authenticate(key, { address: "10.0.0.1" }), call, clock.wallMs());
    check();
    for (const [narrow, widen] of [
      [{ models: ["other/*"] }, { models: ["*"] }],
      [{ protocols: ["genai"] }, { protocols: null }],
      [{ networks: ["192.0.2.0/24"] }, { networks: null }],
    ] as const) {
      await change(narrow);
      expect(refusal(check).kind).toBe("forbidden");
      await change(widen);
      check();
    }
    await change({ expiresAtMs: clock.wallMs() + 1_000 });
    check();
    await clock.pass(1_000);
    expect(refusal(check).message).toContain("expired");
  });

  test("children together spend no more than their parent may, including what the ledger held", async () => {
    const { made, ring, child } = await make({ limits: { budgetUsdTotal: 1, concurrent: 3 } });
    const secrets = [await child(), await child(), await child()].map(({ key }) => key);
    await ring.refresh();
    const principals = secrets.map((key) => ring.authenticate(key, HERE));
    const spent = (_level: string, id: string) => (id === made.id ? 1e8 : 0);
    const admissions = new Admissions({ ...clock, nowMs: clock.nowMs, wallMs: clock.wallMs, spent });
    const admit = (who: Principal) =>
      admissions.enter(who).admit({ model: "a/b", dialect: "chat", estimatedTokens: 0, estimatedCostNanoUsd: 3e8 });
    for (const who of principals) admit(who).release({ costNanoUsd: 3e8, tokens: 0 });
    for (const who of principals) expect(refusal(() => admit(who)).message).toStartWith('The key "maker"');
    expect(admissions.account("key", made.id).meter.spent("total", clock.wallMs())).toBe(1e9);
  });

  test("revoking a parent revokes its children, here and in the storage", async () => {
    const { made, ring, child } = await make();
    const [one, two] = [await child(), await child()];
    await ring.refresh();
    ring.revokeHere(made.id, ACTOR);
    for (const { key } of [made, one, two]) {
      expect(refusal(() => ring.authenticate(key, HERE)).message).toContain("revoked");
    }
    await revokeKey(storage, made.id, sources, ACTOR);
    expect((await listKeys(storage)).filter(({ revokedAtMs }) => revokedAtMs === undefined)).toEqual([]);
  });

  test("a child that is written after its parent was revoked does not work", async () => {
    const { made, ring, child } = await make();
    const { key, id } = await child();
    await storage.query("UPDATE api_keys SET revoked_at_ms = 1 WHERE id = ?", [made.id]);
    await storage.query("UPDATE api_keys SET revoked_at_ms = NULL WHERE id = ?", [id]);
    // As written by a program that does not number changes.
    await countKeyChange(storage);
    await ring.refresh();
    expect(refusal(() => ring.authenticate(key, HERE)).message).toContain("revoked");
  });

  test("a key of the configuration creates keys, which end with it", async () => {
    const configured: StaticKey = {
      name: "ci",
      project: "default",
      key: "a-key-of-the-configuration",
      models: ["*"],
      scopes: ["keys:create"],
      networks: ["127.0.0.0/8"],
    };
    const ring = await open([configured]);
    const { key } = await create({ maker: ring.authenticate(configured.key, HERE) });
    await ring.refresh();
    expect(ring.authenticate(key, HERE).maker?.keyId).toBe("static:ci");
    expect(refusal(() => ring.authenticate(key, { address: "10.0.0.1" })).kind).toBe("forbidden");
    ring.reconfigure([], {});
    expect(refusal(() => ring.authenticate(key, HERE)).message).toContain("revoked");
  });

  test("keys that name each other as their parent do not work, and affect no other", async () => {
    const [one, two, good] = [await create(), await create(), await create()];
    await storage.query("UPDATE api_keys SET made_by = ? WHERE id = ?", [two.id, one.id]);
    await storage.query("UPDATE api_keys SET made_by = ? WHERE id = ?", [one.id, two.id]);
    const ring = await open();
    ring.authenticate(good.key, HERE);
    for (const { key } of [one, two]) expect(refusal(() => ring.authenticate(key, HERE)).kind).toBe("unauthenticated");
    expect((await revokeKey(storage, one.id, sources, ACTOR)).revokedAtMs).toBeNumber();
  });
});

describe("projects and the active gateway limits", () => {
  test("choices 9: limits and status of a project apply within a fifth of a second, for stored keys and configured ones", async () => {
    const { key } = await create({ project: "team-a" });
    const configured = { name: "ci", project: "team-a", key: "a-key-of-the-configuration", models: ["*"] };
    const ring = await open([configured]);
    let told = 0;
    ring.onLevels = () => {
      told += 1;
    };
    const stop = followingKeys(ring, storage, clock).start();
    const levels = () => [key, configured.key].map((secret) => ring.authenticate(secret, HERE).levels);
    expect(levels()).toEqual([[], []]);
    await updateProject(storage, "team-a", { limits: { concurrent: 2 }, name: "Team A" }, sources, ACTOR);
    await clock.pass(200);
    const level = { level: "project" as const, id: "team-a", name: "Team A", limits: { concurrent: 2 } };
    expect(levels()).toEqual([[level], [level]]);
    expect(ring.levels()).toEqual([level]);
    expect(told).toBe(1);
    await updateProject(storage, "team-a", { status: "suspended" }, sources, ACTOR);
    await clock.pass(200);
    for (const secret of [key, configured.key]) {
      const { kind, message } = refusal(() => ring.authenticate(secret, HERE));
      expect([kind, message]).toEqual(["forbidden", expect.stringContaining('project "team-a" is suspended')]);
    }
    await updateProject(storage, "team-a", { status: "active" }, sources, ACTOR);
    await clock.pass(200);
    expect(levels()).toEqual([[level], [level]]);
    stop();
  });

  test("a project's discounts apply to its keys, and change with it", async () => {
    await createProject(storage, { id: "team-a", discounts: [{ basis_points: 1_000 }] }, sources, ACTOR);
    const { key } = await create({ project: "team-a" });
    const ring = await open();
    const points = () => ring.authenticate(key, HERE).discounts?.of("acme/x", "alpha");
    expect(points()).toBe(1_000);
    const worse = { discounts: [{ basis_points: 0 }] };
    const refused = updateProject(storage, "team-a", worse, sources, ACTOR);
    expect(await refusalOf(refused)).toBe("invalid_request discounts[0].basis_points");
    await updateProject(storage, "team-a", { discounts: [] }, sources, ACTOR);
    await ring.refresh();
    expect(points()).toBeUndefined();
  });

  test("a project limit that only a newer program knows disables only that project's keys", async () => {
    const [odd, good] = [await create({ project: "odd" }), await create({ project: "good" })];
    await storage.query("UPDATE projects SET limits = ? WHERE id = 'odd'", ['{"imagesPerMinute":3}']);
    const ring = await open();
    ring.authenticate(good.key, HERE);
    expect(refusal(() => ring.authenticate(odd.key, HERE)).kind).toBe("unauthenticated");
  });

  test("the gateway's limits are the outermost level, and a reload replaces them", async () => {
    await createProject(storage, { id: "team-a", limits: { concurrent: 9 } }, sources, ACTOR);
    const { key } = await create({ project: "team-a", limits: { concurrent: 5 } });
    const ring = await open([], { requestsPerMinute: 100 });
    const shown = () => ring.authenticate(key, HERE).levels.map(({ level, limits }) => [level, limits]);
    expect(shown()).toEqual([
      ["key", { concurrent: 5 }],
      ["project", { concurrent: 9 }],
      ["gateway", { requestsPerMinute: 100 }],
    ]);
    ring.reconfigure([], {});
    expect(shown().map(([level]) => level)).toEqual(["key", "project"]);
  });
});

describe("last used", () => {
  test("H21: it is written in batches, outside calls, and never goes back", async () => {
    const [used, idle] = [await create({ name: "used" }), await create({ name: "idle" })];
    const ring = await open();
    const stop = followingKeys(ring, storage, clock).start();
    const shown = async () =>
      Object.fromEntries((await listKeys(storage)).map(({ name, lastUsedAtMs }) => [name, lastUsedAtMs]));
    for (let index = 0; index < 100; index += 1) ring.authenticate(used.key, HERE);
    expect(await shown()).toEqual({ used: undefined, idle: undefined });
    await clock.pass(10_500);
    const first = (await shown())["used"];
    expect(first).toBeWithin(clock.wallMs() - 1_000, clock.wallMs() + 1);
    await clock.pass(30_000);
    expect(await shown()).toEqual({ used: first, idle: undefined });
    ring.authenticate(used.key, HERE);
    await storage.query("UPDATE api_keys SET last_used_at_ms = ?", [Number.MAX_SAFE_INTEGER]);
    await ring.writeUsed();
    expect((await shown())["used"]).toBe(Number.MAX_SAFE_INTEGER);
    expect(refusal(() => ring.authenticate(`${idle.key}x`, HERE)).kind).toBe("unauthenticated");
    stop();
  });

  test("a failed write is repeated later", async () => {
    const { key } = await create();
    const ring = await open();
    ring.authenticate(key, HERE);
    await storage.query("ALTER TABLE api_keys RENAME TO away");
    await expect(ring.writeUsed()).rejects.toThrow();
    await storage.query("ALTER TABLE away RENAME TO api_keys");
    await ring.writeUsed();
    expect((await listKeys(storage))[0]?.lastUsedAtMs).toBeNumber();
  });
});
