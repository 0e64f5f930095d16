import { describe, expect, test } from "bun:test";
import { ADMIN_SECRET, AdminHarness } from "../../../../testing/admin-harness.ts";
import { UPSTREAM_URL } from "../../../../testing/harness.ts";
import { plainStream, plainUsage } from "../../../../testing/plain-answer.ts";
import { SCRIPTED_DIALECTS } from "../../../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../../../../testing/scripted-models.ts";
import { wire } from "../../../../testing/upstream-wire.ts";
import { listActs } from "../../../access/audit.ts";
import type { CallItem } from "../schemas/call-in-flight.ts";

const LONG_MS = 30_000;

const whole = {
  responses: plainStream("responses", ["hi", "!"], plainUsage("responses", 10, 5)),
  chat: wire.chatChunk({ role: "assistant", content: "hi" }) + wire.chatChunk({}, "stop") + wire.done,
  messages: wire.messageStart() + wire.textBlock("hi") + wire.messageEnd(),
  genai: wire.genaiChunk("hi") + wire.genaiChunk("!", "STOP"),
};

const start = () =>
  AdminHarness.start({
    config: modelsOfEveryDialect(UPSTREAM_URL, { first_byte: 60_000, idle: 60_000 }),
    timings: { commitDeadlineMs: 20_000 },
  });

async function listed(admin: AdminHarness, query = "", secret = ADMIN_SECRET) {
  const { json } = await admin.ask("GET", `/api/calls${query}`, { secret });
  return json as unknown as { data: CallItem[]; total: number; unanswered: object[]; problem: string | null };
}

const stop = (admin: AdminHarness, id: string, secret = ADMIN_SECRET) =>
  admin.ask("POST", `/api/calls/${id}/stop`, { secret });

async function receiptOf(admin: AdminHarness, id: string) {
  const { json } = await admin.ask("GET", `/api/receipts/${id}`, { secret: ADMIN_SECRET });
  return json["data"] as Record<string, unknown> & { offers: { outcome: string; reason: string | null }[] };
}

const NOTHING_LEFT = { runningCalls: 0, orphanedTexts: 0, orphanedImages: 0, heldBytes: 0, openUpstreams: 0 };

for (const dialect of SCRIPTED_DIALECTS) {
  describe(`decision 0129: ${dialect}: an operator stops a call`, () => {
    test("that streams: the client gets an error in its protocol, and what was generated is billed", async () => {
      const admin = await start();
      const { clock, upstream } = admin.gateway;
      const [first, rest] = [whole[dialect].slice(0, -100), whole[dialect].slice(-100)];
      upstream.play(upstream.stream(0, first, LONG_MS, rest));
      const sent = admin.gateway.send(dialect, { stream: true });
      await clock.pass(2_000);
      const [call] = (await listed(admin)).data;
      expect(call).toMatchObject({
        dialect,
        stream: true,
        phase: "stream",
        attempts: 1,
        verb: "generate",
        stopping: false,
        instance: "instance_test",
      });
      expect(call?.provider).not.toBeNull();
      expect(call?.age_ms).toBeGreaterThanOrEqual(2_000);
      expect(call?.first_content_ms).toBeLessThan(100);
      expect(call?.characters).toBeGreaterThan(0);
      const id = call?.id ?? "";
      const { status, json } = await stop(admin, id);
      expect([status, (json["data"] as CallItem).id]).toEqual([200, id]);
      const answer = await clock.until(sent.answer);
      expect(answer.status).toBe(200);
      expect(answer.text).toContain("An operator of this gateway stopped this call.");
      expect(answer.text).not.toContain("operator:");
      expect(clock.passedMs).toBeLessThan(5_000);
      expect(await receiptOf(admin, id)).toMatchObject({
        outcome: "stopped",
        usage_source: "partial",
        stopped_by: "operator:admin",
        offers: [{ outcome: "answered" }],
      });
      expect((await receiptOf(admin, id))["cost_nano_usd"]).toBeGreaterThan(0);
      expect(admin.gateway.leftovers()).toEqual(NOTHING_LEFT);
      expect(await listed(admin)).toMatchObject({ data: [], total: 0 });
      expect((await stop(admin, id)).status).toBe(404);
    });

    test.each([true, false])(
      "that waits for its provider (stream %p): the client gets a status that it does not retry",
      async (stream) => {
        const admin = await start();
        const { clock, upstream } = admin.gateway;
        upstream.play(upstream.stream(LONG_MS, whole[dialect]));
        const sent = admin.gateway.send(dialect, { stream });
        await clock.pass(2_000);
        const [call] = (await listed(admin)).data;
        expect(call).toMatchObject({ phase: "provider", first_content_ms: null, attempts: 1 });
        await stop(admin, call?.id ?? "");
        const answer = await clock.until(sent.answer);
        expect(answer.status).toBe(dialect === "messages" ? 500 : 503);
        expect(answer.headers.get("x-should-retry")).toBe("false");
        expect(answer.text).toContain("stopped this call");
        // No other offer is asked.
        expect(upstream.requests).toHaveLength(1);
        expect(await receiptOf(admin, call?.id ?? "")).toMatchObject({
          outcome: "stopped",
          stopped_by: "operator:admin",
          offers: [{ outcome: "abandoned", reason: "stopped" }],
        });
        expect(admin.gateway.leftovers()).toEqual(NOTHING_LEFT);
      },
    );
  });
}

