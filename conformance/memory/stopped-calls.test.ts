import { describe, expect, test } from "bun:test";
import { Questions } from "../../src/instances/questions.ts";
import { answerOperators } from "../../src/server/admin/running/answer-operators.ts";
import type { CallItem } from "../../src/server/admin/schemas/call-in-flight.ts";
import { insertInstance } from "../../src/storage/tables/instances.ts";
import { ADMIN_SECRET, AdminHarness } from "../../testing/admin-harness.ts";
import { Harness, makeMachine, UPSTREAM_URL } from "../../testing/harness.ts";
import { liveModels, realtime, realtimeHost } from "../../testing/live/live-hosts.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";

const NOTHING_LEFT = { runningCalls: 0, orphanedTexts: 0, orphanedImages: 0, heldBytes: 0, openUpstreams: 0 };
const PATIENT = { first_byte: 100_000, idle: 100_000 };
const begun = wire.chatChunk({ role: "assistant", content: "Once upon a time" });

const provider = (path: string, more: object = {}) => ({
  kind: "openai",
  base_url: `${UPSTREAM_URL}/${path}/v1`,
  api_key: "upstream-secret",
  timeout_ms: PATIENT,
  ...more,
});
const perMillion = (value: number) => [{ value, unit: "perMTokens", currency: "USD" }];

const CONFIG = {
  providers: { one: provider("one"), two: provider("two"), narrow: provider("narrow", { max_concurrent: 1 }) },
  routing: { queue_ms: 60_000 },
  models: [
    {
      id: "test/vectors",
      output_modalities: ["embeddings"],
      pricings: { prompt: perMillion(2) },
      offers: [{ provider: "one", model: "text-embedding-3-small" }],
    },
    {
      id: "test/voice",
      output_modalities: ["audio"],
      pricings: { characters: [{ value: 15, unit: "perMCharacters", currency: "USD" }] },
      offers: [{ provider: "one", model: "tts-1" }],
    },
    {
      id: "test/writer",
      pricings: { prompt: perMillion(1), completion: perMillion(2) },
      offers: [{ provider: "one", model: "gpt-3.5-turbo-instruct" }],
    },
    {
      id: "test/painter",
      output_modalities: ["image"],
      pricings: { image: [{ value: 0.04, unit: "perCount", currency: "USD" }] },
      offers: [{ provider: "one", model: "gpt-image-1" }],
    },
    ...["one two", "narrow"].map((names) => ({
      id: `test/${names.replace(" ", "-")}`,
      pricings: { prompt: perMillion(1), completion: perMillion(2) },
      offers: names.split(" ").map((name) => ({ provider: name, model: "gpt-4o", dialect: "chat" })),
    })),
  ],
};

const MESSAGES = [{ role: "user", content: "Tell me a story" }];

async function calls(admin: AdminHarness): Promise<CallItem[]> {
  const { json } = await admin.ask("GET", "/api/calls", { secret: ADMIN_SECRET });
  return json["data"] as CallItem[];
}
const stop = (admin: AdminHarness, id: string | undefined) =>
  admin.ask("POST", `/api/calls/${id}/stop`, { secret: ADMIN_SECRET });
async function receiptOf(admin: AdminHarness, id: string | undefined) {
  const { json } = await admin.ask("GET", `/api/receipts/${id}`, { secret: ADMIN_SECRET });
  return json["data"] as Record<string, unknown>;
}

