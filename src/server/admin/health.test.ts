import { describe, expect, test } from "bun:test";
import { ADMIN_SECRET, AdminHarness } from "../../../testing/admin-harness.ts";

describe("choices 7: probes on the admin listener", () => {
  test.each(["/healthz?t=1", "/readyz?t=1", "/readyz?t=1&t=2&cache=no"])(
    "%s ignores unknown parameters",
    async (path) => {
      const admin = await AdminHarness.start();
      expect((await admin.ask("GET", path)).status).toBe(200);
      expect((await admin.gateway.get(path)).status).toBe(200);
    },
  );

  test("details are only for operators, whatever else the query has", async () => {
    const admin = await AdminHarness.start();
    expect((await admin.ask("GET", "/readyz?verbose&t=1")).status).toBe(401);
    const shown = await admin.ask("GET", "/readyz?verbose&t=1", { secret: ADMIN_SECRET });
    expect([shown.status, "providers" in shown.json]).toEqual([200, true]);
  });

  test("H25: every other endpoint rejects unknown parameters", async () => {
    const admin = await AdminHarness.start();
    expect((await admin.ask("GET", "/api/receipts?t=1", { secret: ADMIN_SECRET })).status).toBe(400);
  });
});
