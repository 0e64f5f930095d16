import { describe, expect, test } from "bun:test";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { live, liveHost, liveModels, realtime, realtimeHost } from "../../testing/live/live-hosts.ts";
import type { LiveClient } from "../../testing/live-client.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { startTestGateway } from "../support/test-gateway.ts";

const LIVE_PATH = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent";
const REALTIME_PATH = "/v1/realtime?model=test/realtime";
const TOO_MANY = expect.stringContaining("10 frames a second (live.frames_per_second)");

async function start(config: Record<string, unknown> = { live: { frames_per_second: 10 } }): Promise<Harness> {
  const harness = await Harness.start({ config: { ...liveModels(UPSTREAM_URL), ...config } });
  harness.sockets.play(realtimeHost());
  return harness;
}

async function openRealtime(harness: Harness): Promise<LiveClient> {
  const client = await harness.openLive(REALTIME_PATH);
  await client.hears("session.created");
  return client;
}

async function end(harness: Harness, client: LiveClient): Promise<void> {
  client.leave();
  await harness.clock.pass(20_000);
  expect(harness.leftovers()).toMatchObject({ runningCalls: 0, heldBytes: 0 });
  expect(harness.sockets.open).toBe(0);
}

const keysOf = (count: number): string => Array.from({ length: count }, (_, at) => `"k${at}":0`).join();

describe("S25: many tiny frames", () => {
  const PROTOCOLS = {
    realtime: async (harness: Harness) => [await openRealtime(harness), realtime.speech(0.01)] as const,
    responses: async (harness: Harness) => [await harness.openLive("/v1/responses"), { type: "x" }] as const,
    live: async (harness: Harness) => {
      harness.sockets.play(liveHost());
      const client = await harness.openLive(`${LIVE_PATH}?key=${TEST_KEY}`, { headers: { authorization: "" } });
      client.say(live.setup("test/live"));
      await harness.clock.pass(10_000);
      return [client, { realtimeInput: { text: "x" } }] as const;
    },
  };

  test.each(Object.entries(PROTOCOLS))(
    "%s: are refused in the client's protocol, with the setting",
    async (_, open) => {
      const harness = await start();
      const [client, frame] = await open(harness);
      for (let at = 0; at < 10; at++) client.say(frame);
      expect(client.closed).toBeUndefined();
      client.say(frame);
      await harness.clock.pass(10);
      expect(client.closed).toEqual({ code: 1008, reason: expect.stringContaining("10 frames a second") });
      const [error] = client.events.filter((event) => event["error"] !== undefined).slice(-1);
      expect(error?.["error"]).toMatchObject({ message: TOO_MANY });
      await end(harness, client);
    },
  );

  test("pings and pongs count too, in an open session and before", async () => {
    const harness = await start();
    const opened = await openRealtime(harness);
    for (let at = 0; at < 11; at++) opened.ping();
    expect(opened.closed).toMatchObject({ code: 1008, reason: TOO_MANY });
    const early = await harness.openLive(`${LIVE_PATH}?key=${TEST_KEY}`, { headers: { authorization: "" } });
    for (let at = 0; at < 11; at++) early.ping();
    expect(early.closed).toMatchObject({ code: 1008, reason: TOO_MANY });
    await end(harness, opened);
  });

  test("empty frames before a session is open are not kept without end", async () => {
    const harness = await start();
    const client = await harness.openLive(`${LIVE_PATH}?key=${TEST_KEY}`, { headers: { authorization: "" } });
    client.say(live.setup("test/live"));
    for (let at = 0; at < 11; at++) client.say("");
    expect(client.closed).toMatchObject({ code: 1008, reason: TOO_MANY });
    await end(harness, client);
  });

  test("the rate is one: a client that sends evenly goes on", async () => {
    const harness = await start();
    const client = await openRealtime(harness);
    for (let at = 0; at < 300; at++) {
      client.say(realtime.speech(0.01));
      await harness.clock.pass(100);
    }
    expect(client.closed).toBeUndefined();
    expect(harness.sockets.host.frames).toHaveLength(300);
    await end(harness, client);
  });

  test("a turn in progress ends first; a client that goes on is disconnected at once, and the turn is billed", async () => {
    const harness = await start();
    const client = await openRealtime(harness);
    harness.sockets.host.say(realtime.began("resp_1"), realtime.audio("resp_1", 1));
    await client.hears("response.output_audio.delta");
    for (let at = 0; at < 12; at++) client.say(realtime.speech(0.01));
    expect(client.closed).toBeUndefined();
    for (let at = 0; at < 12; at++) client.say(realtime.speech(0.01));
    expect(client.closed?.code).toBe(1008);
    await end(harness, client);
    expect(await harness.receipts()).toMatchObject([{ usage: { audio_output: 20 } }]);
  });

  test("frames that arrive together are handled in slices, in order, with other work between them", async () => {
    const harness = await start({});
    const client = await openRealtime(harness);
    const { host } = harness.sockets;
    const frames = Array.from({ length: 500 }, (_, at) =>
      JSON.stringify({ type: "input_audio_buffer.clear", event_id: `e${at}` }),
    );
    for (const frame of frames) client.say(frame);
    const atOnce = host.frames.length;
    expect(atOnce).toBeLessThan(100);
    let between = 0;
    const other = setInterval(() => between++, 0);
    await harness.clock.pass(1);
    clearInterval(other);
    expect(host.frames).toEqual(frames);
    expect(between).toBeGreaterThan(0);
    await end(harness, client);
  });

  test("300,000 pings over a socket end the connection with its reason, and another call is answered", async () => {
    const gateway = await startTestGateway({ config: { simulator: true, live: { frames_per_second: 50 } } });
    const headers = { authorization: `Bearer ${TEST_KEY}` };
    const socket = new WebSocket(`${gateway.url.replace("http", "ws")}/v1/responses`, { headers });
    const opened = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<{ code: number; reason: string }>();
    socket.onopen = () => opened.resolve();
    socket.onclose = ({ code, reason }) => closed.resolve({ code, reason });
    await opened.promise;
    for (let at = 0; at < 300_000; at++) socket.ping();
    expect((await fetch(`${gateway.url}/v1/models`, { headers })).status).toBe(200);
    expect(await closed.promise).toEqual({
      code: 1008,
      reason: expect.stringContaining("50 frames a second (live.frames_per_second)"),
    });
    await gateway.stop();
  }, 30_000);
});

