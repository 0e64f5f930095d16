import { expect, test } from "bun:test";
import { ADMIN_SECRET, AdminHarness } from "../../../../testing/admin-harness.ts";

interface Listed {
  data: { id: string; key: string; project: string; protocol: string; turns: number; running: number }[];
}

test("decision 0115, S09: live connections are listed by key and project, and a limit of sessions is set by the API", async () => {
  const admin = await AdminHarness.start();
  const make = async (project: string) => {
    const body = { name: project, project, limits: { sessions: 1 } };
    const made = await admin.ask("POST", "/api/keys", { secret: ADMIN_SECRET, body });
    return made.json["data"] as { id: string; key: string };
  };
  const red = await make("red");
  const blue = await make("blue");
  const client = await admin.gateway.openLive("/v1/responses", { key: red.key });
  await admin.gateway.openLive("/v1/responses", { key: blue.key });
  const list = async (query = "", secret = ADMIN_SECRET) =>
    ((await admin.ask("GET", `/api/live_sessions${query}`, { secret })).json as unknown as Listed).data;
  expect(await list()).toMatchObject([
    { id: expect.stringContaining("ses_"), key: red.id, project: "red", protocol: "responses", turns: 0, running: 0 },
    { key: blue.id, project: "blue" },
  ]);
  expect(await list(`?key=${blue.id}`)).toHaveLength(1);
  expect(await list("?project=red")).toHaveLength(1);
  client.leave();
  expect(await list()).toHaveLength(1);
  expect((await admin.ask("GET", "/api/live_sessions?sort=x", { secret: ADMIN_SECRET })).status).toBe(400);
});
