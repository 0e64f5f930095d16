import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createKey, type KeyRequest, revokeKey, rotateKey } from "../src/access/keys.ts";
import { createProject, updateProject } from "../src/access/projects.ts";
import { system } from "../src/base/system.ts";
import { DIALECT_NAMES } from "../src/canon/dialect-name.ts";
import { openStorage } from "../src/storage/open.ts";
import type { Storage } from "../src/storage/storage.ts";
import { eventually } from "../testing/eventually.ts";
import { callGateway, errorOf } from "./support/client-calls.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

const ACTOR = { who: "test" };
/** A price that makes each token cost something: a call of 1 output token at most reserves little. */
const PRICED = {
  id: "acme/priced",
  display_name: "Priced",
  context_length: 100_000,
  max_output_tokens: 16,
  input_modalities: ["text"],
  output_modalities: ["text"],
  reasoning: false,
  pricings: {
    prompt: [{ value: 1, unit: "perMTokens", currency: "USD" }],
    completion: [{ value: 1000, unit: "perMTokens", currency: "USD" }],
  },
  offers: [{ provider: "simulator", model: "standard" }],
};

let gateway: TestGateway;
let storage: Storage;
beforeAll(async () => {
  gateway = await startTestGateway({ config: { simulator: true, models: [PRICED] } });
  storage = await openStorage(`sqlite:${join(gateway.folder, "data/trivium.db")}`, system.clock);
});
afterAll(async () => {
  await storage.close();
  await gateway.stop();
});

/**
 * The gateway checks the storage for changes of other processes twice a second, completely: once it knows this key, it
 * knows all earlier ones.
 */
const noticed = async () => {
  const { key } = await createKey(storage, { name: "marker", project: "default" }, system, ACTOR);
  const headers = { authorization: `Bearer ${key}` };
  await eventually("the gateway to notice what another process wrote", async () => {
    const { status } = await fetch(`${gateway.url}/api/v1/generation?id=none`, { headers });
    return status !== 401;
  });
};

const make = async (request: Partial<KeyRequest>) => {
  const made = await createKey(storage, { name: "made", project: "default", ...request }, system, ACTOR);
  await noticed();
  return made;
};

const call = (key: string, body: object = {}, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({ model: "sim/standard", messages: [{ role: "user", content: "hi" }], ...body }),
  });