describe("decision 0129: every kind of call can be stopped", () => {
  test.each([
    ["embeddings", "/api/v1/embeddings", { model: "test/vectors", input: "A text" }],
    ["images", "/v1/images/generations", { model: "test/painter", prompt: "A horse" }],
  ])("%s: the provider's work is cancelled, and billed as expected", async (verb, path, body) => {
    const admin = await AdminHarness.start({ config: CONFIG });
    const { clock, upstream } = admin.gateway;
    upstream.play(upstream.openStream());
    const sent = admin.gateway.sendPost(path, body);
    await clock.pass(5_000);
    const [call] = await calls(admin);
    expect(call).toMatchObject({ verb, phase: "provider", provider: "one", attempts: 1, stream: false });
    expect((await stop(admin, call?.id)).status).toBe(200);
    const answer = await clock.until(sent.answer);
    expect([answer.status, answer.headers.get("x-should-retry")]).toEqual([503, "false"]);
    expect(answer.text).toContain("stopped this call");
    expect(admin.gateway.leftovers()).toEqual(NOTHING_LEFT);
    expect(upstream.requests).toHaveLength(1);
    const receipt = await receiptOf(admin, call?.id);
    expect(receipt).toMatchObject({ outcome: "stopped", stopped_by: "operator:admin", usage_source: "partial" });
    expect(receipt["cost_nano_usd"]).toBeGreaterThan(0);
  });

  test.each([
    ["speech", "/api/v1/audio/speech", { model: "test/voice", input: "A long story", voice: "alloy" }, "some sound"],
    [
      "completions",
      "/v1/completions",
      { model: "test/writer", prompt: "Once", stream: true },
      `data: ${JSON.stringify({ id: "c", object: "text_completion", created: 1, model: "m", choices: [{ text: " upon", index: 0, finish_reason: null }] })}\n\n`,
    ],
  ])("%s that has begun ends, and is billed", async (verb, path, body, first) => {
    const admin = await AdminHarness.start({ config: CONFIG });
    const { clock, upstream } = admin.gateway;
    upstream.play(upstream.openStream(first));
    const sent = admin.gateway.sendPost(path, body);
    await clock.pass(3_000);
    const [call] = await calls(admin);
    expect([call?.verb, call?.provider]).toEqual([verb, "one"]);
    await stop(admin, call?.id);
    await clock.until(sent.answer.catch(() => {}));
    await clock.pass(1_000);
    expect(admin.gateway.leftovers()).toEqual(NOTHING_LEFT);
    expect(await calls(admin)).toEqual([]);
    const receipt = await receiptOf(admin, call?.id);
    expect(receipt).toMatchObject({ outcome: "stopped", stopped_by: "operator:admin" });
    expect(receipt["cost_nano_usd"]).toBeGreaterThan(0);
  });

  test("one that waits for a slot leaves the queue, and costs nothing", async () => {
    const admin = await AdminHarness.start({ config: CONFIG });
    const { clock, upstream } = admin.gateway;
    upstream.play(upstream.openStream());
    const body = { model: "test/narrow", messages: MESSAGES };
    admin.gateway.sendPost("/api/v1/chat/completions", body);
    await clock.pass(10);
    const second = admin.gateway.sendPost("/api/v1/chat/completions", body);
    await clock.pass(1_000);
    const [works, waits] = await calls(admin);
    expect([works?.phase, waits?.phase, waits?.attempts, waits?.provider]).toEqual(["provider", "queue", 0, null]);
    await stop(admin, waits?.id);
    expect((await clock.until(second.answer)).status).toBe(503);
    expect(await receiptOf(admin, waits?.id)).toMatchObject({ outcome: "stopped", cost_nano_usd: 0, offers: [] });
    expect((await calls(admin)).map(({ id }) => id)).toEqual([works?.id ?? ""]);
    await stop(admin, works?.id);
    await clock.pass(1_000);
    expect(admin.gateway.leftovers()).toEqual(NOTHING_LEFT);
  });

  test("H14: of a hedged call both offers are stopped and billed, and no third is asked", async () => {
    const admin = await AdminHarness.start({ config: CONFIG });
    const { clock, upstream } = admin.gateway;
    upstream.play(upstream.openStream());
    const body = { model: "test/one-two", messages: MESSAGES, stream: true, trivium: { hedge: true } };
    const sent = admin.gateway.sendPost("/api/v1/chat/completions", body);
    await clock.pass(5_000);
    const [call] = await calls(admin);
    expect(call).toMatchObject({ attempts: 2, phase: "provider" });
    await stop(admin, call?.id);
    expect((await clock.until(sent.answer)).text).toContain("stopped this call");
    await clock.pass(1_000);
    expect(upstream.requests).toHaveLength(2);
    expect(admin.gateway.leftovers()).toEqual(NOTHING_LEFT);
    expect(await receiptOf(admin, call?.id)).toMatchObject({
      outcome: "stopped",
      offers: [{ outcome: "abandoned" }, { outcome: "abandoned" }],
    });
  });

  test("a stream that would survive is not continued elsewhere", async () => {
    const admin = await AdminHarness.start({ config: CONFIG });
    const { clock, upstream } = admin.gateway;
    upstream.play(upstream.openStream(begun));
    const body = { model: "test/one-two", messages: MESSAGES, stream: true, trivium: { survive: true } };
    const sent = admin.gateway.sendPost("/api/v1/chat/completions", body);
    await clock.pass(2_000);
    const [call] = await calls(admin);
    expect(call).toMatchObject({ phase: "stream", characters: expect.any(Number) });
    await stop(admin, call?.id);
    const { text } = await clock.until(sent.answer);
    expect(text).toContain("Once upon a time");
    expect(text).toContain("stopped this call");
    expect(text).not.toContain("[DONE]");
    expect(upstream.requests).toHaveLength(1);
    expect(admin.gateway.leftovers()).toEqual(NOTHING_LEFT);
  });

  test("a response in the background is listed once its client has gone, and fails", async () => {
    const admin = await AdminHarness.start({ config: modelsOfEveryDialect(UPSTREAM_URL, PATIENT) });
    const { clock, upstream } = admin.gateway;
    upstream.play(upstream.openStream());
    const body = { model: "test/chat", input: "Hi", background: true };
    const queued = await admin.gateway.post("/v1/responses", body);
    const { id } = JSON.parse(queued.text) as { id: string };
    await clock.pass(2_000);
    const [call] = await calls(admin);
    expect(call).toMatchObject({ dialect: "responses", phase: "provider" });
    await stop(admin, call?.id);
    await clock.pass(2_000);
    const read = await admin.gateway.ask("GET", `/v1/responses/${id}`);
    expect(JSON.parse(read.text)).toMatchObject({ status: "failed" });
    expect(await receiptOf(admin, call?.id)).toMatchObject({ outcome: "stopped", stopped_by: "operator:admin" });
    expect(admin.gateway.leftovers()).toEqual(NOTHING_LEFT);
  });

  test("a turn of a Realtime connection names it, and ends only with it", async () => {
    const admin = await AdminHarness.start({ config: liveModels(UPSTREAM_URL) });
    const { clock, sockets } = admin.gateway;
    sockets.play(realtimeHost());
    const client = await admin.gateway.openLive("/v1/realtime?model=test/realtime");
    await client.hears("session.created");
    client.say({ type: "response.create", event_id: "ask_1" });
    await clock.pass(10);
    sockets.host.say(realtime.began("resp_1"), realtime.text("resp_1", "It is"), realtime.audio("resp_1", 1));
    await client.hears("response.output_audio.delta");
    const [turn] = await calls(admin);
    const session = turn?.session_id ?? "";
    expect([turn?.phase, session.slice(0, 4), turn?.provider !== null]).toEqual(["stream", "ses_", true]);
    const { status, json } = await stop(admin, turn?.id);
    expect([status, (json["error"] as { code: string }).code]).toEqual([400, "turn_of_session"]);
    const ended = await admin.ask("POST", `/api/live_sessions/${session}/end`, { secret: ADMIN_SECRET });
    expect(ended.status).toBe(200);
    await clock.pass(10_000);
    expect(await calls(admin)).toEqual([]);
  });
});

