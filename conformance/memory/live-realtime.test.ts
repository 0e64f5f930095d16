import { describe, expect, test } from "bun:test";
import { createKey } from "../../src/access/keys.ts";
import { objectAt, stringAt } from "../../src/base/json.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { liveHost, liveModels, REALTIME_COST, realtime, realtimeHost } from "../../testing/live/live-hosts.ts";
import type { HostScript } from "../../testing/live/memory-sockets.ts";
import type { LiveClient } from "../../testing/live-client.ts";

const PATH = "/v1/realtime?model=test/realtime";

async function startHarness(config: Record<string, unknown> = {}): Promise<Harness> {
  const harness = await Harness.start({ config: { ...liveModels(UPSTREAM_URL), ...config } });
  harness.sockets.play(realtimeHost());
  return harness;
}

async function openSession(
  harness: Harness,
  path = PATH,
  options: { key?: string; headers?: Record<string, string> } = {},
) {
  const client = await harness.openLive(path, options);
  await client.hears("session.created");
  return { client, host: harness.sockets.host };
}

const makeKey = async (harness: Harness, settings: object) => {
  const { clock, machine, gateway, storage } = harness;
  const made = await createKey(
    storage,
    { name: "k", project: "default", ...settings },
    { clock, random: machine.random },
    { who: "test" },
  );
  await gateway.keys.refresh();
  return made;
};

/** A turn that the client asks for, up to its first sound. */
async function beginTurn(harness: Harness, client: LiveClient, id = "resp_1") {
  const { host } = harness.sockets;
  const after = client.events.length;
  client.say({ type: "response.create", event_id: `ask_${id}` });
  await harness.clock.pass(10);
  host.say(realtime.began(id), realtime.text(id, "It is"), realtime.audio(id, 1));
  await client.hears("response.output_audio.delta", after);
}

const typesOf = ({ events }: LiveClient) => events.map(({ type }) => type);
const errorsOf = ({ events }: LiveClient) =>
  events.filter(({ type }) => type === "error").map((event) => objectAt(event, "error"));

async function endSession(harness: Harness, client: LiveClient): Promise<void> {
  client.leave();
  await harness.clock.pass(10_000);
  expect(harness.leftovers()).toEqual({
    runningCalls: 0,
    orphanedTexts: 0,
    orphanedImages: 0,
    heldBytes: 0,
    openUpstreams: 0,
  });
  expect(harness.sockets.open).toBe(0);
  expect(harness.context.live.open).toBe(0);
}

