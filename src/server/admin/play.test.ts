import { describe, expect, test } from "bun:test";
import { ADMIN_SECRET, AdminHarness } from "../../../testing/admin-harness.ts";
import { TEST_KEY } from "../../../testing/test-key.ts";

const BODY = { model: "acme/llama", messages: [{ role: "user", content: "Hello" }] };
const CHAT = "/api/play?path=%2Fv1%2Fchat%2Fcompletions";

describe("console-notes 4.1: the playground calls like a client", () => {
  test("with the presented key, and without the operator's credentials", async () => {
    const admin = await AdminHarness.start();
    const without = await admin.ask("POST", CHAT, { secret: ADMIN_SECRET, body: BODY });
    expect(without.status).toBe(401);
    const wrong = { "x-trivium-play-key": "trv-wrong" };
    expect((await admin.ask("POST", CHAT, { secret: ADMIN_SECRET, body: BODY, headers: wrong })).status).toBe(401);
    const headers = { "x-trivium-play-key": TEST_KEY };
    const answer = await admin.ask("POST", CHAT, {
      secret: ADMIN_SECRET,
      body: { ...BODY, model: "no/such" },
      headers,
    });
    expect([answer.status, answer.headers.has("x-trivium-request-id")]).toEqual([404, true]);
  });

  test.each(["", "v1/models", "//evil.example/v1", "/\\evil.example", "http://evil.example/", "/a b"])(
    "SSRF: %p is not a path of this gateway",
    async (path) => {
      const admin = await AdminHarness.start();
      const address = `/api/play?path=${encodeURIComponent(path)}`;
      expect((await admin.ask("POST", address, { secret: ADMIN_SECRET, body: BODY })).status).toBe(400);
    },
  );

  test("GET only fetches files, and changes nothing", async () => {
    const admin = await AdminHarness.start();
    expect((await admin.ask("GET", "/api/play?path=%2Fv1%2Fmodels", { secret: ADMIN_SECRET })).status).toBe(400);
    for (const path of [
      "/files/../v1/models",
      "/files/%2e%2e/v1/models",
      "/files/./../v1/models",
      "/files/a/../../v1/models",
    ]) {
      const address = `/api/play?path=${encodeURIComponent(path)}`;
      expect((await admin.ask("GET", address, { secret: ADMIN_SECRET })).status).toBe(400);
    }
    expect((await admin.ask("GET", "/api/play?path=%2Ffiles%2Fnone", { secret: ADMIN_SECRET })).status).toBe(404);
  });

  test("S11: a WebSocket opens conversations only, and no page of another origin opens one", async () => {
    const admin = await AdminHarness.start();
    const open = async (path: string, headers: Record<string, string>) => {
      const upgrade = { upgrade: "websocket", connection: "Upgrade", ...headers };
      const address = `/api/play?path=${encodeURIComponent(path)}`;
      return (await admin.ask("GET", address, { secret: ADMIN_SECRET, headers: upgrade })).status;
    };
    // The clients' listener answers: it knows no key.
    expect(await open("/v1/realtime?model=acme", {})).toBe(401);
    expect(await open("/v1/realtime?model=acme", { "sec-fetch-site": "cross-site" })).toBe(403);
    expect(await open("/v1/responses", {})).toBe(400);
  });
});
