import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SignJWT } from "jose";
import { eventually } from "../../testing/eventually.ts";
import { freePort } from "../../testing/free-port.ts";
import { programsPresent } from "../../testing/is-present.ts";
import { startPostgres } from "../../testing/postgres.ts";
import { startRedis } from "../../testing/redis.ts";
import { startTestGateway, TEST_ADMIN_SECRET, type TestGateway } from "../support/test-gateway.ts";
import { CertifiedProvider } from "./certified-provider.ts";
import { HttpBrowser } from "./http-browser.ts";
import { oidcSection } from "./people-gateway.ts";

const redis = programsPresent("people and tokens at several instances", "redis-server")
  ? await startRedis()
  : undefined;
const postgres = redis && (await startPostgres());
const folder = mkdtempSync(join(tmpdir(), "trivium-people-"));
const engines: Record<string, string> = {
  SQLite: `sqlite:${join(folder, "shared.db")}`,
  ...(postgres && { PostgreSQL: postgres.url }),
};
afterAll(async () => {
  await redis?.stop();
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const ISSUER = "https://tokens.test";
const SECRET = "a-shared-secret-of-at-least-32-bytes";
const PER_MINUTE = 20;
const INSTANCES = 3;

describe.skipIf(redis === undefined).each(Object.keys(engines))(
  "decision 0120, decision 0121: several instances with %s",
  (engine) => {
    let provider: CertifiedProvider;
    let instances: TestGateway[] = [];
    /** Where a proxy before all instances would be. */
    const publicUrl = `http://127.0.0.1:${freePort()}`;

    beforeAll(async () => {
      provider = await CertifiedProvider.start([`${publicUrl}/api/session/oidc/callback`]);
      const database = Object.keys(engines).indexOf(engine);
      const config = (adminPort: number) => ({
        admin: {
          host: "127.0.0.1",
          port: adminPort,
          public_url: publicUrl,
          secret: TEST_ADMIN_SECRET,
          oidc: oidcSection(provider.url),
        },
        simulator: true,
        storage: engines[engine],
        files: join(folder, "files"),
        redis: `${redis?.url}/${database}`,
        auth: {
          jwt: [
            {
              issuer: ISSUER,
              audience: "trivium",
              project: "default",
              algorithms: ["HS256"],
              secret: SECRET,
              limits: { requests_per_minute: PER_MINUTE },
            },
          ],
        },
      });
      for (let index = 0; index < INSTANCES; index++)
        instances.push(await startTestGateway({ config: config(freePort()), timings: { limitLeaseMs: 3_000 } }));
    }, 120_000);
    afterAll(async () => {
      for (const one of instances) await one.stop();
      instances = [];
      await provider.stop();
    });

    const at = (index: number): TestGateway => {
      const found = instances[index % INSTANCES];
      if (found === undefined) throw new Error("no instance");
      return found;
    };
    const sign = (sub: string, jti = "1") =>
      new SignJWT({ jti })
        .setProtectedHeader({ alg: "HS256" })
        .setIssuer(ISSUER)
        .setAudience("trivium")
        .setSubject(sub)
        .setIssuedAt()
        .setExpirationTime("1h")
        .sign(new TextEncoder().encode(SECRET));
    const call = async (index: number, token: string): Promise<number> => {
      const answer = await fetch(`${at(index).url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "sim/standard", messages: [{ role: "user", content: "hi" }], max_tokens: 5 }),
      });
      await answer.text();
      return answer.status;
    };
    const asAdmin = (index: number, method: string, path: string, body?: object) =>
      fetch(at(index).adminUrl + path, {
        method,
        headers: { authorization: `Bearer ${TEST_ADMIN_SECRET}`, "content-type": "application/json" },
        ...(body && { body: JSON.stringify(body) }),
      });

    test("H23: the limit of a subject holds over all instances, whatever token it sends and to whom", async () => {
      const tokens = await Promise.all(Array.from({ length: 60 }, (_, index) => sign("racer", String(index))));
      const statuses = await Promise.all(tokens.map((token, index) => call(index, token)));
      const ok = statuses.filter((status) => status === 200).length;
      expect([ok, statuses.filter((status) => status === 429).length]).toEqual([PER_MINUTE, 60 - PER_MINUTE]);
      expect(await call(1, await sign("another"))).toBe(200);
    }, 60_000);

    test("H44: a revocation reaches every instance", async () => {
      const token = await sign("leaver");
      for (let index = 0; index < INSTANCES; index++) expect(await call(index, token)).toBe(200);
      expect((await asAdmin(0, "POST", "/api/subjects/revoke", { issuer: ISSUER, subject: "leaver" })).status).toBe(
        200,
      );
      const waiting = new Set(Array.from({ length: INSTANCES }, (_, index) => index));
      await eventually("all instances", async () => {
        for (const index of waiting) if ((await call(index, token)) === 401) waiting.delete(index);
        return waiting.size === 0;
      });
      await Bun.sleep(1_000);
      expect(await call(2, await sign("leaver", "2"))).toBe(200);
    }, 60_000);

    test("a login that begins at one instance ends at another, once, and its session is valid everywhere", async () => {
      const browser = new HttpBrowser();
      const callback = `${publicUrl}/api/session/oidc/callback`;
      let page = await browser.visit(`${at(0).adminUrl}/api/session/oidc`, {}, callback);
      page = await browser.submit(page, { login: "ada", password: "any" }, callback);
      if (!page.url.startsWith(callback)) page = await browser.submit(page, {}, callback);
      const cookie = browser.cookie(at(0).adminUrl, "trv_login") ?? "";
      const { search } = new URL(page.url);
      const returned = await Promise.all(
        Array.from({ length: INSTANCES }, (_, index) => {
          const copy = new HttpBrowser();
          copy.setCookie(at(index).adminUrl, "trv_login", cookie);
          return copy.step(`${at(index).adminUrl}/api/session/oidc/callback${search}`);
        }),
      );
      expect(returned.map(({ status }) => status).sort()).toEqual([303, 401, 401]);
      const opened = returned.find(({ status }) => status === 303)?.headers.getSetCookie()[0] ?? "";
      const session = { cookie: opened.split(";")[0] ?? "" };
      const statusAt = async (index: number) =>
        (await fetch(`${at(index).adminUrl}/api/session`, { headers: session })).status;
      expect(await Promise.all([0, 1, 2].map(statusAt))).toEqual([200, 200, 200]);
      const listed = (await (await asAdmin(1, "GET", "/api/sessions")).json()) as {
        data: { id: string; subject: string }[];
      };
      const id = listed.data.find(({ subject }) => subject === "ada")?.id;
      expect((await asAdmin(2, "DELETE", `/api/sessions/${id}`)).status).toBe(200);
      expect(await Promise.all([0, 1, 2].map(statusAt))).toEqual([401, 401, 401]);
    }, 60_000);

    test("H43: a batch that a subject creates at one instance is finished, shown by another, and billed to the subject", async () => {
      const token = await sign("batcher");
      const headers = { authorization: `Bearer ${token}` };
      const line = (index: number) => ({
        custom_id: `line-${index}`,
        method: "POST",
        url: "/v1/chat/completions",
        body: { model: "sim/standard", messages: [{ role: "user", content: "hi" }], max_tokens: 5 },
      });
      const form = new FormData();
      form.set("purpose", "batch");
      const lines = Array.from({ length: 5 }, (_, index) => JSON.stringify(line(index)));
      form.set("file", new File([lines.join("\n")], "batch.jsonl"));
      const uploaded = await fetch(`${at(0).url}/v1/files`, { method: "POST", headers, body: form });
      const { id: input } = (await uploaded.json()) as { id: string };
      // The row of the subject is there before the batch.
      await Bun.sleep(1_000);
      const body = { input_file_id: input, endpoint: "/v1/chat/completions", completion_window: "24h" };
      const made = await fetch(`${at(0).url}/v1/batches`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const { id } = (await made.json()) as { id: string };
      expect(made.status).toBe(200);
      const read = async () => {
        const answer = await fetch(`${at(1).url}/v1/batches/${id}`, { headers });
        expect(answer.status).toBe(200);
        return (await answer.json()) as { status: string; request_counts: { completed: number } };
      };
      let batch = await read();
      while (batch.status !== "completed" && batch.status !== "failed" && batch.status !== "cancelled") {
        // Polls count as requests, of which the subject has few.
        await Bun.sleep(5_000);
        batch = await read();
      }
      expect([batch.status, batch.request_counts.completed]).toEqual(["completed", 5]);
      const subject = (await (await asAdmin(2, "GET", "/api/subjects?subject=batcher")).json()) as {
        data: { id: string }[];
      };
      const path = `/api/receipts?key=${subject.data[0]?.id}&limit=50`;
      const receipts = (await (await asAdmin(2, "GET", path)).json()) as { data: object[] };
      expect(receipts.data.length).toBe(5);
    }, 120_000);

    test("the subjects that any instance has seen are listed by all", async () => {
      await Bun.sleep(1_000);
      for (let index = 0; index < INSTANCES; index++) {
        const path = `/api/subjects?issuer=${encodeURIComponent(ISSUER)}&limit=2`;
        const first = (await (await asAdmin(index, "GET", path)).json()) as {
          data: { subject: string }[];
          next: string;
        };
        const second = (await (await asAdmin(index, "GET", `${path}&after=${first.next}`)).json()) as typeof first;
        const names = [...first.data, ...second.data].map(({ subject }) => subject).sort();
        expect(names).toEqual(["another", "batcher", "leaver", "racer"]);
      }
    }, 60_000);
  },
);