describe("S25: an object with very many keys", () => {
  test("is refused before it is parsed, in a frame and in a body, and names the setting", async () => {
    const harness = await start({});
    const client = await openRealtime(harness);
    const many = `{"type":"response.create","event_id":"e","response":{"metadata":{${keysOf(600_000)}}}}`;
    client.say(many);
    await harness.clock.pass(10);
    expect(client.events.at(-1)).toMatchObject({ error: { event_id: "e", code: "request_too_large" } });
    expect(client.closed).toBeUndefined();
    expect(harness.sockets.host.frames).toEqual([]);
    await end(harness, client);

    const answer = await harness.clock.until(
      harness.sendRaw("/v1/chat/completions", many, { "content-type": "application/json" }).answer,
    );
    expect(answer.status).toBe(413);
    expect(answer.text).toContain("an object with more than 50000 keys");
    const spread = `{"model":"test/realtime","messages":[${Array.from({ length: 90_000 }, () => `{"a":0,"b":0,"c":0}`).join()}]}`;
    const other = await harness.clock.until(
      harness.sendRaw("/v1/chat/completions", spread, { "content-type": "application/json" }).answer,
    );
    expect(other.status).toBe(413);
    expect(other.text).toContain("more than 250000 keys, which is the limit (server.max_json_keys)");
  });

  test("server.max_json_keys sets another bound", async () => {
    const harness = await start({ server: { max_json_keys: 1_000 } });
    const ask = async (count: number) => {
      const body = `{"model":"test/none","messages":[{"role":"user","content":"${"x".repeat(5_000)}"}],"metadata":{${keysOf(count)}}}`;
      return await harness.clock.until(
        harness.sendRaw("/v1/chat/completions", body, { "content-type": "application/json" }).answer,
      );
    };
    expect((await ask(1_001)).status).toBe(413);
    expect((await ask(900)).status).not.toBe(413);
  });
});