describe("decision 0116: a Realtime session at a host of Realtime", () => {
  test("frames pass as they came, with the session's id on the first", async () => {
    const harness = await startHarness();
    const { client, host } = await openSession(harness);
    expect(host.request.url).toBe(`${UPSTREAM_URL}/v1/realtime?model=upstream-live`);
    expect(host.request.headers["authorization"]).toBe("Bearer upstream-secret-realtime");
    const [created] = client.events;
    expect(created?.["session_id"]).toMatch(/^ses_/);
    expect(stringAt(objectAt(created, "session"), "model")).toBe("test/realtime");
    const speech = JSON.stringify(realtime.speech(0.1));
    client.say(speech);
    client.say('{"type":"input_audio_buffer.commit",  "event_id":"e1"}');
    expect(host.frames).toEqual([speech, '{"type":"input_audio_buffer.commit",  "event_id":"e1"}']);
    const other = { type: "rate_limits.updated", event_id: "x", rate_limits: [] };
    host.say(other);
    expect(client.events.at(-1)).toEqual(other);
    await endSession(harness, client);
    expect(await harness.receipts()).toEqual([]);
  });

  test("a turn is admitted, billed by its usage, and named in its response", async () => {
    const harness = await startHarness();
    const { client, host } = await openSession(harness);
    await beginTurn(harness, client);
    host.say(realtime.done("resp_1"));
    const done = await client.hears("response.done");
    const [receipt] = await harness.receipts();
    expect(stringAt(objectAt(objectAt(done, "response"), "metadata"), "trivium_receipt")).toBe(receipt?.id ?? "");
    const begun = client.events.find(({ type }) => type === "response.created");
    expect(stringAt(objectAt(objectAt(begun, "response"), "metadata"), "trivium_receipt")).toBe(receipt?.id ?? "");
    expect(receipt).toMatchObject({
      model: "test/realtime",
      provider: "up-realtime",
      lane: "native",
      dialect: { client: "realtime", upstream: "realtime" },
      stop: { unified: "stop", raw: "completed" },
      usage_source: "measured",
      cost_nano_usd: REALTIME_COST,
      session_id: client.events[0]?.["session_id"],
    });
    await endSession(harness, client);
    expect(await harness.receipts()).toHaveLength(1);
  });

  test("a turn of a key with capture keeps the event that began it, and the words of the response", async () => {
    const harness = await startHarness();
    const { key } = await makeKey(harness, { capture: true });
    const { client, host } = await openSession(harness, PATH, { key });
    await beginTurn(harness, client);
    host.say(realtime.text("resp_1", " so."), realtime.done("resp_1"));
    await client.hears("response.done");
    const [receipt] = await harness.receipts();
    await harness.clock.until(harness.gateway.captures.close());
    const kept = await harness.gateway.captures.read(receipt?.id ?? "");
    expect(kept?.bodies).toMatchObject({
      client_request: { text: '{"type":"response.create","event_id":"ask_resp_1"}' },
      client_answer: { text: "It is so." },
    });
  });

  test("a turn that the host begins by itself is admitted as well", async () => {
    const harness = await startHarness();
    const { client, host } = await openSession(harness);
    host.say(realtime.began("resp_1"), realtime.audio("resp_1", 1), realtime.done("resp_1"));
    await client.hears("response.done");
    expect(await harness.receipts()).toMatchObject([{ cost_nano_usd: REALTIME_COST }]);
    await endSession(harness, client);
  });

  test("the code and the reason with which a host closes reach the client, in the middle of a turn too", async () => {
    for (const isSpeaking of [false, true]) {
      const harness = await startHarness();
      const { client, host } = await openSession(harness);
      if (isSpeaking) await beginTurn(harness, client);
      host.hangUp(1001, "The host restarts.");
      await harness.clock.pass(10);
      expect(client.closed).toEqual({ code: 1001, reason: "The host restarts." });
      await endSession(harness, client);
    }
  });

  test("a refused turn is an error and does not reach the host", async () => {
    const harness = await startHarness();
    const { key } = await makeKey(harness, { limits: { budgetUsdTotal: 0 } });
    const { client, host } = await openSession(harness, PATH, { key });
    client.say({ type: "response.create", event_id: "ask" });
    await client.hears("error");
    expect(errorsOf(client)).toMatchObject([{ type: "insufficient_quota", event_id: "ask" }]);
    expect(host.ofType("response.create")).toEqual([]);
    expect(client.closed).toBeUndefined();
    await endSession(harness, client);
    expect(await harness.receipts()).toEqual([]);
  });

  test("a refused turn of the host's own is cancelled there, hidden from the client, and billed", async () => {
    const harness = await startHarness();
    const { key } = await makeKey(harness, { limits: { budgetUsdTotal: 0 } });
    const { client, host } = await openSession(harness, PATH, { key });
    host.say(realtime.began("resp_1"), realtime.audio("resp_1", 1));
    await client.hears("error");
    await harness.clock.pass(10);
    expect(host.ofType("response.cancel")).toHaveLength(1);
    host.say(realtime.audio("resp_1", 1), realtime.done("resp_1", "cancelled"));
    await harness.clock.pass(10);
    expect(typesOf(client)).toEqual(["session.created", "error"]);
    client.say(realtime.speech(1));
    expect(host.ofType("input_audio_buffer.append")).toEqual([]);
    await harness.clock.pass(11_000);
    client.say(realtime.speech(1));
    expect(host.ofType("input_audio_buffer.append")).toHaveLength(1);
    await endSession(harness, client);
    const rows = await harness.storage.query("SELECT outcome, cost_nano_usd FROM receipts");
    expect(rows.map((row) => ({ ...row }))).toMatchObject([
      { outcome: "budget_exhausted", cost_nano_usd: REALTIME_COST },
    ]);
  });

  test("H26: hanging up in the middle of a turn is not free", async () => {
    const harness = await startHarness();
    const { client, host } = await openSession(harness);
    client.say(realtime.speech(3));
    await beginTurn(harness, client);
    client.leave();
    await harness.clock.pass(10);
    expect(host.ofType("response.cancel")).toHaveLength(1);
    await harness.clock.pass(5_000);
    expect(await harness.receipts()).toMatchObject([
      { usage_source: "partial", usage: { audio_input: 30, audio_output: 20 } },
    ]);
    await endSession(harness, client);
  });

  test("H26: hanging up before the host has begun is not free either", async () => {
    const harness = await startHarness();
    const { client } = await openSession(harness);
    client.say(realtime.speech(3));
    client.say({ type: "response.create" });
    await harness.clock.pass(10);
    client.leave();
    await harness.clock.pass(5_000);
    const [receipt] = await harness.receipts();
    expect(receipt).toMatchObject({ usage_source: "partial", usage: { audio_input: 30 } });
    expect(receipt?.usage["output"]).toBeGreaterThan(100);
    await endSession(harness, client);
  });

  test("H26: the usage that the host reports within two seconds counts", async () => {
    const harness = await startHarness();
    const { client, host } = await openSession(harness);
    await beginTurn(harness, client);
    client.leave();
    await harness.clock.pass(100);
    host.say(realtime.done("resp_1", "cancelled"));
    await harness.clock.pass(100);
    expect(await harness.receipts()).toMatchObject([{ cost_nano_usd: REALTIME_COST }]);
    await endSession(harness, client);
  });

  test("a transcription of speech has a receipt of its own, once, at the session's price if the host names no model", async () => {
    const harness = await startHarness();
    const { client, host } = await openSession(harness);
    const transcribed = {
      type: "conversation.item.input_audio_transcription.completed",
      event_id: "t",
      item_id: "item_1",
      content_index: 0,
      transcript: "Is it so?",
      usage: {
        type: "tokens",
        total_tokens: 15,
        input_tokens: 10,
        output_tokens: 5,
        input_token_details: { audio_tokens: 10, text_tokens: 0 },
      },
    };
    host.say(transcribed);
    await beginTurn(harness, client);
    host.say(realtime.done("resp_1"));
    await client.hears("response.done");
    host.say(transcribed);
    await endSession(harness, client);
    const receipts = await harness.receipts();
    expect(receipts.map(({ cost_nano_usd }) => cost_nano_usd)).toEqual([50_000, REALTIME_COST]);
  });

  test("another model within the session is refused, and the same one is renamed", async () => {
    const harness = await startHarness();
    const { client, host } = await openSession(harness);
    client.say({ type: "session.update", event_id: "u1", session: { type: "realtime", model: "test/live" } });
    client.say({ type: "session.update", event_id: "u2", session: { type: "realtime", model: "test/realtime" } });
    expect(errorsOf(client)).toMatchObject([{ code: "model_change", event_id: "u1" }]);
    expect(host.ofType("session.update").map((event) => objectAt(event, "session"))).toEqual([
      { type: "realtime", model: "upstream-live" },
    ]);
    await endSession(harness, client);
  });

  test("a hosted tool without a price is refused where money is limited", async () => {
    const harness = await startHarness();
    const { key } = await makeKey(harness, { limits: { budgetUsdTotal: 1 } });
    const { client, host } = await openSession(harness, PATH, { key });
    const tools = [{ type: "telepathy" }];
    client.say({ type: "session.update", session: { type: "realtime", tools } });
    client.say({ type: "session.new_thing", event_id: "n" });
    expect(errorsOf(client)).toMatchObject([{ code: "unpriced" }, { code: "unpriced", event_id: "n" }]);
    expect(host.frames).toEqual([]);
    await endSession(harness, client);
  });

  test("an unknown event passes where money is not limited", async () => {
    const harness = await startHarness();
    const { client, host } = await openSession(harness);
    client.say({ type: "session.new_thing" });
    expect(host.events).toEqual([{ type: "session.new_thing" }]);
    await endSession(harness, client);
  });

  const opus = { type: "realtime", audio: { input: { format: { type: "audio/opus" } } } };

  test("decision 0118: a field value that only the host knows is the host's business", async () => {
    const harness = await startHarness();
    const { client, host } = await openSession(harness);
    const update = { type: "session.update", session: opus };
    const create = { type: "response.create", response: { output_modalities: ["smell"] } };
    client.say(update);
    client.say(create);
    await harness.clock.pass(100);
    expect(errorsOf(client)).toEqual([]);
    expect(host.events).toEqual([update, create]);
    host.say(realtime.began("resp_1"), realtime.done("resp_1"));
    await harness.clock.pass(100);
    expect(await harness.receipts()).toMatchObject([{ cost_nano_usd: REALTIME_COST }]);
    await endSession(harness, client);
  });

  test("decision 0118: it is refused by its name where money is limited, and in a translated session", async () => {
    const harness = await startHarness();
    const { key } = await makeKey(harness, { limits: { budgetUsdTotal: 1 } });
    const { client, host } = await openSession(harness, PATH, { key });
    client.say({ type: "session.update", session: opus });
    expect(errorsOf(client)).toMatchObject([{ param: "session.audio.input.format" }]);
    expect(host.frames).toEqual([]);
    await endSession(harness, client);
    harness.sockets.play(liveHost());
    const translated = await openSession(harness, "/v1/realtime?model=test/live");
    translated.client.say({ type: "session.update", session: opus });
    expect(errorsOf(translated.client)).toMatchObject([{ param: "session.audio.input.format" }]);
    await endSession(harness, translated.client);
  });
});

