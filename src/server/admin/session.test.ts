import { describe, expect, test } from "bun:test";
import { ADMIN_SECRET, AdminHarness, type AdminRequest } from "../../../testing/admin-harness.ts";
import { revokeOperator } from "../../access/operators.ts";

const HOUR_MS = 3_600_000;
const codeOf = (json: Record<string, unknown>) => (json["error"] as { code?: string } | undefined)?.code;

async function count(admin: AdminHarness): Promise<number> {
  const [row] = await admin.gateway.storage.query("SELECT COUNT(*) AS n FROM operator_sessions");
  return Number(row?.["n"]);
}

describe("choices 10: a session", () => {
  test("S11: its cookie is HttpOnly and SameSite=Strict, and only its digest is stored", async () => {
    const admin = await AdminHarness.start();
    const answer = await admin.ask("POST", "/api/session", { body: { secret: ADMIN_SECRET } });
    const cookie = answer.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/^trv_session=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/);
    expect(answer.json).toEqual({
      data: { operator: "admin", role: "admin", project: null, csrf: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    const rows = JSON.stringify(await admin.gateway.storage.query("SELECT * FROM operator_sessions"));
    expect(rows).not.toContain(cookie.slice("trv_session=".length, "trv_session=".length + 43));
    expect(rows).not.toContain(ADMIN_SECRET);
  });

  test("over https it is only for https", async () => {
    const admin = await AdminHarness.start({}, { publicUrl: "https://admin.example" });
    const answer = await admin.ask("POST", "/api/session", { body: { secret: ADMIN_SECRET } });
    expect(answer.headers.get("set-cookie")).toMatch(/^__Host-trv=[\w-]{43}; .*HttpOnly; SameSite=Strict; Secure$/);
  });

  test("S11: over https the cookie of plain http does not count: a page of a neighbouring domain could have set it", async () => {
    const admin = await AdminHarness.start({}, { publicUrl: "https://admin.example" });
    const answer = await admin.ask("POST", "/api/session", { body: { secret: ADMIN_SECRET } });
    const token = /^__Host-trv=([\w-]{43});/.exec(answer.headers.get("set-cookie") ?? "")?.[1] ?? "";
    const { data } = answer.json as { data: { csrf: string } };
    const session = (name: string) => ({ cookie: `${name}=${token}`, csrf: data.csrf });
    expect((await admin.ask("GET", "/api/session", session("__Host-trv"))).status).toBe(200);
    for (const method of ["GET", "DELETE"] as const)
      expect((await admin.ask(method, "/api/session", session("trv_session"))).status).toBe(401);
    expect((await admin.ask("GET", "/readyz?verbose", session("trv_session"))).status).toBe(401);
    const planted = `trv_session=${"A".repeat(43)}; __Host-trv=${token}`;
    expect((await admin.ask("GET", "/api/session", { cookie: planted })).status).toBe(200);
  });

  test("shows the operator, and ends on request", async () => {
    const admin = await AdminHarness.start();
    const session = await admin.login(await admin.operator("viewer"));
    const { json } = await admin.ask("GET", "/api/session", { cookie: session.cookie });
    expect(json["data"]).toMatchObject({ role: "viewer", csrf: session.csrf });
    const ended = await admin.ask("DELETE", "/api/session", session);
    expect([ended.status, ended.headers.get("set-cookie")]).toEqual([204, expect.stringContaining("Max-Age=0")]);
    expect((await admin.ask("GET", "/api/session", { cookie: session.cookie })).status).toBe(401);
    expect((await admin.ask("DELETE", "/api/session", { secret: ADMIN_SECRET })).status).toBe(400);
  });

  test("ends after twelve idle hours, and after seven days in use", async () => {
    const admin = await AdminHarness.start();
    const session = await admin.login(ADMIN_SECRET);
    for (let hours = 11; hours <= 7 * 24; hours += 11) {
      await admin.clock.pass(11 * HOUR_MS);
      expect((await admin.ask("GET", "/api/session", session)).status).toBe(200);
    }
    await admin.clock.pass(11 * HOUR_MS);
    expect((await admin.ask("GET", "/api/session", session)).status).toBe(401);
    expect(await count(admin)).toBe(0);
  });

  test("survives a restart, and ends with the secret that opened it", async () => {
    const admin = await AdminHarness.start();
    const session = await admin.login(ADMIN_SECRET);
    const { machine } = admin.gateway;
    const restarted = await AdminHarness.start({ machine });
    expect((await restarted.ask("GET", "/api/session", session)).status).toBe(200);
    const changed = await AdminHarness.start({ machine }, { adminHash: () => "another" });
    expect((await changed.ask("GET", "/api/session", session)).status).toBe(401);
    const closed = await AdminHarness.start({ machine }, { adminHash: () => undefined });
    expect((await closed.ask("GET", "/api/session", session)).status).toBe(401);
  });

  test("ends at once when its operator is revoked", async () => {
    const admin = await AdminHarness.start();
    const secret = await admin.operator("admin");
    const session = await admin.login(secret);
    const operator = await admin.parts.access.bySecret(secret);
    await revokeOperator(admin.gateway.storage, operator?.id ?? "", admin.gateway.gateway, { who: "tests" });
    expect((await admin.ask("GET", "/api/session", session)).status).toBe(401);
    expect((await admin.ask("GET", "/api/session", { secret })).status).toBe(401);
    expect(await count(admin)).toBe(0);
  });

  test("H20: an operator has at most twenty, the newest", async () => {
    const admin = await AdminHarness.start();
    const first = await admin.login(ADMIN_SECRET);
    await admin.clock.pass(1);
    for (let opened = 0; opened < 20; opened++) await admin.login(ADMIN_SECRET);
    expect(await count(admin)).toBe(20);
    expect((await admin.ask("GET", "/api/session", first)).status).toBe(401);
  });
});

describe("S11: pages of other sites", () => {
  const foreign: readonly Record<string, string>[] = [
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "none" },
    { origin: "http://127.0.0.1:9999", host: "127.0.0.1:8081" },
    { origin: "null", host: "127.0.0.1:8081" },
    { origin: "https://evil.example", host: "127.0.0.1:8081" },
  ];

  test.each(foreign)("%j neither log in nor change anything", async (headers) => {
    const admin = await AdminHarness.start();
    const session = await admin.login(ADMIN_SECRET);
    const login: AdminRequest = { headers, body: { secret: ADMIN_SECRET } };
    expect((await admin.ask("POST", "/api/session", login)).status).toBe(403);
    expect((await admin.ask("POST", "/api/keys", { ...session, headers, body: { name: "k" } })).status).toBe(403);
  });

  test.each([{ "sec-fetch-site": "same-origin" }, { origin: "http://127.0.0.1:8081", host: "127.0.0.1:8081" }, {}])(
    "%j comes from the console itself",
    async (headers: Record<string, string>) => {
      const admin = await AdminHarness.start();
      const session = await admin.login(ADMIN_SECRET);
      expect((await admin.ask("POST", "/api/keys", { ...session, headers, body: { name: "k" } })).status).toBe(201);
    },
  );

  test("a form of another site cannot log in: its body is not JSON", async () => {
    const admin = await AdminHarness.start();
    const headers = { "content-type": "text/plain" };
    const answer = await admin.ask("POST", "/api/session", { headers, body: { secret: ADMIN_SECRET } });
    expect(answer.status).toBe(415);
  });
});

describe("S21: guessing at the login", () => {
  const wrong: AdminRequest = { body: { secret: "a-guess" } };

  test("after five wrong secrets an address waits, twice as long each time, and others do not", async () => {
    const admin = await AdminHarness.start();
    for (let tried = 0; tried < 5; tried++) expect((await admin.ask("POST", "/api/session", wrong)).status).toBe(401);
    for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
      const refused = await admin.ask("POST", "/api/session", { body: { secret: ADMIN_SECRET } });
      expect([refused.status, codeOf(refused.json), refused.headers.get("retry-after")]).toEqual([
        429,
        "too_many_logins",
        String(seconds),
      ]);
      await admin.clock.pass(seconds * 1000);
      expect((await admin.ask("POST", "/api/session", wrong)).status).toBe(401);
    }
    const elsewhere = { address: "10.0.0.9", body: { secret: ADMIN_SECRET } };
    expect((await admin.ask("POST", "/api/session", elsewhere)).status).toBe(201);
    expect((await admin.ask("GET", "/api/keys", { secret: ADMIN_SECRET })).status).toBe(200);
    await admin.clock.pass(60_000);
    expect((await admin.ask("POST", "/api/session", { body: { secret: ADMIN_SECRET } })).status).toBe(201);
    expect((await admin.ask("POST", "/api/session", wrong)).status).toBe(401);
    expect((await admin.ask("POST", "/api/session", { body: { secret: ADMIN_SECRET } })).status).toBe(201);
  });

  test("all failures look the same", async () => {
    const admin = await AdminHarness.start();
    const guesses = ["x", `trv-op-${"A".repeat(43)}`, ADMIN_SECRET.slice(1), `${ADMIN_SECRET} `];
    const answers = new Set<string>();
    for (const secret of guesses) answers.add((await admin.ask("POST", "/api/session", { body: { secret } })).text);
    expect(answers.size).toBe(1);
  });
});

