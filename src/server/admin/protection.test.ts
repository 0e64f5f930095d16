import { describe, expect, test } from "bun:test";
import { ADMIN_SECRET, AdminHarness } from "../../../testing/admin-harness.ts";

const asAdmin = { secret: ADMIN_SECRET };

describe("S14: answers to operators", () => {
  test.each([
    "/api/keys",
    "/api/receipts",
    "/api/receipts/rcp_none/bodies",
    "/metrics",
    "/api/usage/export",
    "/api/nope",
  ])("%s: it is not cached, and no browser guesses its type", async (path) => {
    const admin = await AdminHarness.start();
    const { headers } = await admin.ask("GET", path, asAdmin);
    expect([headers.get("x-content-type-options"), headers.get("cache-control")]).toEqual(["nosniff", "no-store"]);
  });
});

describe("S21: wrong secrets", () => {
  const actsOf = async (admin: AdminHarness) => {
    const { json } = await admin.ask("GET", "/api/audit?act=session.refused&limit=500", asAdmin);
    return json["data"] as Record<string, unknown>[];
  };

  test("are in the audit log, with their address and without the attempted secret", async () => {
    const admin = await AdminHarness.start();
    const login = { body: { secret: "a-wrong-secret-of-nobody" }, address: "198.51.100.7" };
    expect((await admin.ask("POST", "/api/session", login)).status).toBe(401);
    await admin.ask("POST", "/api/session", { ...login, body: { link: "used" } });
    const acts = await actsOf(admin);
    expect(acts.map(({ who, address, target }) => [who, address, target])).toEqual([
      ["unknown", "198.51.100.7", "link"],
      ["unknown", "198.51.100.7", "secret"],
    ]);
    expect(JSON.stringify(acts)).not.toContain("wrong-secret");
  });

  test("are recorded for bearer tokens too, at any endpoint", async () => {
    const admin = await AdminHarness.start();
    const wrong = { secret: "a-wrong-secret-of-nobody", address: "198.51.100.8" };
    for (const path of ["/api/keys", "/metrics", "/readyz?verbose"])
      expect((await admin.ask("GET", path, wrong)).status).toBe(401);
    expect((await admin.ask("POST", "/api/keys", { ...wrong, body: {} })).status).toBe(401);
    const acts = await actsOf(admin);
    expect(acts.map(({ who, address, target }) => [who, address, target])).toEqual(
      Array(4).fill(["unknown", "198.51.100.8", "bearer"]),
    );
    expect(JSON.stringify(acts)).not.toContain("wrong-secret");
  });

  test("requests without a secret, and with a right one, are not recorded", async () => {
    const admin = await AdminHarness.start();
    expect((await admin.ask("GET", "/api/keys")).status).toBe(401);
    expect((await admin.ask("GET", "/api/keys", { headers: { authorization: "Bearer" } })).status).toBe(401);
    expect((await admin.ask("GET", "/api/keys", asAdmin)).status).toBe(200);
    expect(await actsOf(admin)).toEqual([]);
  });

  test("as bearer tokens do not lock anyone out of the login", async () => {
    const admin = await AdminHarness.start();
    for (let at = 0; at < 20; at++) await admin.ask("GET", "/api/keys", { secret: "wrong" });
    expect((await admin.ask("POST", "/api/session", { body: { secret: ADMIN_SECRET } })).status).toBe(201);
  });

  test("fill at most a hundred rows an hour, however they are sent", async () => {
    const admin = await AdminHarness.start();
    const fail = async (count: number, network: number) => {
      for (let at = 0; at < count; at++) {
        const address = `198.51.${network}.${at}`;
        if (at % 2 === 0) await admin.ask("POST", "/api/session", { body: { secret: "wrong" }, address });
        else await admin.ask("GET", "/api/keys", { secret: "wrong", address });
      }
    };
    await fail(120, 100);
    expect(await actsOf(admin)).toHaveLength(100);
    await admin.clock.pass(3_600_000);
    await fail(1, 101);
    expect(await actsOf(admin)).toHaveLength(101);
  });
});