describe("decision 0129: a call can be stopped wherever it waits", () => {
  test("before a retry", async () => {
    const admin = await start();
    const { clock, upstream } = admin.gateway;
    upstream.play(upstream.json({ error: { message: "slow down" } }, 503), upstream.stream(LONG_MS, whole.chat));
    const sent = admin.gateway.send("chat", {});
    await clock.pass(50);
    const [call] = (await listed(admin)).data;
    expect(call?.phase).toBe("backoff");
    await stop(admin, call?.id ?? "");
    expect((await clock.until(sent.answer)).status).toBe(503);
    expect(upstream.requests).toHaveLength(1);
    expect(admin.gateway.leftovers()).toEqual(NOTHING_LEFT);
  });

  test("a call whose client has left is stopped too, and its outcome stays client_gone", async () => {
    const admin = await start();
    const { clock, upstream } = admin.gateway;
    upstream.play(upstream.stream(0, whole.chat.slice(0, 200), LONG_MS, whole.chat.slice(200)));
    const sent = admin.gateway.send("chat", { stream: true });
    await clock.pass(1_000);
    sent.disconnect();
    await clock.pass(100);
    const [call] = (await listed(admin)).data;
    expect((await stop(admin, call?.id ?? "")).status).toBe(200);
    await clock.pass(10);
    expect(admin.gateway.leftovers()).toEqual(NOTHING_LEFT);
    expect(await receiptOf(admin, call?.id ?? "")).toMatchObject({ outcome: "client_gone", stopped_by: null });
  });

  test("stopping twice has the same effect as once", async () => {
    const admin = await start();
    const { clock, upstream } = admin.gateway;
    upstream.play(upstream.stream(LONG_MS, whole.chat));
    const sent = admin.gateway.send("chat", {});
    await clock.pass(1_000);
    const id = (await listed(admin)).data[0]?.id ?? "";
    const [first, second] = await Promise.all([stop(admin, id), stop(admin, id)]);
    expect([first.status, [200, 404].includes(second.status)]).toEqual([200, true]);
    expect((await clock.until(sent.answer)).status).toBe(503);
    const { acts } = await listActs(admin.gateway.storage, { act: "call.stop" }, { limit: 9 });
    expect(acts.map(({ who, target }) => [who, target])).toContainEqual(["operator:admin", id]);
  });
});

describe("S09: operators see and stop what they may", () => {
  test("a project's operator only its own calls, and a viewer stops none", async () => {
    const admin = await start();
    const { clock, upstream } = admin.gateway;
    const keyOf = async (project: string) => {
      const body = { name: project, project };
      const made = await admin.ask("POST", "/api/keys", { secret: ADMIN_SECRET, body });
      return (made.json["data"] as { key: string }).key;
    };
    for (const project of ["red", "blue"]) {
      upstream.play(upstream.stream(LONG_MS, whole.chat));
      admin.gateway.send("chat", { key: await keyOf(project) });
      await clock.pass(100);
    }
    const both = await listed(admin);
    expect(both.data.map(({ project }) => project)).toEqual(["red", "blue"]);
    expect((await listed(admin, "?sort=newest")).data.map(({ project }) => project)).toEqual(["blue", "red"]);
    expect(await listed(admin, "?limit=1")).toMatchObject({ data: [{ project: "red" }], total: 2 });
    expect(await listed(admin, `?key=${both.data[1]?.key}`)).toMatchObject({ data: [{ project: "blue" }], total: 1 });
    expect(await listed(admin, `?provider=${both.data[0]?.provider}&model=${both.data[0]?.model}`)).toMatchObject({
      total: 2,
    });
    expect(await listed(admin, "?provider=nobody")).toMatchObject({ data: [], total: 0 });
    const red = await admin.operator("project", "red");
    expect((await listed(admin, "", red)).data.map(({ project }) => project)).toEqual(["red"]);
    expect((await admin.ask("GET", "/api/calls?project=blue", { secret: red })).status).toBe(403);
    const [ofRed, ofBlue] = both.data.map(({ id }) => id);
    expect((await stop(admin, ofBlue ?? "", red)).status).toBe(404);
    expect((await stop(admin, ofRed ?? "", await admin.operator("viewer"))).status).toBe(403);
    expect((await listed(admin)).total).toBe(2);
    expect((await stop(admin, ofRed ?? "", red)).status).toBe(200);
    await clock.pass(10);
    expect((await listed(admin)).data.map(({ id }) => id)).toEqual([ofBlue ?? ""]);
  });

  test("a client's key opens neither endpoint", async () => {
    const admin = await start();
    const made = await admin.ask("POST", "/api/keys", { secret: ADMIN_SECRET, body: { name: "client" } });
    const { key } = made.json["data"] as { key: string };
    for (const [method, path] of [
      ["GET", "/api/calls"],
      ["POST", "/api/calls/rcpt_1/stop"],
    ] as const) {
      expect((await admin.ask(method, path, { secret: key })).status).toBe(401);
      expect((await admin.gateway.ask(method, path, key)).status).toBe(404);
    }
  });
});