/** Two processes on one storage, each with its own operators' listener. */
async function twoProcesses(config: Record<string, unknown>) {
  const machine = await makeMachine();
  const start = async (id: string) => {
    const harness = await Harness.start({ config, machine });
    const { storage, clock, gateway, context } = harness;
    await insertInstance(storage, { id, place: `host, ${id}`, process: "", startedAtMs: 0, shares: "x" });
    const questions = new Questions({
      storage,
      clock,
      instance: id,
      hasOthers: true,
      hasEnded: () => false,
      seen: () => [],
      onProblem: (error) => {
        throw error;
      },
    });
    answerOperators(questions, gateway, context.live);
    gateway.changes.follow({ name: "questions", read: (stamp) => questions.heard(stamp.questions) });
    const freeze = gateway.changes.start();
    return { admin: AdminHarness.over(harness, { questions }), freeze };
  };
  return { machine, here: await start("here"), there: await start("there") };
}

describe("decision 0129: through one process an operator sees both", () => {
  test("live connections are listed and ended, and a frozen process is named in errors", async () => {
    const { here, there } = await twoProcesses(modelsOfEveryDialect(UPSTREAM_URL, PATIENT));
    const client = await there.admin.gateway.openLive("/v1/responses");
    const own = await here.admin.gateway.openLive("/v1/responses");
    const list = async () => (await here.admin.ask("GET", "/api/live_sessions", { secret: ADMIN_SECRET })).json;
    const both = await list();
    expect(both).toMatchObject({ total: 2, instances: 2, unanswered: [], problem: null });
    const end = (id: string) => here.admin.ask("POST", `/api/live_sessions/${id}/end`, { secret: ADMIN_SECRET });
    for (const { id } of both["data"] as { id: string }[]) expect((await end(id)).status).toBe(200);
    await here.admin.clock.pass(1_000);
    expect([client.closed?.code, own.closed?.code]).toEqual([1008, 1008]);
    expect(await list()).toMatchObject({ total: 0, instances: 2 });
    expect((await end("ses_unknown")).status).toBe(404);
    there.freeze();
    expect(await list()).toMatchObject({ instances: 1, unanswered: [{ id: "there", place: "host, there" }] });
    const { status, json } = await end("ses_unknown");
    expect([status, (json["error"] as { code: string }).code]).toEqual([503, "instances_unanswered"]);
    expect((json["error"] as { message: string }).message).toContain("host, there");
  });

  test("verdicts of guards are added up", async () => {
    const guards = [{ name: "words", use: "words", words: ["secret"], on: ["request"], action: "block" }];
    const { machine, here, there } = await twoProcesses({ ...modelsOfEveryDialect(UPSTREAM_URL, PATIENT), guards });
    machine.upstream.play(machine.upstream.openStream());
    for (const { admin } of [here, there, there]) {
      const messages = [{ role: "user", content: "a secret" }];
      expect((await admin.gateway.post("/api/v1/chat/completions", { model: "test/chat", messages })).status).toBe(400);
    }
    const { json } = await here.admin.ask("GET", "/api/guards", { secret: ADMIN_SECRET });
    expect(json).toMatchObject({
      data: [{ name: "words", verdicts: [{ on: "request", verdict: "blocked", calls: 3 }] }],
      instances: 2,
    });
  });

  test("an idle process reads the storage as often as without questions: once at each poll", async () => {
    const { machine, here, there } = await twoProcesses(modelsOfEveryDialect(UPSTREAM_URL, PATIENT));
    there.freeze();
    await here.admin.ask("GET", "/api/calls", { secret: ADMIN_SECRET });
    await machine.clock.pass(1_000);
    const { storage } = machine;
    const texts: string[] = [];
    const query = storage.query.bind(storage);
    storage.query = (text, ...more) => {
      texts.push(text);
      return query(text, ...more);
    };
    await machine.clock.pass(5_000);
    expect(new Set(texts).size).toBe(1);
    expect(texts.length).toBeWithin(24, 26);
  });
});
