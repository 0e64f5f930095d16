import { describe, expect, test } from "bun:test";
import { ADMIN_SECRET, AdminHarness } from "../../testing/admin-harness.ts";
import { DIALECTS } from "../../testing/build-call.ts";
import { Harness, type HarnessOptions, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import type { DialectName } from "../canon/dialect-name.ts";

const LIMITED = "a-key-of-the-file-with-end-users";
const TAGGED = "a-key-of-the-file-with-limits-by-tag";
const config = {
  ...scriptedModels(UPSTREAM_URL),
  keys: [
    { name: "tests", key: TEST_KEY },
    { name: "limited", key: LIMITED, end_users: { limits: { requests_per_day: 2 }, required: true } },
    {
      name: "tagged",
      key: TAGGED,
      limits_by_tag: { "team:*": { requests_per_minute: 1 } },
      limits_by_model: { "test/chat": { budget_usd_per_quarter: 0.009 } },
    },
  ],
};
const asAdmin = { secret: ADMIN_SECRET };
const named = (user: string) => ({ headers: { "x-trivium-user": user } });

async function started(dialect: DialectName, options: HarnessOptions = {}): Promise<Harness> {
  const harness = await Harness.start({ config, ...options });
  harness.upstream.play(
    harness.upstream.json(plainAnswer(dialect, { text: "ok", usage: plainUsage(dialect, 1_000, 500) })),
  );
  return harness;
}

describe("choices 9: the end user of a call", () => {
  for (const dialect of DIALECTS) {
    test(`${dialect}: comes from the header, and is in the receipt, but not sent to providers`, async () => {
      const harness = await started(dialect);
      expect((await harness.receipt(await harness.call(dialect, named("user 1/ä")))).end_user).toBe("user 1/ä");
      expect((await harness.receipt(await harness.call(dialect))).end_user).toBeNull();
      expect(JSON.stringify(harness.upstream.requests)).not.toContain("user 1");
    });

    test(`${dialect}: a key that requires one refuses a call without it in the caller's protocol, saying what to send`, async () => {
      const harness = await started(dialect);
      const answer = await harness.call(dialect, { key: LIMITED });
      expect(answer.status).toBe(400);
      expect(answer.text).toContain("x-trivium-user");
      expect(answer.text).toContain("metadata.user_id");
      expect(harness.upstream.requests).toEqual([]);
      expect((await harness.call(dialect, { key: LIMITED, ...named("ann") })).status).toBe(200);
    });

    test(`${dialect}: over its limit it gets a 429 that names it, and another end user does not`, async () => {
      const harness = await started(dialect);
      const call = (user: string) => harness.call(dialect, { key: LIMITED, ...named(user) });
      const first = await call("ann");
      expect(first.headers.get("x-ratelimit-remaining-requests")).toBe("1");
      await call("ann");
      const refused = await call("ann");
      expect(refused.status).toBe(429);
      expect(refused.text).toContain(
        'The end user \\"ann\\" (key \\"limited\\") has reached its limit of 2 requests a day',
      );
      expect(Number(refused.headers.get("retry-after"))).toBe(60);
      expect((await call("bob")).status).toBe(200);
    });
  }

  test.each([
    ["the header", named("h"), { safety_identifier: "s", user: "u", metadata: { user_id: "m" } }, "h"],
    ["safety_identifier", {}, { safety_identifier: "s", user: "u", metadata: { user_id: "m" } }, "s"],
    ["user", {}, { user: "u", metadata: { user_id: "m" } }, "u"],
    ["metadata.user_id", {}, { metadata: { user_id: "m" } }, "m"],
  ])("%s comes before what is named after it", async (_, sent, body, found) => {
    const harness = await started("chat");
    const call = await harness.call("chat", { ...sent, body, door: "dropin" });
    expect((await harness.receipt(call)).end_user).toBe(found);
  });

  test("metadata is read before the strict base URL takes it out", async () => {
    const harness = await started("messages");
    const call = await harness.call("messages", { key: LIMITED, body: { metadata: { user_id: "m" } } });
    expect(call.status).toBe(200);
    expect((await harness.receipt(call)).end_user).toBe("m");
    expect(JSON.parse(harness.upstream.requests[0]?.body ?? "")).not.toHaveProperty("metadata");
  });

  test("S02: an id that is too long or has control characters is refused in the header, and in the body if end users are limited", async () => {
    const harness = await started("chat");
    const long = await harness.call("chat", named("x".repeat(257)));
    expect([long.status, long.text.includes("x-trivium-user")]).toEqual([400, true]);
    for (const user of ["a\u0007b", "x".repeat(257), "\u202eevil"]) {
      const refused = await harness.call("chat", { key: LIMITED, body: { user } });
      expect([refused.status, refused.text.includes("end user")]).toEqual([400, true]);
      const unlimited = await harness.call("chat", { body: { user }, door: "dropin" });
      expect([unlimited.status, (await harness.receipt(unlimited)).end_user]).toEqual([200, null]);
    }
  });

  test("the end user of a credential wins over the request", async () => {
    const harness = await started("chat");
    const { keys } = harness.gateway;
    const principal = keys.current({ keyId: "static:tests", project: "default" });
    if (principal === undefined) throw new Error("no such key");
    principal.user = "claimed";
    expect((await harness.receipt(await harness.call("chat", named("spoofed")))).end_user).toBe("claimed");
  });
});

describe("choices 9: limits of models and tags", () => {
  test("errors name the model or the tag", async () => {
    const harness = await started("chat");
    const call = (tag: string) => harness.call("chat", { key: TAGGED, headers: { "x-trivium-tags": tag } });
    expect((await call("team:a")).status).toBe(200);
    const tag = await call("team:b");
    expect([tag.status, tag.text.includes('The tag team:* (key \\"tagged\\")')]).toEqual([429, true]);
    const model = await call("other");
    expect([
      model.status,
      model.text.includes('The model test/chat (key \\"tagged\\") has a budget of 0.009 USD a quarter'),
    ]).toEqual([402, true]);
  });
});

describe("choices 9: end users after a restart", () => {
  test("H23: what they have used comes back from the storage", async () => {
    const harness = await started("chat");
    for (let count = 0; count < 2; count++)
      expect((await harness.call("chat", { key: LIMITED, ...named("ann") })).status).toBe(200);
    const again = await Harness.start({ config, machine: harness.machine });
    expect((await again.call("chat", { key: LIMITED, ...named("ann") })).status).toBe(429);
    expect((await again.call("chat", { key: LIMITED, ...named("bob") })).status).toBe(200);
    // The quarter of a model, from the sums of days.
    expect((await again.call("chat", { key: TAGGED })).status).toBe(200);
    const third = await Harness.start({ config, machine: harness.machine });
    expect((await third.call("chat", { key: TAGGED })).status).toBe(402);
  });
});

describe("choices 9: end users at the Admin API", () => {
  async function withCalls(): Promise<AdminHarness> {
    const admin = await AdminHarness.start({ config });
    const { upstream } = admin.gateway;
    upstream.play(upstream.json(plainAnswer("chat", { text: "ok", usage: plainUsage("chat", 1_000, 500) })));
    for (const user of ["ann", "bob", "ann", "ben"]) await admin.gateway.call("chat", named(user));
    await admin.gateway.call("chat");
    return admin;
  }
  const data = async (admin: AdminHarness, path: string) => (await admin.ask("GET", path, asAdmin)).json["data"];

  test("usage by end user, and receipts of one", async () => {
    const admin = await withCalls();
    const usage = await admin.ask("GET", "/api/usage?by=end_user", asAdmin);
    expect(usage.json).toMatchObject({
      data: [
        { group: "ann", calls: 2, cost_nano_usd: 4_000_000, usage: { input: 2_000 } },
        { group: "ben", calls: 1 },
        { group: "bob", calls: 1 },
      ],
      total: { calls: 5 },
      groups_overlap: true,
    });
    expect(await data(admin, "/api/usage?by=end_user,day&end_user=ann")).toMatchObject([{ calls: 2 }]);
    expect(await data(admin, "/api/usage?by=model&end_user=bob")).toMatchObject([{ group: "test/chat", calls: 1 }]);
    expect(await data(admin, "/api/receipts?end_user=ann")).toMatchObject([{ end_user: "ann" }, { end_user: "ann" }]);
    expect(await data(admin, "/api/receipts?end_user=an")).toEqual([]);
  });

  test("they are listed by the start of their ids, page by page, with what they have used", async () => {
    const admin = await withCalls();
    const page = await admin.ask("GET", "/api/end_users?limit=2", asAdmin);
    expect(page.json).toMatchObject({
      data: [
        {
          id: "ann",
          requests: 2,
          tokens: 3_000,
          spent_nano_usd: { day: 4_000_000, week: 4_000_000, total: 4_000_000 },
        },
        { id: "ben", keys: [{ project: "default", key: "static:tests" }] },
      ],
      next: "ben",
    });
    expect(await data(admin, "/api/end_users?limit=2&after=ben")).toMatchObject([{ id: "bob" }]);
    expect(await data(admin, "/api/end_users?text=be")).toMatchObject([{ id: "ben" }]);
    expect(await data(admin, "/api/end_users?project=other")).toEqual([]);
    expect(await data(admin, "/api/end_users/nobody%2F1")).toMatchObject({
      id: "nobody/1",
      last_used_at: null,
      limits: [],
    });
  });

  test("one has limits of its own within a moment, until they are removed, and every change is in the audit log", async () => {
    const admin = await withCalls();
    const limited = () => admin.gateway.call("chat", { key: LIMITED, ...named("ann") });
    for (let count = 0; count < 2; count++) expect((await limited()).status).toBe(200);
    expect((await limited()).status).toBe(429);
    const body = { project: "default", key: "static:limited", limits: { requests_per_day: 3 } };
    const changed = await admin.ask("PUT", "/api/end_users/ann", { ...asAdmin, body });
    expect(changed.status).toBe(200);
    expect(changed.json["data"]).toMatchObject({
      limits: [{ project: "default", key: "static:limited", limits: { requests_per_day: 3 } }],
    });
    expect(await data(admin, "/api/end_users?limited=true")).toMatchObject([{ id: "ann" }]);
    expect((await limited()).status).toBe(200);
    expect((await limited()).status).toBe(429);
    const lifted = { ...body, limits: { requests_per_day: null } };
    await admin.ask("PUT", "/api/end_users/ann", { ...asAdmin, body: lifted });
    expect((await limited()).status).toBe(200);
    const gone = await admin.ask("DELETE", "/api/end_users/ann?key=static:limited", asAdmin);
    expect(gone.json["data"]).toMatchObject({ id: "ann", limits: [] });
    expect((await limited()).status).toBe(429);
    expect((await admin.ask("DELETE", "/api/end_users/ann?key=static:limited", asAdmin)).status).toBe(404);
    expect(await data(admin, "/api/audit?limit=2")).toMatchObject([
      { act: "end_user.reset", target: "ann", project: "default" },
      { act: "end_user.limit", target: "ann", project: "default" },
    ]);
  });

  test.each([
    [{ limits: { requests: 1 } }, "limits.requests is not a limit"],
    [{ limits: { sessions: 1 } }, "limits.sessions is not possible"],
    [{ key: "nothing", limits: { concurrent: 1 } }, "No key has the id"],
    [{ project: "other", key: "static:limited", limits: { concurrent: 1 } }, 'belongs to the project \\"default\\"'],
    [{ limits: { concurrent: "1" } }, "limits.concurrent"],
  ])("H25: %j is refused", async (body, message) => {
    const admin = await AdminHarness.start({ config });
    const refused = await admin.ask("PUT", "/api/end_users/ann", { ...asAdmin, body });
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect(refused.text).toContain(message);
  });

  test("keys are created, shown and changed with them, and running calls see that", async () => {
    const admin = await withCalls();
    const limits = { end_users: { limits: { requests_per_day: 1 } }, limits_by_model: { "test/*": { concurrent: 9 } } };
    const { json } = await admin.ask("POST", "/api/keys", { ...asAdmin, body: { name: "k", ...limits } });
    const { id, key } = json["data"] as { id: string; key: string };
    expect(await data(admin, `/api/keys/${id}`)).toMatchObject({
      end_users: { limits: { requests_per_day: 1 }, required: false },
      limits_by_model: { "test/*": { concurrent: 9 } },
      limits_by_tag: {},
    });
    const call = () => admin.gateway.call("chat", { key, ...named("ann") });
    expect((await call()).status).toBe(200);
    expect((await call()).status).toBe(429);
    const body = { end_users: { limits: { requests_per_day: null } }, limits_by_model: null };
    await admin.ask("PATCH", `/api/keys/${id}`, { ...asAdmin, body });
    expect((await call()).status).toBe(200);
    expect(await data(admin, `/api/keys/${id}`)).toMatchObject({ limits_by_model: {} });
    const wrong = { end_users: { limit: {} } };
    expect((await admin.ask("PATCH", `/api/keys/${id}`, { ...asAdmin, body: wrong })).status).toBe(400);
  });
});
