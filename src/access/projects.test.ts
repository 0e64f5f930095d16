import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openMemoryStorage } from "../../testing/memory-storage.ts";
import { system } from "../base/system.ts";
import { GatewayError } from "../canon/error.ts";
import type { Storage } from "../storage/storage.ts";
import { listActs } from "./audit.ts";
import { readKeyRequest, readKeyUpdate } from "./key-input.ts";
import { createKey, revokeKey, rotateKey, updateKey } from "./keys.ts";
import { readProjectRequest, readProjectUpdate } from "./project-input.ts";
import { createProject, deleteProject, findProject, listProjects, updateProject } from "./projects.ts";

const ACTOR = { who: "operator:ada", address: "192.0.2.1" };

let storage: Storage;
beforeEach(async () => {
  storage = await openMemoryStorage(system.clock);
});
afterEach(() => storage.close());

const create = (body: unknown) => createProject(storage, readProjectRequest(body), system, ACTOR);
const update = (id: string, body: unknown) => updateProject(storage, id, readProjectUpdate(body), system, ACTOR);

async function refusalOf(work: () => Promise<unknown>): Promise<GatewayError> {
  try {
    await work();
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown;
    throw thrown;
  }
  throw new Error("it was not rejected");
}

describe("projects", () => {
  test("choices 9: a project has an id that is a slug and never changes, a name, limits and a status", async () => {
    await create({ id: "team-a", name: "Team A", limits: { requests_per_minute: 60, concurrent: 3 } });
    await update("team-a", { name: "Team α", limits: { requests_per_minute: null, budget_usd_per_day: 5 } });
    await update("team-a", { status: "suspended" });
    expect(await findProject(storage, "team-a")).toMatchObject({
      id: "team-a",
      name: "Team α",
      limits: { concurrent: 3, budgetUsdPerDay: 5 },
      discounts: [],
      status: "suspended",
    });
    expect((await refusalOf(() => update("team-a", { id: "team-b" }))).path).toBe("id");
    expect((await refusalOf(() => create({ id: "team-a" }))).code).toBe("project_exists");
  });

  test.each(["", "Team A", "-a", "a/b", "ä", "a".repeat(64), "a\n", "../x"])("%p is not a project id", async (id) => {
    expect((await refusalOf(() => create({ id }))).path).toBe("id");
    const key = { name: "k", project: id };
    expect((await refusalOf(() => createKey(storage, key, system, ACTOR))).path).toBe("project");
  });

  test("a project of an earlier version keeps its name as its id, and accepts keys", async () => {
    await storage.query("INSERT INTO projects (id, name, created_at_ms) VALUES ('Old Team', 'Old Team', 1)");
    await createKey(storage, { name: "k", project: "Old Team" }, system, ACTOR);
    expect((await listProjects(storage)).map(({ id }) => id)).toEqual(["Old Team"]);
  });

  test("invalid limits are rejected with their path, and change nothing", async () => {
    await create({ id: "team-a", limits: { concurrent: 1 } });
    for (const [name, value] of [
      ["requests_per_minute", -1],
      ["requests_per_minute", 0],
      ["requests_per_minute", 1.5],
      ["tokens_per_minute", 2 ** 53],
      ["tokens_per_minute", 1e308],
      ["concurrent", Number.NaN],
      ["budget_usd_per_day", -0.01],
      ["budget_usd_total", 9_000_001],
      ["budget_usd_total", Number.POSITIVE_INFINITY],
      ["speed", 1],
    ] as const) {
      const { kind, path } = await refusalOf(() => update("team-a", { limits: { [name]: value } }));
      expect([kind, path]).toEqual(["invalid_request", `limits.${name}`]);
    }
    expect((await refusalOf(() => update("team-a", { limits: { concurrent: "9" } }))).path).toBe("limits.concurrent");
    expect((await refusalOf(() => update("team-a", { limits: 3 }))).path).toBe("limits");
    expect((await refusalOf(() => update("team-a", { status: "deleted" }))).path).toBe("status");
    expect((await refusalOf(() => update("nowhere", { name: "x" }))).kind).toBe("not_found");
    expect((await findProject(storage, "team-a")).limits).toEqual({ concurrent: 1 });
  });

  test("a project can be deleted once its keys are revoked, and its id is never reused", async () => {
    await create({ id: "team-a" });
    const { id } = await createKey(storage, { name: "k", project: "team-a" }, system, ACTOR);
    const remove = () => deleteProject(storage, "team-a", system, ACTOR);
    expect((await refusalOf(remove)).code).toBe("project_in_use");
    await revokeKey(storage, id, system, ACTOR);
    await remove();
    expect(await listProjects(storage)).toEqual([]);
    expect((await refusalOf(remove)).kind).toBe("not_found");
    expect((await refusalOf(() => create({ id: "team-a" }))).message).toContain("deleted");
    const again = { name: "k", project: "team-a" };
    expect((await refusalOf(() => createKey(storage, again, system, ACTOR))).path).toBe("project");
  });
});