describe("decision 0116: refusals before the upgrade", () => {
  const refused = async (
    path: string,
    options: { key?: string; headers?: Record<string, string> } = {},
    script?: HostScript,
  ) => {
    const harness = await startHarness();
    if (script !== undefined) harness.sockets.play(script);
    return harness.openLive(path, options).then(
      () => "opened",
      (error: Error) => error.message,
    );
  };

  test("a wrong key, a model that is not live, other kinds of sessions, and a request without an upgrade", async () => {
    expect(await refused(PATH, { key: "sk-trv-wrong" })).toMatch(/^401 /);
    expect(await refused("/v1/realtime")).toMatch(/^400 .*model is missing/);
    expect(await refused("/v1/realtime?model=test/none")).toMatch(/^404 /);
    expect(await refused("/v1/realtime?model=test/mute")).toMatch(/^400 .*no live connections/);
    expect(await refused("/v1/realtime?intent=transcription")).toMatch(/^400 .*intent is not supported/);
    expect(await refused(`${PATH}&key=x`)).toMatch(/^400 .*URL/);
    expect(await refused(PATH, { headers: { upgrade: "" } })).toMatch(/^405 /);
  });

  test("a host that refuses, is not reached, or opens nothing is an error over HTTP", async () => {
    expect(await refused(PATH, {}, { asked: (host) => host.refuse(401) })).toMatch(/^502 .*upstream_credentials/);
    expect(await refused(PATH, {}, { asked: (host) => host.refuse() })).toMatch(/^502 .*upstream_failed/);
    expect(await refused(PATH, {}, { asked: () => {} })).toMatch(/^504 /);
    const error = {
      type: "error",
      event_id: "e",
      error: { type: "invalid_request_error", code: "invalid_model", message: "No such model." },
    };
    const rejects: HostScript = {
      asked: (host) => {
        host.accept();
        host.say(error);
      },
    };
    expect(await refused(PATH, {}, rejects)).toMatch(/^400 .*No such model/);
  });

  test("another offer is tried until a session is open, and the first receipt shows it", async () => {
    const harness = await startHarness();
    harness.sockets.play({ asked: (host) => host.refuse(503) }, { asked: (host) => host.refuse(503) }, realtimeHost());
    const { client, host } = await openSession(harness, "/v1/realtime?model=test/both");
    expect(host.request.url).toStartWith(`${UPSTREAM_URL}/other/v1`);
    await beginTurn(harness, client);
    host.say(realtime.done("resp_1"));
    await client.hears("response.done");
    const [receipt] = await harness.receipts();
    expect(receipt?.offers.map(({ provider, outcome }) => `${provider} ${outcome}`)).toEqual([
      "up-realtime failed",
      "up-realtime failed",
      "up-other answered",
    ]);
    await endSession(harness, client);
  });

  test("one session too many is 429, and a closed one makes room", async () => {
    const harness = await startHarness();
    const { key } = await makeKey(harness, { limits: { sessions: 1 } });
    const { client } = await openSession(harness, PATH, { key });
    expect(harness.openLive(PATH, { key })).rejects.toThrow(/^429 /);
    client.leave();
    await harness.clock.pass(100);
    const { client: next } = await openSession(harness, PATH, { key });
    await endSession(harness, next);
  });
});

