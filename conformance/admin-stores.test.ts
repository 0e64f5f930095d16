import { afterAll, describe, expect, test } from "bun:test";
import { scriptedModels } from "../testing/scripted-models.ts";
import { testDatabases } from "../testing/test-databases.ts";
import { callGateway } from "./support/client-calls.ts";
import { answeringUpstream } from "./support/fault-harness.ts";
import { runProgram } from "./support/program.ts";
import { startTestGateway, TEST_ADMIN_SECRET, type TestGateway } from "./support/test-gateway.ts";

const upstream = await answeringUpstream();
const COST = 20_000;

type Json = Record<string, unknown>;

for (const databases of testDatabases("the Admin API")) {
  describe(`choices 10: the Admin API and its commands on ${databases.engine}`, () => {
    afterAll(() => databases.clear());

    const started = async () =>
      startTestGateway({ config: { ...scriptedModels(upstream.url), storage: await databases.withTables() } });

    async function ask(gateway: TestGateway, method: string, path: string, body?: object) {
      const answer = await fetch(gateway.adminUrl + path, {
        method,
        headers: { authorization: `Bearer ${gateway.adminSecret}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const text = await answer.text();
      const json = text.startsWith("{") ? (JSON.parse(text.split("\n")[0] ?? "") as Json) : {};
      return { status: answer.status, text, data: json["data"], next: json["next"] };
    }
    const listOf = async (gateway: TestGateway, path: string) => (await ask(gateway, "GET", path)).data as Json[];

    async function calls(gateway: TestGateway, key: string, count: number): Promise<void> {
      for (let call = 0; call < count; call += 1) {
        const answer = await callGateway(gateway.url, "chat", key, {});
        await answer.text();
        expect(answer.status).toBe(200);
      }
    }

    /** A command at the running gateway, which reads no configuration. */
    async function command(gateway: TestGateway, ...args: string[]) {
      const { code, stdout, stderr } = await runProgram([...args, "--url", gateway.adminUrl, "--json"], {
        cwd: "/",
        env: { TRIVIUM_ADMIN_SECRET: TEST_ADMIN_SECRET },
      });
      return { code, stderr, json: (code === 0 ? JSON.parse(stdout) : {}) as Json };
    }

    test("a key revoked several times concurrently is revoked once", async () => {
      const gateway = await started();
      try {
        const made = (await ask(gateway, "POST", "/api/keys", { name: "r" })).data as Json;
        const revokes = Array.from({ length: 8 }, () => ask(gateway, "DELETE", `/api/keys/${made["id"]}`));
        const answers = await Promise.all(revokes);
        expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
        const acts = (await listOf(gateway, "/api/audit")).filter(({ act }) => act === "key.revoke");
        expect(acts).toHaveLength(1);
      } finally {
        await gateway.stop();
      }
    });

    test("projects, keys, receipts, usage, exports and the audit log", async () => {
      const gateway = await started();
      try {
        const project = { id: "red", limits: { budget_usd_per_day: 3 }, discounts: [{ basis_points: 5_000 }] };
        expect((await ask(gateway, "POST", "/api/projects", project)).status).toBe(201);
        expect((await ask(gateway, "POST", "/api/projects", project)).status).toBe(400);
        const made = (await ask(gateway, "POST", "/api/keys", { name: "r", project: "red" })).data as Json;
        await calls(gateway, String(made["key"]), 3);
        await calls(gateway, gateway.key, 2);
        expect((await listOf(gateway, "/api/projects")).find(({ id }) => id === "red")).toMatchObject({
          limits: { budget_usd_per_day: 3 },
          spent_nano_usd: { day: (3 * COST) / 2 },
        });
        expect((await ask(gateway, "GET", `/api/keys/${made["id"]}`)).data).toMatchObject({
          name: "r",
          project: "red",
        });

        const seen: Json[] = [];
        for (let after = ""; ; ) {
          const page = await ask(gateway, "GET", `/api/receipts?limit=2${after}`);
          seen.push(...(page.data as Json[]));
          if (page.next === null) break;
          after = `&after=${encodeURIComponent(String(page.next))}`;
        }
        expect(seen.map(({ id }) => id)).toEqual(
          seen
            .map(({ id }) => id)
            .toSorted()
            .reverse(),
        );
        expect(seen.length).toBe(5);
        const counts = async (query: string) => (await listOf(gateway, `/api/receipts?${query}`)).length;
        expect(await counts("project=red")).toBe(3);
        expect(await counts("text=%25")).toBe(0);
        expect(await counts(`min_cost=${COST / 1e9}`)).toBe(2);
        expect(await counts(`text=${String(seen[0]?.["id"]).slice(0, 9)}`)).toBe(5);
        expect(await counts("text=TEST/chat&outcome=ok")).toBe(5);
        expect((await ask(gateway, "GET", `/api/receipts/${seen[0]?.["id"]}`)).status).toBe(200);

        const byProject = await listOf(gateway, "/api/usage?by=project,day");
        expect(
          byProject
            .map(({ groups, calls: count, cost_nano_usd }) => [(groups as string[])[0], count, cost_nano_usd])
            .sort(),
        ).toEqual([
          ["default", 2, 2 * COST],
          ["red", 3, (3 * COST) / 2],
        ]);
        const { text: csv } = await ask(gateway, "GET", "/api/usage/export?project=red");
        expect(csv.trim().split("\r\n").length).toBe(4);
        const overview = (await ask(gateway, "GET", "/api/overview?window=1h")).data as { total: Json };
        expect(overview.total).toMatchObject({ calls: 5, cost_nano_usd: 3.5 * COST });

        expect((await ask(gateway, "DELETE", "/api/projects/red")).status).toBe(400);
        expect((await ask(gateway, "DELETE", `/api/keys/${made["id"]}`)).status).toBe(200);
        expect((await callGateway(gateway.url, "chat", String(made["key"]), {})).status).toBe(401);
        expect((await ask(gateway, "DELETE", "/api/projects/red")).status).toBe(200);
        const acts = (await listOf(gateway, "/api/audit?limit=10")).map(({ act }) => act);
        expect(acts.slice(0, 5)).toEqual([
          "project.delete",
          "key.revoke",
          "usage.export",
          "key.create",
          "project.create",
        ]);

        const session = await fetch(`${gateway.adminUrl}/api/session`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ secret: gateway.adminSecret }),
        });
        const cookie = (session.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
        const { data } = (await session.json()) as { data: { csrf: string } };
        const withSession = (headers: Record<string, string>) =>
          fetch(`${gateway.adminUrl}/api/projects`, {
            method: "POST",
            headers: { cookie, "content-type": "application/json", "sec-fetch-site": "same-origin", ...headers },
            body: JSON.stringify({ id: `p${Object.keys(headers).length}` }),
          });
        expect((await withSession({})).status).toBe(403);
        expect((await withSession({ "x-trivium-csrf": data.csrf })).status).toBe(201);
      } finally {
        await gateway.stop();
      }
    });

    test("the commands with --url do the same at a running gateway, immediately and audited", async () => {
      const gateway = await started();
      const works = async (key: unknown) => (await callGateway(gateway.url, "chat", String(key), {})).status;
      try {
        expect((await command(gateway, "projects", "create", "blue", "--limit", "concurrent=5")).code).toBe(0);
        const made = (await command(gateway, "keys", "create", "--name", "b", "--project", "blue")).json;
        expect(await works(made["key"])).toBe(200);
        const updated = await command(
          gateway,
          "keys",
          "update",
          String(made["id"]),
          "--limit",
          "requests_per_minute=9",
        );
        expect(updated.json["limits"]).toEqual({ requests_per_minute: 9 });
        const rotated = (await command(gateway, "keys", "rotate", "b", "--overlap", "0")).json;
        expect([await works(made["key"]), await works(rotated["key"])]).toEqual([401, 200]);
        expect((await command(gateway, "projects", "update", "blue", "--suspend")).json["status"]).toBe("suspended");
        expect(await works(rotated["key"])).toBe(403);
        expect((await command(gateway, "keys", "revoke", "b")).code).toBe(0);
        expect((await command(gateway, "projects", "delete", "blue")).code).toBe(0);
        const refused = await command(gateway, "keys", "create", "--name", "x", "--project", "blue");
        expect([refused.code, refused.stderr.length > 10]).toEqual([1, true]);
        const listed = (await command(gateway, "receipts", "list", "--project", "blue")).json as unknown as Json[];
        expect(listed.length).toBe(2);
        const acts = (await listOf(gateway, "/api/audit?limit=20")).map(({ act }) => act);
        expect(acts.slice(0, 7)).toEqual([
          "project.delete",
          "key.revoke",
          "project.update",
          "key.rotate",
          "key.update",
          "key.create",
          "project.create",
        ]);
      } finally {
        await gateway.stop();
      }
    });
  });
}