describe("audit", () => {
  test("every act on keys and projects is recorded with its actor, before and after, and no secret", async () => {
    await create({ id: "team-a" });
    await update("team-a", { limits: { concurrent: 3 } });
    const made = await createKey(storage, readKeyRequest({ name: "ci", project: "team-a" }), system, ACTOR);
    await updateKey(storage, made.id, readKeyUpdate({ limits: { concurrent: 2 }, strict: true }), system, ACTOR);
    const rotated = await rotateKey(storage, made.id, { overlapSeconds: 60 }, system, ACTOR);
    await revokeKey(storage, made.id, system, ACTOR);
    await revokeKey(storage, made.id, system, ACTOR);
    await deleteProject(storage, "team-a", system, ACTOR);
    const { acts } = await listActs(storage, {}, { limit: 100 });
    const told = acts.toSorted((one, other) => (one.id < other.id ? -1 : 1));
    expect(new Set(told.map(({ act }) => act))).toEqual(
      new Set([
        "project.create",
        "project.update",
        "key.create",
        "key.update",
        "key.rotate",
        "key.revoke",
        "project.delete",
      ]),
    );
    expect(told).toHaveLength(7);
    for (const act of told) expect(act).toMatchObject({ ...ACTOR, project: "team-a" });
    const of = (name: string) => told.find(({ act }) => act === name);
    expect(of("project.update")).toMatchObject({
      target: "team-a",
      before: { limits: {} },
      after: { limits: { concurrent: 3 } },
    });
    expect(of("key.update")).toMatchObject({
      target: made.id,
      before: { limits: {}, strict: false },
      after: { limits: { concurrent: 2 }, strict: true },
    });
    const written = JSON.stringify(await storage.query("SELECT * FROM audit"));
    for (const secret of [made.key, rotated.key]) {
      expect(written).not.toContain(secret);
      expect(written).not.toContain(new Bun.CryptoHasher("sha256").update(secret).digest("hex"));
    }
  });

  test("a failed change is not recorded, and a change that cannot be recorded is not made", async () => {
    await create({ id: "team-a" });
    await refusalOf(() => update("team-a", { limits: { concurrent: 0 } }));
    expect((await listActs(storage, {}, { limit: 9 })).acts).toHaveLength(1);
    await storage.query("ALTER TABLE audit RENAME TO lost");
    await expect(create({ id: "team-b" })).rejects.toThrow();
    expect((await listProjects(storage)).map(({ id }) => id)).toEqual(["team-a"]);
  });

  test("pages are bounded, newest first, and continue where the previous one ended", async () => {
    for (let index = 0; index < 5; index += 1) await create({ id: `team-${index}` });
    const seen: string[] = [];
    let after: string | undefined;
    for (let page = 0; page < 3; page += 1) {
      const { acts, next } = await listActs(storage, { act: "project.create" }, { limit: 2, after });
      expect(acts.length).toBeLessThanOrEqual(2);
      seen.push(...acts.map(({ target }) => target));
      after = next;
    }
    expect(after).toBeUndefined();
    expect(seen.toSorted()).toEqual(["team-0", "team-1", "team-2", "team-3", "team-4"]);
    expect((await listActs(storage, { target: "team-3" }, { limit: 9 })).acts).toHaveLength(1);
    expect((await listActs(storage, { who: "' OR 1=1 --" }, { limit: 9 })).acts).toEqual([]);
  });
});
