import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { openMemoryStorage } from "../../testing/memory-storage.ts";
import { system } from "../base/system.ts";
import { GatewayError } from "../canon/error.ts";
import type { Storage } from "../storage/storage.ts";
import { selectProjects } from "../storage/tables/projects.ts";
import { readKeyRouting } from "./key-routing.ts";
import { checkSubset } from "./key-subset.ts";
import { createKey, type KeyRequest, type KeyUpdate, listKeys, revokeKey, updateKey } from "./keys.ts";
import { readLimits } from "./limits.ts";
import { matches } from "./model-glob.ts";
import { type Principal, principalOf } from "./principal.ts";

const ACTOR = { who: "test" };

const maker: Principal = {
  keyId: "key_maker",
  keyName: "maker",
  project: "default",
  models: ["acme/*", "other/one"],
  protocols: ["chat", "messages"],
  limits: { requestsPerMinute: 60, budgetUsdPerDay: 5 },
  levels: [],
  scopes: ["keys:create"],
  expiresAtMs: Date.UTC(2100, 0),
};

async function kindOf(promise: Promise<unknown>): Promise<string> {
  const thrown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  return thrown instanceof GatewayError ? `${thrown.kind} ${thrown.path ?? ""}`.trim() : `not rejected: ${thrown}`;
}

