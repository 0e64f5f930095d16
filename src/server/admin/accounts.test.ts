import { describe, expect, test } from "bun:test";
import { ADMIN_SECRET, AdminHarness } from "../../../testing/admin-harness.ts";
import { plainAnswer, plainUsage } from "../../../testing/plain-answer.ts";
import { DEFAULT_OVERLAP_SECONDS } from "../../access/keys.ts";
import { withoutAbsent } from "../../base/without-absent.ts";

const asAdmin = { secret: ADMIN_SECRET };
const ANSWER = plainAnswer("chat", { text: "Hello", usage: plainUsage("chat", 1_000_000, 0) });

interface Made {
  id: string;
  key: string;
}

async function started() {
  const admin = await AdminHarness.start();
  for (const id of ["red", "blue"]) {
    const answer = await admin.ask("POST", "/api/projects", { ...asAdmin, body: { id } });
    expect([answer.status, answer.text]).toEqual([201, expect.stringContaining(id)]);
  }
  const make = async (secret: string, body: object) =>
    (await admin.ask("POST", "/api/keys", { secret, body })).json["data"] as Made;
  return { admin, make, ofRed: await admin.operator("project", "red") };
}

const listOf = (json: Record<string, unknown>) => json["data"] as Record<string, unknown>[];

describe("choices 10: projects, keys and the audit log", () => {
  test("S09: a project operator reaches nothing of another project, by any route", async () => {
    const { admin, make, ofRed } = await started();
    const red = await make(ofRed, { name: "r" });
    const blue = await make(ADMIN_SECRET, { name: "b", project: "blue" });
    const ask = (method: string, path: string, body?: object) =>
      admin.ask(method, path, { secret: ofRed, ...withoutAbsent({ body }) });
    expect(listOf((await ask("GET", "/api/keys")).json).map(({ id }) => id)).toEqual([red.id]);
    expect(listOf((await ask("GET", "/api/projects")).json).map(({ id }) => id)).toEqual(["red"]);
    for (const [method, path, body] of [
      ["GET", `/api/keys/${blue.id}`],
      ["PATCH", `/api/keys/${blue.id}`, { name: "mine" }],
      ["DELETE", `/api/keys/${blue.id}`],
      ["DELETE", "/api/keys/b"],
      ["POST", `/api/keys/${blue.id}/rotate`],
      ["GET", "/api/projects/blue"],
      ["GET", "/api/projects/none"],
    ] as const) {
      expect([path, (await ask(method, path, body)).status]).toEqual([path, 404]);
    }
    for (const path of ["/api/keys?project=blue", "/api/usage?project=blue", "/api/usage/export?project=blue"]) {
      expect([path, (await ask("GET", path)).status]).toEqual([path, 403]);
    }
    expect((await ask("POST", "/api/keys", { name: "x", project: "blue" })).status).toBe(403);
    admin.gateway.upstream.play(admin.gateway.upstream.json(ANSWER));
    for (const { key } of [red, blue]) await admin.gateway.post("/api/v1/chat/completions", CALL, key);
    const rows = listOf((await ask("GET", "/api/usage?by=key")).json);
    expect(rows.map(({ groups, calls }) => [groups, calls])).toEqual([[[red.id], 1]]);
    const exported = (await ask("GET", "/api/usage/export?format=jsonl")).text.trim().split("\n");
    expect(exported.length).toBe(1);
    expect(exported[0]).toContain(red.id);
  });

  test("choices 10: the old secret of a rotated key works for the same 24 hours as on the command line", async () => {
    const { admin, make } = await started();
    const made = await make(ADMIN_SECRET, { name: "k", project: "red" });
    const rotated = await admin.ask("POST", `/api/keys/${made.id}/rotate`, asAdmin);
    const { previous_until } = rotated.json["data"] as { previous_until: string };
    const overlapMs = Date.parse(previous_until) - Math.floor(admin.clock.wallMs());
    expect(overlapMs).toBe(DEFAULT_OVERLAP_SECONDS * 1_000);
  });

  test("a key is changed, rotated with an overlap, and revoked; each act is recorded, without secrets", async () => {
    const { admin, make } = await started();
    const { upstream } = admin.gateway;
    upstream.play(upstream.json(ANSWER));
    const made = await make(ADMIN_SECRET, { name: "k", project: "red", limits: { requests_per_minute: 5 } });
    const path = `/api/keys/${made.id}`;
    const patched = await admin.ask("PATCH", path, { ...asAdmin, body: { limits: { requests_per_minute: null } } });
    expect([patched.status, (patched.json["data"] as { limits: object }).limits]).toEqual([200, {}]);
    const rotated = (await admin.ask("POST", `${path}/rotate`, { ...asAdmin, body: { overlap_seconds: 60 } })).json[
      "data"
    ] as Made;
    const call = async (key: string) => (await admin.gateway.post("/api/v1/chat/completions", CALL, key)).status;
    expect([await call(made.key), await call(rotated.key)]).toEqual([200, 200]);
    await admin.clock.pass(61_000);
    expect([await call(made.key), await call(rotated.key)]).toEqual([401, 200]);
    expect((await admin.ask("DELETE", path, asAdmin)).status).toBe(200);
    expect(await call(rotated.key)).toBe(401);
    const audit = await admin.ask("GET", `/api/audit?target=${made.id}`, asAdmin);
    expect(listOf(audit.json).map(({ act, who, address }) => [act, who, address])).toEqual(
      ["key.revoke", "key.rotate", "key.update", "key.create"].map((act) => [act, "operator:admin", "127.0.0.1"]),
    );
    for (const secret of [made.key, rotated.key]) expect(audit.text).not.toContain(secret);
    expect((await admin.ask("GET", "/api/audit?act=project.create&limit=1", asAdmin)).json["next"]).toBeString();
  });

  test("configured keys and their projects are listed, and can only be changed in the file", async () => {
    const admin = await AdminHarness.start({
      config: {
        keys: [{ name: "ci", project: "builds", key: "a-key-of-the-configuration-file", limits: { concurrent: 3 } }],
      },
    });
    const ask = (method: string, path: string, body?: object) =>
      admin.ask(method, path, { ...asAdmin, ...withoutAbsent({ body }) });
    const [listed] = listOf((await ask("GET", "/api/keys?project=builds")).json);
    expect(listed).toMatchObject({
      id: "static:ci",
      from: "file",
      name: "ci",
      limits: { concurrent: 3 },
      created_at: null,
    });
    expect(JSON.stringify(listed)).not.toContain("a-key-of-the-configuration-file");
    const shown = (await ask("GET", "/api/keys/static:ci")).json["data"];
    expect(shown).toEqual({ ...listed, last_24h: { calls: 0, failures: 0, refusals: 0 } });
    expect(listed?.["spent_nano_usd"]).toMatchObject({ total: expect.any(Number) });
    const projects = listOf((await ask("GET", "/api/projects")).json);
    expect(projects.find(({ id }) => id === "builds")).toMatchObject({ from: "file", created_at: null });
    expect((await ask("GET", "/api/projects/builds")).json["data"]).toMatchObject({ id: "builds", from: "file" });
    for (const [method, path, body, where] of [
      ["PATCH", "/api/keys/static:ci", { name: "x" }, "configuration file"],
      ["DELETE", "/api/keys/static:ci", undefined, "configuration file"],
      ["POST", "/api/keys/static:ci/rotate", undefined, "configuration file"],
      ["PATCH", "/api/projects/builds", { name: "x" }, "POST /api/projects"],
      ["DELETE", "/api/projects/builds", undefined, "POST /api/projects"],
    ] as const) {
      const { status, text } = await ask(method, path, body);
      expect([path, status, text]).toEqual([path, 400, expect.stringContaining(where)]);
    }
    // Once it is stored it can have limits, which also apply to the key of the file.
    expect((await ask("POST", "/api/projects", { id: "builds", limits: { concurrent: 1 } })).status).toBe(201);
    expect((await ask("GET", "/api/projects/builds")).json["data"]).toMatchObject({ from: "storage" });
    expect((await ask("PATCH", "/api/projects/builds", { name: "x" })).status).toBe(200);
  });

  test("a project is changed and deleted; one with keys cannot be deleted", async () => {
    const { admin, make } = await started();
    const { id } = await make(ADMIN_SECRET, { name: "k", project: "red" });
    const ask = (method: string, path: string, body?: object) =>
      admin.ask(method, path, { ...asAdmin, ...withoutAbsent({ body }) });
    expect((await ask("PATCH", "/api/projects/red", { status: "suspended", name: "Red" })).json["data"]).toMatchObject({
      status: "suspended",
      name: "Red",
    });
    expect((await ask("DELETE", "/api/projects/red")).status).toBe(400);
    await ask("DELETE", `/api/keys/${id}`);
    expect((await ask("DELETE", "/api/projects/red")).status).toBe(200);
    expect((await ask("GET", "/api/projects/red")).status).toBe(404);
    expect((await ask("POST", "/api/projects", { id: "red" })).status).toBe(400);
  });

  test.each([
    { name: "k", limits: { requests_per_minute: -1 } },
    { name: "k", limits: { budget_usd_per_day: 1e300 } },
    { name: "k", limits: { request_per_minute: 1 } },
    { name: "k", expires_at: "soon" },
    { name: "k", networks: ["10.0.0.0/99"] },
    { name: "k", scopes: ["everything"] },
    { name: "k", models: [] },
    { name: "" },
    { name: "k\u0000" },
    { name: "k", id: "key_mine" },
  ])("bad input: a key with %j", async (body) => {
    const admin = await AdminHarness.start();
    const { status, json } = await admin.ask("POST", "/api/keys", { ...asAdmin, body });
    expect([status, (json["error"] as { message: string }).message.length > 10]).toEqual([400, true]);
  });
});

const CALL = { model: "test/chat", messages: [{ role: "user", content: "Hi" }] };
