import { describe, expect, test } from "bun:test";
import { ADMIN_SECRET, AdminHarness } from "../../../testing/admin-harness.ts";
import { plainAnswer, plainUsage } from "../../../testing/plain-answer.ts";

const ANSWER = plainAnswer("chat", { text: "OK", usage: plainUsage("chat", 12, 3) });
const asAdmin = { secret: ADMIN_SECRET };

interface Tested {
  ok: boolean;
  call: { model: string; ok: boolean; receipt: string | null; error: { kind: string; message: string } | null } | null;
}

const tested = async (admin: AdminHarness, name: string) =>
  (await admin.ask("POST", `/api/providers/${name}/test`, asAdmin)).json["data"] as Tested;

describe("choices 10: POST /api/providers/{name}/test", () => {
  test("H23: makes a real small call, with its own receipt", async () => {
    const admin = await AdminHarness.start();
    const { upstream } = admin.gateway;
    upstream.play(upstream.json(ANSWER));
    const { ok, call } = await tested(admin, "up-chat");
    expect([ok, call?.ok, call?.error]).toEqual([true, true, null]);
    const [request] = upstream.requests;
    expect(JSON.parse(request?.body ?? "{}")).toMatchObject({ max_completion_tokens: 16 });
    expect(request?.headers["authorization"]).toBe("Bearer upstream-secret-chat");
    const [row] = await admin.gateway.storage.query("SELECT * FROM receipts");
    expect(row).toMatchObject({ id: call?.receipt, key_id: "operator", provider: "up-chat", outcome: "ok" });
    expect(admin.gateway.leftovers()).toMatchObject({ runningCalls: 0, heldBytes: 0 });
  });

  test("S10: reports what failed, and shows no key", async () => {
    const admin = await AdminHarness.start();
    const { upstream } = admin.gateway;
    upstream.play(upstream.json({ error: { message: "bad key upstream-secret-chat" } }, 401));
    const answer = await admin.ask("POST", "/api/providers/up-chat/test", asAdmin);
    expect(answer.json["data"]).toMatchObject({
      ok: false,
      call: { ok: false, error: { kind: "upstream_credentials" } },
    });
    expect(answer.text).not.toContain("upstream-secret");
    expect(upstream.requests.length).toBe(1);
  });

  test("an unknown provider is a 404 that names the known ones", async () => {
    const admin = await AdminHarness.start();
    const { status, text } = await admin.ask("POST", "/api/providers/none/test", asAdmin);
    expect([status, text.includes("up-chat")]).toEqual([404, true]);
  });
});