describe("keys", () => {
  let storage: Storage;
  beforeEach(async () => {
    storage = await openMemoryStorage(system.clock);
  });
  afterEach(() => storage.close());

  test("0061: a child key has its parent's tags in addition to its own", async () => {
    const tagsOf = async (name: string) => (await listKeys(storage)).find((key) => key.name === name)?.tags;
    const request = { project: "default", scopes: ["keys:create"], tags: ["team-a", "team-a"] };
    const { id } = await createKey(storage, { name: "mother", ...request }, system, ACTOR);
    expect(await tagsOf("mother")).toEqual(["team-a"]);
    const stored = (await listKeys(storage)).find((key) => key.id === id);
    if (stored === undefined) throw new Error("the key is stored");
    const mother = principalOf(stored);
    await createKey(storage, { name: "child", project: "default", maker: mother, tags: ["user=7"] }, system, ACTOR);
    expect(await tagsOf("child")).toEqual(["team-a", "user=7"]);
    await updateKey(storage, "child", { tags: [] }, system, ACTOR);
    expect(await tagsOf("child")).toEqual(["team-a"]);
    await updateKey(storage, "mother", { tags: ["team-b"] }, system, ACTOR);
    const [maker, child] = ["mother", "child"].map(async (name) =>
      (await listKeys(storage)).find((key) => key.name === name),
    );
    const [first, second] = [await maker, await child];
    if (first === undefined || second === undefined) throw new Error("both are stored");
    expect(principalOf(second, { maker: principalOf(first), gateway: {} }).tags).toEqual(["team-b", "team-a"]);
    const acts = await storage.query("SELECT act, before_act, after_act FROM audit ORDER BY id");
    // Acts of the same millisecond have no order.
    expect(acts).toContainEqual({
      act: "key.update",
      before_act: '{"tags":["team-a"]}',
      after_act: '{"tags":["team-b"]}',
    });
  });

  test.each([
    ["too many", Array.from({ length: 11 }, (_, index) => `t${index}`), "tags"],
    ["a space", ["a b"], "tags[0]"],
    ["nothing", ["a", ""], "tags[1]"],
    ["too long", ["a".repeat(65)], "tags[0]"],
    ["markup", ["<b>"], "tags[0]"],
  ])("0061: invalid tags of a key are rejected: %s", async (_, tags, path) => {
    const made = createKey(storage, { name: "x", project: "default", tags }, system, ACTOR);
    expect(await kindOf(made)).toBe(`invalid_request ${path}`);
  });

  test("S05: a key cannot create a key with more access", async () => {
    const child = (changes: Partial<KeyRequest>): Promise<unknown> =>
      createKey(storage, { name: "child", project: "default", maker, ...changes }, system, ACTOR);
    expect(await kindOf(child({ models: ["*"] }))).toBe("forbidden models");
    expect(await kindOf(child({ models: ["acme/a", "acme*"] }))).toBe("forbidden models");
    expect(await kindOf(child({ models: ["other/*"] }))).toBe("forbidden models");
    expect(await kindOf(child({ protocols: ["chat", "genai"] }))).toBe("forbidden protocols");
    expect(await kindOf(child({ project: "theirs" }))).toBe("forbidden project");
    expect(await kindOf(child({ expiresAtMs: Date.UTC(2100, 1) }))).toBe("forbidden expires_at");
    expect(await kindOf(child({ limits: { requestsPerMinute: 61 } }))).toBe("forbidden limits.requests_per_minute");
    expect(await kindOf(child({ limits: { budgetUsdPerDay: 5.01 } }))).toBe("forbidden limits.budget_usd_per_day");
    expect(await kindOf(child({ providerObjects: true }))).toBe("forbidden provider_objects");
    expect(await listKeys(storage)).toEqual([]);
    const { expiresAtMs: _expiry, protocols: _protocols, scopes: _scopes, ...unbound } = maker;
    expect(() => checkSubset(unbound, maker)).toThrow(/protocols/);
    expect(() => checkSubset({ ...maker, scopes: [], limits: {} }, maker)).toThrow(/limits/);
  });

  test("S05: an update cannot give a key more access than its parent", async () => {
    const { id: makerId } = await createKey(
      storage,
      {
        name: "maker",
        project: "default",
        models: ["acme/*"],
        limits: { concurrent: 3 },
      },
      system,
      ACTOR,
    );
    const principal = { ...maker, keyId: makerId, models: ["acme/*"], limits: { concurrent: 3 } };
    const { id } = await createKey(
      storage,
      {
        name: "child",
        project: "default",
        maker: principal,
        models: ["acme/a"],
      },
      system,
      ACTOR,
    );
    expect(await kindOf(updateKey(storage, id, { models: ["*"] }, system, ACTOR))).toBe("forbidden models");
    expect(await kindOf(updateKey(storage, id, { limits: { concurrent: null } }, system, ACTOR))).toBe(
      "forbidden limits.concurrent",
    );
    expect(
      await updateKey(storage, id, { models: ["acme/b"], limits: { concurrent: 2 } }, system, ACTOR),
    ).toMatchObject({
      models: ["acme/b"],
      limits: { concurrent: 2 },
      madeBy: makerId,
    });
  });

  test("choices 8: the routing of a key is stored, inherited, changed field by field and removed", async () => {
    const settings = { type: "round_robin", fallback: "two", survive: true, deadline_ms: 9_000, sticky: "off" };
    const { id } = await createKey(
      storage,
      { name: "routed", project: "default", scopes: ["keys:create"], routing: readKeyRouting(settings) },
      system,
      ACTOR,
    );
    const stored = (await listKeys(storage)).find((key) => key.id === id);
    if (stored === undefined) throw new Error("the key was not stored");
    expect(stored.routing).toEqual(settings);
    const routed = principalOf(stored);
    expect(routed.routing).toMatchObject({
      preference: { type: "round_robin", fallback: { provider: "two" }, sticky: false },
      survive: true,
      deadlineMs: 9_000,
    });
    const child = await createKey(storage, { name: "child", project: "default", maker: routed }, system, {
      who: "test",
    });
    expect((await listKeys(storage)).find((key) => key.id === child.id)?.routing).toEqual(settings);

    const change = (routing: Record<string, unknown>) => updateKey(storage, id, { routing }, system, ACTOR);
    expect((await change({ type: "priority", survive: null })).routing).toEqual({
      type: "priority",
      fallback: "two",
      deadline_ms: 9_000,
      sticky: "off",
    });
    const gone = await change({ type: null, fallback: null, deadline_ms: null, sticky: null });
    expect(gone.routing).toBeUndefined();
    expect((await listKeys(storage)).find((key) => key.id === id)?.routing).toBeUndefined();
    expect(change({ speed: null })).rejects.toThrow(
      /routing\.speed is not a setting; expected one of type, primary_factor/,
    );
  });

  test.each([
    ["type", "fastest", "must be one of priority, round_robin, least_latency"],
    ["primary_factor", "beauty", "must be one of cost, speed, quality"],
    ["fallback", "", "must be true, false, the name of a provider or the id of a model"],
    ["survive", "yes", "must be true or false"],
    ["deadline_ms", 0, "must be a whole number from 1 to 86400000"],
    ["max_attempts", 101, "must be a whole number from 1 to 100"],
    ["sticky", true, "must be one of prompt_cache, off"],
    ["providers", ["one"], "is not a setting; expected one of type,"],
  ])("choices 8: routing.%s may not be %p", (name, value, says) => {
    expect(() => readKeyRouting({ [name]: value })).toThrow(`routing.${name} ${says}`);
  });

  test("choices 9: limits are written in snake_case; each limit counts once in either spelling", async () => {
    expect(readLimits({ requests_per_minute: 60, budget_usd_total: 1.5 })).toEqual({
      requestsPerMinute: 60,
      budgetUsdTotal: 1.5,
    });
    expect(() => readLimits({ requests_per_minute: 60, requestsPerMinute: 600 })).toThrow(
      /limits\.requests_per_minute is set twice/,
    );
    expect(() => readLimits({ speed: 1 })).toThrow(
      /limits\.speed is not a limit; expected one of requests_per_minute, /,
    );
  });

  test("S05: omitted settings are inherited from the parent, and those within its limits are granted", async () => {
    await createKey(storage, { name: "same", project: "default", maker }, system, ACTOR);
    await createKey(
      storage,
      {
        name: "less",
        project: "default",
        maker,
        models: ["acme/*-mini", "other/one"],
        protocols: ["chat"],
        limits: { concurrent: 2, requestsPerMinute: 1 },
      },
      system,
      ACTOR,
    );
    // Two keys of the same millisecond are listed in the order of their random ids, so the names distinguish them.
    const made = await listKeys(storage);
    const [same, less] = ["same", "less"].map((name) => made.find((key) => key.name === name));
    expect(same).toMatchObject({
      models: maker.models,
      protocols: ["chat", "messages"],
      limits: { ...maker.limits },
      expiresAtMs: Date.UTC(2100, 0),
      madeBy: "key_maker",
    });
    expect(less).toMatchObject({
      models: ["acme/*-mini", "other/one"],
      protocols: ["chat"],
      limits: { requestsPerMinute: 1, concurrent: 2, budgetUsdPerDay: 5 },
    });
    expect(JSON.stringify([same, less])).not.toContain("hash");
  });

  test("S05: a granted pattern never matches a model that the parent's patterns do not", () => {
    const pattern = fc.string({ unit: fc.constantFrom("a", "b", "*"), minLength: 1, maxLength: 5 });
    const model = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 8 });
    fc.assert(
      fc.property(pattern, pattern, model, (makers, childs, id) => {
        const scopes = { project: "p", limits: {} };
        let granted = true;
        try {
          checkSubset({ ...scopes, models: [childs] }, { ...scopes, models: [makers] });
        } catch {
          granted = false;
        }
        fc.pre(granted && matches(childs, id));
        expect(matches(makers, id)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test("an invalid request is rejected with the field", async () => {
    const make = (changes: Partial<KeyRequest>): Promise<string> =>
      kindOf(createKey(storage, { name: "n", project: "p", ...changes }, system, ACTOR));
    expect(await make({ name: "" })).toBe("invalid_request name");
    // Terminal escape sequences, line breaks, text directions, and half a surrogate pair.
    for (const hostile of ["a\u001b[2J", "a\u009b2J", "a\u2028b", "a\u202eb", "a\u2066b", "a\ud800"])
      expect([hostile, await make({ name: hostile })]).toEqual([hostile, "invalid_request name"]);
    expect(await make({ name: "a\0b" })).toBe("invalid_request name");
    expect(await make({ project: "x".repeat(101) })).toBe("invalid_request project");
    expect(await make({ models: [] })).toBe("invalid_request models");
    expect(await make({ protocols: [] })).toBe("invalid_request protocols");
    expect(await make({ expiresAtMs: Date.now() - 1 })).toBe("invalid_request expires_at");
    expect(await make({ limits: { requestsPerMinute: 0.5 } })).toBe("invalid_request limits.requests_per_minute");
    expect(await make({ limits: { budgetUsdTotal: Number.NaN } })).toBe("invalid_request limits.budget_usd_total");
    expect(await listKeys(storage)).toEqual([]);
    expect(await selectProjects(storage)).toEqual([]);
  });

  test("the bounds of names, patterns, limits and expiry are themselves allowed", async () => {
    const nowMs = Date.UTC(2026, 0, 1);
    const sources = { ...system, clock: { ...system.clock, wallMs: () => nowMs } };
    const make = (changes: Partial<KeyRequest>): Promise<unknown> =>
      createKey(storage, { name: "n", project: "p", ...changes }, sources, ACTOR);
    const patterns = (count: number, length: number) =>
      Array.from({ length: count }, (_, index) => `${index}/`.padEnd(length, "x"));
    await make({ name: "n".repeat(100), models: patterns(100, 200), expiresAtMs: nowMs + 1 });
    await make({ limits: { requestsPerMinute: 1, budgetUsdTotal: 0, budgetUsdPerDay: 9_000_000 } });
    expect(await kindOf(make({ name: "n".repeat(101) }))).toBe("invalid_request name");
    expect(await kindOf(make({ models: patterns(101, 5) }))).toBe("invalid_request models");
    expect(await kindOf(make({ models: patterns(2, 201) }))).toBe("invalid_request models");
    expect(await kindOf(make({ models: ["acme/*", ""] }))).toBe("invalid_request models");
    expect(await kindOf(make({ protocols: ["chat", "telex" as "chat"] }))).toBe("invalid_request protocols");
    expect(await kindOf(make({ expiresAtMs: nowMs }))).toBe("invalid_request expires_at");
    expect(await kindOf(make({ limits: { budgetUsdPerDay: 9_000_001 } }))).toBe(
      "invalid_request limits.budget_usd_per_day",
    );
    expect(await kindOf(make({ limits: { budgetUsdTotal: -1 } }))).toBe("invalid_request limits.budget_usd_total");
    expect(await kindOf(make({ limits: { concurrent: 0 } }))).toBe("invalid_request limits.concurrent");
    expect(await listKeys(storage)).toHaveLength(2);
  });

  test("S05: a child may have exactly what its parent has", () => {
    expect(() => checkSubset({ ...maker, scopes: [] }, maker)).not.toThrow();
    // It cannot create keys in turn.
    expect(() => checkSubset(maker, maker)).toThrow(/scopes/);
  });

  test("S05: the child of a strict key is strict, and a child may be strict without its parent", async () => {
    const strict = async (changes: Partial<KeyRequest>): Promise<boolean | undefined> => {
      const { id } = await createKey(storage, { name: "n", project: "default", ...changes }, system, ACTOR);
      return (await listKeys(storage)).find((key) => key.id === id)?.strict;
    };
    expect(await strict({ maker: { ...maker, strict: true } })).toBe(true);
    expect(await strict({ maker, strict: true })).toBe(true);
    expect(await strict({ strict: true })).toBe(true);
    expect(await strict({ maker })).toBeFalsy();
  });

  test("an update changes only the fields it names; null removes a limit", async () => {
    const expiresAtMs = Date.UTC(2100, 0);
    const bounds = { models: ["acme/*"], protocols: ["chat"] as const, strict: true, expiresAtMs };
    const limits = { concurrent: 3, budgetUsdTotal: 1 };
    const { id } = await createKey(storage, { name: "ci", project: "default", ...bounds, limits }, system, {
      who: "test",
    });
    const stored = async () => (await listKeys(storage)).find((key) => key.id === id);
    expect(await updateKey(storage, id, {}, system, ACTOR)).toMatchObject({ name: "ci", ...bounds, limits });
    expect(await stored()).toMatchObject({ name: "ci", ...bounds, limits });
    await updateKey(storage, id, { name: "renamed", models: ["*"], protocols: ["messages"] }, system, ACTOR);
    expect(await stored()).toMatchObject({
      ...bounds,
      name: "renamed",
      models: ["*"],
      protocols: ["messages"],
      limits,
    });
    const limitsChange = { concurrent: null, requests_per_minute: 5 };
    const bare = await updateKey(
      storage,
      "renamed",
      { protocols: null, expiresAtMs: null, strict: false, limits: limitsChange },
      system,
      ACTOR,
    );
    expect(bare).toEqual({ ...bare, id, limits: { budgetUsdTotal: 1, requestsPerMinute: 5 } });
    for (const gone of ["protocols", "expiresAtMs", "strict"]) expect(bare).not.toHaveProperty(gone);
    const { strict, ...kept } = (await stored()) ?? {};
    expect(strict).toBeFalsy();
    expect(kept).toEqual(bare);
  });

  test("an invalid update is rejected with the field, and changes nothing", async () => {
    const { id } = await createKey(storage, { name: "ci", project: "default" }, system, ACTOR);
    const before = await listKeys(storage);
    const change = (update: KeyUpdate): Promise<string> => kindOf(updateKey(storage, id, update, system, ACTOR));
    expect(await change({ name: "" })).toBe("invalid_request name");
    expect(await change({ models: [] })).toBe("invalid_request models");
    expect(await change({ protocols: [] })).toBe("invalid_request protocols");
    expect(await change({ expiresAtMs: 1 })).toBe("invalid_request expires_at");
    expect(await change({ limits: { concurrent: 0 } })).toBe("invalid_request limits.concurrent");
    expect(await change({ limits: { speed: null } })).toBe("invalid_request limits.speed");
    expect(await listKeys(storage)).toEqual(before);
    await revokeKey(storage, id, system, ACTOR);
    expect(await kindOf(updateKey(storage, id, { name: "x" }, system, ACTOR))).toBe("invalid_request");
  });

  test("revoking takes an id or a name that only one valid key has", async () => {
    const one = await createKey(storage, { name: "twin", project: "a" }, system, ACTOR);
    const two = await createKey(storage, { name: "twin", project: "b" }, system, ACTOR);
    expect(await kindOf(revokeKey(storage, "twin", system, ACTOR))).toBe("invalid_request");
    expect(await kindOf(revokeKey(storage, "' OR 1=1 --", system, ACTOR))).toBe("not_found");
    expect(
      (await revokeKey(storage, one.id, { ...system, clock: { ...system.clock, wallMs: () => 77 } }, ACTOR))
        .revokedAtMs,
    ).toBe(77);
    expect((await revokeKey(storage, "twin", system, ACTOR)).id).toBe(two.id);
    expect((await revokeKey(storage, one.id, system, ACTOR)).revokedAtMs).toBe(77);
    expect((await listKeys(storage, { project: "b" })).map((key) => key.id)).toEqual([two.id]);
  });

  test("a key whose name is another key's id does not hide that key", async () => {
    const one = await createKey(storage, { name: "first", project: "a" }, system, ACTOR);
    const two = await createKey(storage, { name: one.id, project: "a" }, system, ACTOR);
    expect((await revokeKey(storage, one.id, system, ACTOR)).id).toBe(one.id);
    expect((await listKeys(storage)).find((key) => key.id === two.id)?.revokedAtMs).toBeUndefined();
  });
});
