import { expect, test } from "bun:test";
import { ADMIN_SECRET, AdminHarness } from "../../../../testing/admin-harness.ts";

test("S09: operators are listed by project, without anything of their secrets but the last characters", async () => {
  const admin = await AdminHarness.start();
  const asAdmin = { secret: ADMIN_SECRET };
  await admin.ask("POST", "/api/projects", { ...asAdmin, body: { id: "default" } });
  const secret = await admin.operator("project", "default");
  await admin.clock.pass(1_000);
  await admin.operator("viewer");
  const { json, text } = await admin.ask("GET", "/api/operators", asAdmin);
  const all = json["data"] as { role: string; project: string | null; hint: string; revoked_at: string | null }[];
  expect(all.map(({ role, project }) => [role, project])).toEqual([
    ["viewer", null],
    ["project", "default"],
  ]);
  expect(all.map(({ revoked_at }) => revoked_at)).toEqual([null, null]);
  expect(secret).toEndWith(all[1]?.hint ?? "none");
  expect(text).not.toContain(secret);
  expect(text).not.toContain("hash");
  const { json: ofProject } = await admin.ask("GET", "/api/operators?project=default", asAdmin);
  expect((ofProject["data"] as unknown[]).length).toBe(1);
  const { json: ofNone } = await admin.ask("GET", "/api/operators?project=other", asAdmin);
  expect(ofNone["data"]).toEqual([]);
  expect((await admin.ask("GET", "/api/operators", { secret })).status).toBe(403);
});