const keysApi = (key: string, method: string, path = "", body?: unknown) =>
  fetch(`${gateway.url}/api/v1/keys${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });

test("a key used outside its networks gets a 403 in every protocol that names the address", async () => {
  const { key } = await make({ networks: ["192.0.2.0/24"] });
  for (const dialect of DIALECT_NAMES) {
    const { status, message } = await errorOf(await callGateway(gateway.url, dialect, key));
    expect([dialect, status]).toEqual([dialect, 403]);
    expect(message).toContain("may not be used from 127.0.0.1; it may be used from: 192.0.2.0/24.");
  }
  // A stranger's claim about its address is ignored.
  const claimed = await call(key, {}, { "x-forwarded-for": "192.0.2.1" });
  expect(claimed.status).toBe(403);
  await claimed.text();
});

test("choices 9: a project's limits apply to all its keys together, the error names it, and suspending it ends all calls", async () => {
  await createProject(storage, { id: "team-a", limits: { requests_per_minute: 3 } }, system, ACTOR);
  const [one, two] = [await make({ project: "team-a" }), await make({ project: "team-a" })];
  const first = await call(one.key);
  expect([first.status, first.headers.get("x-ratelimit-remaining-requests")]).toEqual([200, "2"]);
  await first.text();
  for (const { key } of [two, one]) await (await call(key)).text();
  const { status, message } = await errorOf(await call(two.key));
  expect([status, message]).toEqual([
    429,
    expect.stringContaining('The project "team-a" has reached its limit of 3 requests'),
  ]);
  await updateProject(storage, "team-a", { limits: { requests_per_minute: null }, status: "suspended" }, system, ACTOR);
  await noticed();
  expect((await errorOf(await call(one.key))).message).toContain('project "team-a" is suspended');
  await updateProject(storage, "team-a", { status: "active" }, system, ACTOR);
  await noticed();
  const again = await call(one.key);
  expect([again.status, again.headers.get("x-ratelimit-limit-requests")]).toEqual([200, null]);
  await again.text();
});

test("rotation: both secrets work during the overlap, and a revocation ends both", async () => {
  const old = await make({});
  const rotated = await rotateKey(storage, old.id, { overlapSeconds: 60 }, system, ACTOR);
  await noticed();
  for (const key of [old.key, rotated.key]) {
    const answered = await call(key);
    expect(answered.status).toBe(200);
    await answered.text();
  }
  await revokeKey(storage, old.id, system, ACTOR);
  await noticed();
  for (const key of [old.key, rotated.key]) expect((await errorOf(await call(key))).status).toBe(401);
});

describe("S05: POST, GET and DELETE /api/v1/keys", () => {
  test("a key creates, lists and revokes keys, which work at once and have no more rights than it has", async () => {
    const maker = await make({ models: ["sim/*"], scopes: ["keys:create"], limits: { requestsPerMinute: 100 } });
    const made = await keysApi(maker.key, "POST", "", { name: "child", limits: { concurrent: 2 } });
    expect(made.status).toBe(201);
    const { data } = (await made.json()) as { data: { id: string; key: string; made_by: string; limits: object } };
    expect(data).toMatchObject({ made_by: maker.id, limits: { concurrent: 2, requests_per_minute: 100 } });
    const answered = await call(data.key);
    expect(answered.status).toBe(200);
    await answered.text();
    expect((await errorOf(await call(data.key, { model: "acme/priced" }))).status).toBe(403);
    for (const [body, path] of [
      [{ name: "x", models: ["*"] }, "models"],
      [{ name: "x", project: "other" }, "project"],
      [{ name: "x", limits: { requests_per_minute: 101 } }, "limits.requests_per_minute"],
      [{ name: "x", scopes: ["keys:create"] }, "scopes"],
    ] as const) {
      const { status, raw } = await errorOf(await keysApi(maker.key, "POST", "", body));
      expect([status, JSON.parse(raw).error.param]).toEqual([403, path]);
    }
    for (const body of [{}, [], { name: "x", limits: { requests_per_minute: -1 } }, { name: "x", limit: {} }]) {
      expect((await errorOf(await keysApi(maker.key, "POST", "", body))).status).toBe(400);
    }
    const listed = (await (await keysApi(maker.key, "GET")).json()) as { data: { id: string }[] };
    expect(listed.data.map(({ id }) => id)).toEqual([data.id]);
    expect(JSON.stringify(listed)).not.toContain(data.key);
    expect((await errorOf(await keysApi(data.key, "GET"))).status).toBe(403);
    expect((await keysApi(maker.key, "DELETE", `/${data.id}`)).status).toBe(200);
    expect((await errorOf(await call(data.key))).status).toBe(401);
  });

  test("S09: another key's children look nonexistent; a key without the scope gets a 403", async () => {
    const [one, two] = [await make({ scopes: ["keys:create"] }), await make({ scopes: ["keys:create"] })];
    const { data } = (await (await keysApi(one.key, "POST", "", { name: "child" })).json()) as { data: { id: string } };
    for (const method of ["GET", "DELETE"]) {
      expect((await errorOf(await keysApi(two.key, method, `/${data.id}`))).status).toBe(404);
      expect((await errorOf(await keysApi(two.key, method, `/${one.id}`))).status).toBe(404);
    }
    expect((await keysApi(one.key, "GET", `/${data.id}`)).status).toBe(200);
    const plain = await make({});
    for (const [method, body] of [
      ["GET", undefined],
      ["POST", { name: "x" }],
    ] as const) {
      expect((await errorOf(await keysApi(plain.key, method, "", body))).status).toBe(403);
    }
    expect((await errorOf(await keysApi("", "GET"))).status).toBe(401);
  });

  test("revoking a key revokes its children", async () => {
    const maker = await make({ scopes: ["keys:create"] });
    const { data } = (await (await keysApi(maker.key, "POST", "", { name: "c" })).json()) as { data: { key: string } };
    await revokeKey(storage, maker.id, system, ACTOR);
    await noticed();
    expect((await errorOf(await call(data.key))).status).toBe(401);
  });
});

test("limits at the root of trivium.yaml apply to all keys, and a reload changes them", async () => {
  const write = (limits: object) => {
    const sections = JSON.parse(readFileSync(gateway.configFile, "utf8")) as object;
    writeFileSync(gateway.configFile, JSON.stringify({ ...sections, limits }, null, 1));
    gateway.app.reload();
  };
  write({ requests_per_minute: 1 });
  const [one, two] = [await make({}), await make({})];
  await (await call(one.key)).text();
  const { status, message } = await errorOf(await call(two.key));
  expect([status, message]).toEqual([429, expect.stringContaining("This gateway as a whole")]);
  write({});
  const again = await call(two.key);
  expect(again.status).toBe(200);
  await again.text();
});

describe("H23: 2,000 concurrent calls over HTTP", () => {
  const MANY = 2_000;
  const AT_ONCE = 250;

  async function all(keys: readonly string[]): Promise<Map<number, number>> {
    const statuses = new Map<number, number>();
    let next = 0;
    const client = async () => {
      for (let index = next++; index < MANY; index = next++) {
        const response = await call(keys[index % keys.length] ?? "", { model: "acme/priced", max_tokens: 1 });
        await response.arrayBuffer();
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, client));
    return statuses;
  }

  const spentBy = async (column: "project" | "key_id", id: string) => {
    const [row] = await storage.query(`SELECT SUM(cost_nano_usd) AS spent FROM receipts WHERE ${column} = ?`, [id]);
    return Number(row?.["spent"] ?? 0);
  };

  test("with a budget for about 500, of a key and of a project, it is never exceeded, to the nano-dollar", async () => {
    const probe = await make({ project: "probe" });
    await (await call(probe.key, { model: "acme/priced", max_tokens: 1 })).text();
    const budgetNano = 500 * (await spentBy("project", "probe"));
    const budget = budgetNano / 1e9;
    await createProject(storage, { id: "team-b", limits: { budget_usd_total: budget } }, system, ACTOR);
    const ofProject = [await make({ project: "team-b" }), await make({ project: "team-b" })];
    const ofKey = await make({ limits: { budgetUsdTotal: budget } });
    const shared = await all(ofProject.map(({ key }) => key));
    const alone = await all([ofKey.key]);
    for (const [statuses, spent] of [
      [shared, await spentBy("project", "team-b")],
      [alone, await spentBy("key_id", ofKey.id)],
    ] as const) {
      expect([...statuses.keys()].toSorted()).toEqual([200, 402]);
      expect(spent).toBeLessThanOrEqual(budgetNano);
      // The reserved cost of a call is slightly above its actual cost, so the last one or two may be refused.
      expect(statuses.get(200)).toBeWithin(490, 501);
    }
  });

  test("with 500 requests a minute for a project, exactly 500 are admitted", async () => {
    await createProject(storage, { id: "team-c", limits: { requests_per_minute: 500 } }, system, ACTOR);
    const keys = [await make({ project: "team-c" }), await make({ project: "team-c" })];
    const statuses = await all(keys.map(({ key }) => key));
    expect(Object.fromEntries(statuses)).toEqual({ 200: 500, 429: 1_500 });
  });
});