describe("decision 0116: client secrets", () => {
  const makeSecret = async (harness: Harness, body: object, key?: string) =>
    await harness.post("/v1/realtime/client_secrets", body, key);

  test("a secret opens one model for a minute, with its settings, and its parent pays", async () => {
    const harness = await startHarness();
    const { key, id } = await makeKey(harness, { limits: { budgetUsdTotal: 1 } });
    const session = { type: "realtime", model: "test/realtime", instructions: "Be brief." };
    const made = await makeSecret(harness, { session }, key);
    expect(made.status).toBe(200);
    const { value, expires_at, session: shown } = JSON.parse(made.text);
    expect(value).toMatch(/^ek_[\w-]{43}$/);
    expect(expires_at).toBe(Math.floor(harness.clock.wallMs() / 1000) + 60);
    expect(shown).toMatchObject({ ...session, object: "realtime.session" });
    expect(JSON.stringify(await harness.storage.query("SELECT * FROM live_secrets"))).not.toContain("brief");

    const { client, host } = await openSession(harness, "/v1/realtime", { key: value });
    expect(host.ofType("session.update").map((event) => stringAt(objectAt(event, "session"), "instructions"))).toEqual([
      "Be brief.",
    ]);
    await harness.clock.pass(70_000);
    await beginTurn(harness, client);
    host.say(realtime.done("resp_1"));
    await client.hears("response.done");
    const rows = await harness.storage.query("SELECT key_id FROM receipts");
    expect(rows.map((row) => row["key_id"])).toEqual([id]);
    expect(harness.openLive("/v1/realtime", { key: value })).rejects.toThrow(/^401 .*expired/);
    harness.gateway.keys.revokeHere(id, { who: "test" });
    await harness.clock.pass(2_000);
    expect(client.closed?.code).toBe(1008);
    await endSession(harness, client);
  });

  test("a browser sends it as a subprotocol", async () => {
    const harness = await startHarness();
    const made = await makeSecret(harness, { session: { model: "test/realtime" } });
    const { value } = JSON.parse(made.text);
    const headers = { authorization: "", "sec-websocket-protocol": `realtime, openai-insecure-api-key.${value}` };
    const { client } = await openSession(harness, PATH, { headers });
    await endSession(harness, client);
  });

  test("it opens nothing else", async () => {
    const harness = await startHarness();
    const made = await makeSecret(harness, { session: { model: "test/realtime" } });
    const { value } = JSON.parse(made.text);
    expect(harness.openLive("/v1/realtime?model=test/both", { key: value })).rejects.toThrow(/^403 /);
    expect((await harness.post("/v1/chat/completions", { model: "test/realtime", messages: [] }, value)).status).toBe(
      401,
    );
    expect((await makeSecret(harness, { session: { model: "test/realtime" } }, value)).status).toBe(401);
    expect(harness.openLive("/v1/responses", { key: value })).rejects.toThrow(/^401 /);
  });

  test("a lifetime outside 10 to 600 seconds, no model, and other sessions are 400", async () => {
    const harness = await startHarness();
    const session = { model: "test/realtime" };
    for (const seconds of [9, 601, 60.5])
      expect((await makeSecret(harness, { session, expires_after: { anchor: "created_at", seconds } })).status).toBe(
        400,
      );
    expect((await makeSecret(harness, {})).status).toBe(400);
    expect((await makeSecret(harness, { session: { type: "transcription" } })).status).toBe(400);
    expect((await makeSecret(harness, { session: { model: "test/none" } })).status).toBe(404);
    const made = await makeSecret(harness, { session, expires_after: { anchor: "created_at", seconds: 600 } });
    expect(JSON.parse(made.text).expires_at).toBe(Math.floor(harness.clock.wallMs() / 1000) + 600);
  });
});