test.each([
  {},
  { secret: "" },
  { secret: "x".repeat(501) },
  { secret: 5 },
  { secret: ["a"] },
  { secret: ADMIN_SECRET, role: "admin" },
])("bad input at the login: %j", async (body) => {
  const admin = await AdminHarness.start();
  expect((await admin.ask("POST", "/api/session", { body })).status).toBe(400);
});

describe("choices 7: the link that the start prints", () => {
  const link = async (admin: AdminHarness) => (await admin.parts.access.createLink()) ?? "";

  test("opens one session as the admin, once, and only its digest is stored", async () => {
    const admin = await AdminHarness.start();
    const token = await link(admin);
    const rows = JSON.stringify(await admin.gateway.storage.query("SELECT * FROM operator_links"));
    expect([token.length, rows.includes(token)]).toEqual([43, false]);
    const opened = await admin.ask("POST", "/api/session", { body: { link: token } });
    expect([opened.status, opened.json["data"]]).toEqual([201, expect.objectContaining({ role: "admin" })]);
    const again = await admin.ask("POST", "/api/session", { body: { link: token } });
    expect([again.status, codeOf(again.json)]).toEqual([401, "invalid_admin_secret"]);
  });

  test("of two concurrent uses, one succeeds", async () => {
    const admin = await AdminHarness.start();
    const body = { link: await link(admin) };
    const answers = await Promise.all([1, 2].map(() => admin.ask("POST", "/api/session", { body })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 401]);
  });

  test("works for ten minutes, and not after the admin secret has changed", async () => {
    const admin = await AdminHarness.start();
    const late = await link(admin);
    await admin.clock.pass(10 * 60_000);
    expect((await admin.ask("POST", "/api/session", { body: { link: late } })).status).toBe(401);
    const token = await link(admin);
    const changed = await AdminHarness.start({ machine: admin.gateway.machine }, { adminHash: () => "another" });
    expect((await changed.ask("POST", "/api/session", { body: { link: token } })).status).toBe(401);
    const closed = await AdminHarness.start({ machine: admin.gateway.machine }, { adminHash: () => undefined });
    expect(await closed.parts.access.createLink()).toBeUndefined();
  });

  test("counts as a wrong secret if it is wrong, and cannot be combined with one", async () => {
    const admin = await AdminHarness.start();
    for (let tries = 0; tries < 5; tries++) {
      expect((await admin.ask("POST", "/api/session", { body: { link: "A".repeat(43) } })).status).toBe(401);
    }
    expect((await admin.ask("POST", "/api/session", { body: { link: "A".repeat(43) } })).status).toBe(429);
    const other = await AdminHarness.start();
    for (const body of [{}, { secret: ADMIN_SECRET, link: "A".repeat(43) }])
      expect((await other.ask("POST", "/api/session", { body })).status).toBe(400);
  });
});
