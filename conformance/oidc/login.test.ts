import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { eventually } from "../../testing/eventually.ts";
import type { TestGateway } from "../support/test-gateway.ts";
import { CertifiedProvider } from "./certified-provider.ts";
import { HttpBrowser } from "./http-browser.ts";
import { adminPlace, oidcSection, ROLES, startPeopleGateway } from "./people-gateway.ts";

const HOUR_MS = 3_600_000;
const place = adminPlace();
let provider: CertifiedProvider;
let gateway: TestGateway;
let aheadMs = 0;

beforeAll(async () => {
  provider = await CertifiedProvider.start([place.callback]);
  gateway = await startPeopleGateway(provider.url, place.port, { wallMs: () => Date.now() + aheadMs });
  const made = await asAdmin("POST", "/api/projects", { id: "shop" });
  if (!made.ok) throw new Error(await made.text());
});
afterAll(async () => {
  await gateway.stop();
  await provider.stop();
});
afterEach(() => {
  aheadMs = 0;
});

const asAdmin = (method: string, path: string, body?: object) =>
  fetch(gateway.adminUrl + path, {
    method,
    headers: { authorization: `Bearer ${gateway.adminSecret}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
const dataOf = async (response: Response) => ((await response.json()) as { data: unknown }).data;
const audit = async (act: string) =>
  (await dataOf(await asAdmin("GET", `/api/audit?act=${act}&limit=1`))) as Record<string, unknown>[];

/** As far as the URL to which the issuer sends the browser back. */
async function authorise(person: string, browser = new HttpBrowser(), url = gateway.adminUrl) {
  const callback = `${url}/api/session/oidc/callback`;
  let page = await browser.visit(`${url}/api/session/oidc`, {}, callback);
  if (page.text.includes('name="login"'))
    page = await browser.submit(page, { login: person, password: "any" }, callback);
  if (page.text.includes('value="consent"')) page = await browser.submit(page, {}, callback);
  return { browser, returned: page.url };
}

async function logIn(person: string) {
  const { browser, returned } = await authorise(person);
  return { browser, answer: await browser.step(returned) };
}

const session = async (browser: HttpBrowser, path = "/api/session") => {
  const answer = await browser.step(gateway.adminUrl + path, { headers: { accept: "application/json" } });
  return { status: answer.status, data: (JSON.parse(answer.text) as { data?: Record<string, unknown> }).data };
};

describe("decision 0120: logging in at a certified provider", () => {
  test("opens a session with the first role that matches, with a strict cookie of twelve hours", async () => {
    const { browser, answer } = await logIn("ada");
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/#signed-in"]);
    const [opened, ended] = answer.headers.getSetCookie();
    expect(opened).toMatch(/^trv_session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/);
    expect(ended).toMatch(/^trv_login=; Path=\/; Max-Age=0; HttpOnly; SameSite=Lax$/);
    expect((await session(browser)).data).toMatchObject({ operator: "oidc:ada", role: "admin", project: null });
    const [entry] = await audit("session.open");
    const after = { issuer: provider.url, subject: "ada", role: "admin" };
    expect(entry).toMatchObject({ who: "operator:oidc:ada", after, target: expect.stringMatching(/^oidc_[\w-]{43}$/) });
  });

  test("begins with a lax cookie of ten minutes, PKCE, a state and a nonce", async () => {
    const browser = new HttpBrowser();
    const begun = await browser.step(`${gateway.adminUrl}/api/session/oidc`);
    expect(begun.status).toBe(302);
    const cookie = begun.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/^trv_login=[\w.-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/);
    const query = new URL(begun.headers.get("location") ?? "").searchParams;
    expect(Object.fromEntries(query)).toMatchObject({
      response_type: "code",
      code_challenge_method: "S256",
      scope: "openid profile email",
      redirect_uri: place.callback,
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    });
    const token = cookie.slice("trv_login=".length).split(".")[0] ?? "";
    expect(begun.headers.get("location")).not.toContain(token);
  });

  test("gives each person the role of their group", async () => {
    const vera = (await logIn("vera")).browser;
    expect((await session(vera)).data).toMatchObject({ operator: "oidc:vera", role: "viewer" });
    expect((await session(vera, "/api/receipts")).status).toBe(200);
    const shop = (await logIn("shop")).browser;
    expect((await session(shop)).data).toMatchObject({ role: "project", project: "shop" });
    expect((await session(shop, "/api/keys?project=default")).status).toBe(403);
    expect((await session(shop, "/api/receipts")).status).toBe(403);
  });

  test("refuses a person without a role, and a role of a project that does not exist, with 403 and no session", async () => {
    for (const [person, why] of [
      ["nobody", "no group with a role"],
      ["ghost", "project ghost, which does not exist"],
    ] as const) {
      const { browser, answer } = await logIn(person);
      expect([answer.status, answer.text]).toEqual([403, expect.stringContaining(why)]);
      expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
      expect((await session(browser)).status).toBe(401);
      expect((await audit("session.refused"))[0]).toMatchObject({ after: { subject: person } });
    }
    expect(await dataOf(await asAdmin("GET", "/api/projects"))).not.toContainEqual(
      expect.objectContaining({ id: "ghost" }),
    );
  });

  test("is used once, also if two requests return at the same time", async () => {
    const { browser, returned } = await authorise("ada");
    const cookie = browser.cookie(gateway.adminUrl, "trv_login") ?? "";
    const copies = [0, 1, 2].map(() => new HttpBrowser());
    for (const copy of copies) copy.setCookie(gateway.adminUrl, "trv_login", cookie);
    const answers = await Promise.all([browser, ...copies].map((one) => one.step(returned)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 401, 401, 401]);
    const late = new HttpBrowser();
    late.setCookie(gateway.adminUrl, "trv_login", cookie);
    expect((await late.step(returned)).status).toBe(401);
  });

  test("fails in another browser, with another state, or after ten minutes", async () => {
    const { browser, returned } = await authorise("ada");
    expect((await new HttpBrowser().step(returned)).status).toBe(401);
    const other = await authorise("ada");
    const crossed = new HttpBrowser();
    crossed.setCookie(gateway.adminUrl, "trv_login", other.browser.cookie(gateway.adminUrl, "trv_login") ?? "");
    expect((await crossed.step(returned)).status).toBe(401);
    const changed = new URL(returned);
    changed.searchParams.set("iss", "https://evil.test");
    expect((await browser.step(changed.href)).status).toBe(401);
    const late = await authorise("ada");
    aheadMs = 601_000;
    expect((await late.browser.step(late.returned)).status).toBe(401);
  });

  test("does not accept a cookie that was not sealed here, or was extended", async () => {
    const { browser, returned } = await authorise("ada");
    const cookie = browser.cookie(gateway.adminUrl, "trv_login") ?? "";
    const [token, expires, seal] = cookie.split(".");
    for (const forged of [
      `${token}.${Number(expires) + 600_000}.${seal}`,
      `${"A".repeat(43)}.${expires}.${seal}`,
      `${token}.${expires}.${"A".repeat(43)}`,
      `${token}.${expires}`,
      "x",
    ]) {
      const thief = new HttpBrowser();
      thief.setCookie(gateway.adminUrl, "trv_login", forged);
      expect((await thief.step(returned)).status).toBe(401);
    }
    aheadMs = 120_000;
    expect((await browser.step(returned)).status).toBe(303);
  });

  test("ends with an error of the issuer that shows as text", async () => {
    const browser = new HttpBrowser();
    const begun = await browser.step(`${gateway.adminUrl}/api/session/oidc`);
    const state = new URL(begun.headers.get("location") ?? "").searchParams.get("state");
    const script = encodeURIComponent("<script>alert(1)</script>");
    const query = `?error=${script}&error_description=${script}&state=${state}&iss=${encodeURIComponent(provider.url)}`;
    const answer = await browser.step(`${gateway.adminUrl}/api/session/oidc/callback${query}`);
    expect([answer.status, answer.text]).toEqual([403, expect.stringContaining("an unknown error")]);
    expect(answer.text).not.toContain("<script>");
  });

  test("lasts twelve hours at most, however busy it is", async () => {
    const { browser } = await logIn("ada");
    for (const hours of [4, 8, 11.9]) {
      aheadMs = hours * HOUR_MS;
      expect((await session(browser)).status).toBe(200);
    }
    aheadMs = 12 * HOUR_MS + 1_000;
    expect((await session(browser)).status).toBe(401);
  });

  test("ends with a logout, by an operator, and with the revocation of the person", async () => {
    const out = (await logIn("ada")).browser;
    const { data } = await session(out);
    const headers = { "x-trivium-csrf": String(data?.["csrf"]), "sec-fetch-site": "same-origin" };
    expect((await out.step(`${gateway.adminUrl}/api/session`, { method: "DELETE", headers })).status).toBe(204);
    expect((await session(out)).status).toBe(401);

    const ended = (await logIn("vera")).browser;
    const open = (await dataOf(await asAdmin("GET", "/api/sessions"))) as Record<string, unknown>[];
    const listed = open.find((one) => one["subject"] === "vera");
    expect(listed).toMatchObject({ operator: "oidc:vera", role: "viewer", issuer: provider.url, address: "127.0.0.1" });
    expect((await asAdmin("DELETE", `/api/sessions/${listed?.["id"]}`)).status).toBe(200);
    expect((await session(ended)).status).toBe(401);
    expect((await asAdmin("DELETE", `/api/sessions/${listed?.["id"]}`)).status).toBe(404);
    expect((await audit("session.end"))[0]).toMatchObject({ target: listed?.["id"], who: "operator:admin" });

    const revoked = [(await logIn("vera")).browser, (await logIn("vera")).browser];
    const answer = await asAdmin("POST", "/api/subjects/revoke", { issuer: provider.url, subject: "vera" });
    const { sessions } = (await dataOf(answer)) as { sessions: number };
    expect(sessions).toBeGreaterThanOrEqual(revoked.length);
    for (const browser of revoked) expect((await session(browser)).status).toBe(401);
  });

  test("survives a rotation of the issuer's keys", async () => {
    await logIn("ada");
    await provider.rotate();
    await Bun.sleep(5_100);
    expect((await logIn("ada")).answer.status).toBe(303);
  }, 30_000);

  test("says why it is not possible while the issuer is down; sessions and the secret still work", async () => {
    const { browser } = await logIn("ada");
    const stuck = await authorise("ada");
    await provider.stop();
    try {
      expect((await session(browser)).status).toBe(200);
      expect((await asAdmin("GET", "/api/sessions")).status).toBe(200);
      const answer = await stuck.browser.step(stuck.returned);
      expect([answer.status, answer.text]).toEqual([503, expect.stringContaining("cannot be reached")]);
      const fresh = adminPlace();
      const other = await startPeopleGateway(provider.url, fresh.port);
      try {
        const ways = (await (await fetch(`${other.adminUrl}/api/session/ways`)).json()) as { data: object };
        expect(ways.data).toEqual({
          secret: true,
          oidc: { issuer: provider.url, available: false, reason: expect.stringContaining("cannot be reached") },
        });
        const begun = await new HttpBrowser().step(`${other.adminUrl}/api/session/oidc`);
        expect([begun.status, begun.text]).toEqual([503, expect.stringContaining("log in with a secret")]);
        const opened = await fetch(`${other.adminUrl}/api/session`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ secret: other.adminSecret }),
        });
        expect(opened.status).toBe(201);
      } finally {
        await other.stop();
      }
    } finally {
      await provider.resume();
    }
  }, 60_000);

  test("a changed configuration changes what open sessions may do, without a restart", async () => {
    const { browser } = await logIn("ada");
    const file = JSON.parse(readFileSync(gateway.configFile, "utf8"));
    const write = async (oidc: object | undefined) => {
      writeFileSync(gateway.configFile, JSON.stringify({ ...file, admin: { ...file.admin, oidc } }));
      gateway.app.reload();
    };
    await write(oidcSection(provider.url, [{ group: "staff", role: "viewer" }, ...ROLES]));
    expect((await session(browser)).data).toMatchObject({ role: "viewer" });
    await write(undefined);
    expect((await session(browser)).status).toBe(401);
    expect((await fetch(`${gateway.adminUrl}/api/session/oidc`)).status).toBe(404);
    await write(file.admin.oidc);
    expect((await session(browser)).data).toMatchObject({ role: "admin" });
  });

  test("a service's token of the same issuer calls models, and its receipt names the subject", async () => {
    const token = await provider.serviceToken();
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const body = JSON.stringify({ model: "sim/standard", messages: [{ role: "user", content: "hi" }] });
    const call = () => fetch(`${gateway.url}/v1/chat/completions`, { method: "POST", headers, body });
    const answer = await call();
    expect(answer.status).toBe(200);
    const subject = await eventually("the subject", async () => {
      const subjects = (await dataOf(await asAdmin("GET", "/api/subjects"))) as Record<string, unknown>[];
      return subjects.find((one) => one["subject"] === "a-service");
    });
    expect(subject).toMatchObject({ issuer: provider.url, project: "default", revoked_until: null });
    const [receipt] = (await dataOf(await asAdmin("GET", "/api/receipts?limit=1"))) as Record<string, unknown>[];
    expect(receipt).toMatchObject({ key: subject?.["id"] });
    // The token is older than the revocation, whose time is in seconds.
    const second = Math.floor(Date.now() / 1_000);
    await eventually("the next second", () => Date.now() / 1_000 > second + 1);
    await asAdmin("POST", "/api/subjects/revoke", { issuer: provider.url, subject: "a-service" });
    expect((await call()).status).toBe(401);
    const wrong = await asAdmin("POST", "/api/subjects/revoke", { issuer: "https://typo.test", subject: "a-service" });
    expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining(provider.url)]);
  });
});
