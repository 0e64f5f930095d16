import { describe, expect, test } from "bun:test";
import { createKey } from "../../src/access/keys.ts";
import { objectAt } from "../../src/base/json.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { liveModels, REALTIME_COST, realtime, realtimeHost } from "../../testing/live/live-hosts.ts";
import type { LiveClient } from "../../testing/live-client.ts";

const PATH = "/v1/realtime?model=test/realtime";

async function openAs(limits: object, config: Record<string, unknown> = {}) {
  const harness = await Harness.start({ config: { ...liveModels(UPSTREAM_URL), ...config } });
  harness.sockets.play(realtimeHost({ answers: true }));
  const sources = { clock: harness.clock, random: harness.machine.random };
  const made = await createKey(harness.storage, { name: "cheat", project: "default", limits }, sources, {
    who: "test",
  });
  await harness.gateway.keys.refresh();
  const open = async (path = PATH, key = made.key) => {
    const client = await harness.openLive(path, { key });
    await client.hears("session.created");
    return client;
  };
  const account = harness.gateway.admissions.account("key", made.id);
  const spent = () => account.meter.spent("total", harness.clock.wallMs());
  return { harness, made, open, account, spent };
}

const errorsOf = ({ events }: LiveClient) =>
  events.filter(({ type }) => type === "error").map((event) => objectAt(event, "error"));
const countOf = ({ events }: LiveClient, type: string) => events.filter((event) => event.type === type).length;

describe("decision 0116: cheating does not pay", () => {
  test("hanging up after each sound costs at least what the sound does", async () => {
    const { harness, open, spent } = await openAs({});
    harness.sockets.play(realtimeHost());
    for (let round = 0; round < 5; round++) {
      const client = await open();
      client.say({ type: "response.create" });
      await harness.clock.pass(10);
      harness.sockets.host.say(realtime.began("resp_1"), realtime.audio("resp_1", 10));
      await client.hears("response.output_audio.delta");
      client.leave();
      await harness.clock.pass(5_000);
    }
    // Twenty tokens for each of fifty seconds, at the price of sound.
    expect(spent()).toBeGreaterThanOrEqual(5 * 10 * 20 * 8_000);
  });

  test("hanging up while the host reports no usage is billed once, by what came", async () => {
    const { harness, open } = await openAs({});
    harness.sockets.play(realtimeHost({ usage: null }));
    const client = await open();
    client.say({ type: "response.create" });
    await harness.clock.pass(10);
    harness.sockets.host.say(realtime.began("resp_1"), realtime.audio("resp_1", 2));
    await client.hears("response.output_audio.delta");
    client.leave();
    await harness.clock.pass(20_000);
    expect(await harness.receipts()).toMatchObject([{ usage_source: "partial", usage: { audio_output: 40 } }]);
  });

  test("cancelling each response before its end is billed by what the host reports", async () => {
    const { harness, open, spent } = await openAs({});
    harness.sockets.play(realtimeHost());
    const client = await open();
    client.say({ type: "response.create" });
    await harness.clock.pass(10);
    harness.sockets.host.say(
      realtime.began("resp_1"),
      realtime.audio("resp_1", 1),
      realtime.done("resp_1", "cancelled"),
    );
    await client.hears("response.done");
    expect(spent()).toBe(REALTIME_COST);
  });

  test("each turn is one request and one call in flight, also beside the conversation", async () => {
    const { harness, open } = await openAs({ requestsPerMinute: 3 });
    const client = await open();
    for (const event_id of ["a", "b", "c"]) {
      client.say({ type: "response.create", event_id, response: { conversation: "none" } });
      await harness.clock.pass(100);
    }
    expect(countOf(client, "response.done")).toBe(2);
    expect(errorsOf(client)).toMatchObject([{ type: "rate_limit_error", event_id: "c" }]);

    const one = await openAs({ concurrent: 1 });
    one.harness.sockets.play(realtimeHost());
    const other = await one.open();
    other.say({ type: "response.create", event_id: "a" });
    other.say({ type: "response.create", event_id: "b" });
    await one.harness.clock.pass(100);
    expect(errorsOf(other)).toMatchObject([{ event_id: "b" }]);
    expect(one.harness.sockets.host.ofType("response.create")).toHaveLength(1);
  });

  test("speech alone does not make the host speak for a key without money more than once in ten seconds", async () => {
    const { harness, open } = await openAs({ budgetUsdTotal: 0 });
    harness.sockets.play({
      ...realtimeHost(),
      heard: (host, event) => {
        const { type } = event;
        const id = `resp_${host.frames.length}`;
        if (type === "input_audio_buffer.append") host.say(realtime.began(id));
        if (type === "response.cancel") host.say(realtime.done(String(event["response_id"]), "cancelled"));
      },
    });
    const client = await open();
    for (let second = 0; second < 60; second++) {
      client.say(realtime.speech(1));
      await harness.clock.pass(1_000);
    }
    const rows = await harness.storage.query("SELECT outcome FROM receipts");
    expect(rows.length).toBeGreaterThan(1);
    expect(rows.length).toBeLessThanOrEqual(6);
    expect(countOf(client, "response.created")).toBe(0);
  });

  test("S15: a field that occurs twice is refused, because two readers could see different values", async () => {
    const { harness, open } = await openAs({});
    const client = await open();
    client.say('{"type":"session.update","session":{"type":"realtime","model":"test/realtime","model":"dearer"}}');
    client.say('{"type":"input_audio_buffer.append","audio":"AAAA","type":"response.create"}');
    await harness.clock.pass(100);
    expect(errorsOf(client)).toMatchObject([{ type: "invalid_request_error" }, { type: "invalid_request_error" }]);
    expect(harness.sockets.host.frames).toEqual([]);
  });

  test("audio of another format than declared is still a turn of the length that the host reports", async () => {
    const { harness, open, spent } = await openAs({});
    const client = await open();
    client.say({
      type: "session.update",
      session: { type: "realtime", audio: { input: { format: { type: "audio/pcmu" } } } },
    });
    client.say(realtime.speech(30));
    client.say({ type: "response.create" });
    await client.hears("response.done");
    expect(spent()).toBe(REALTIME_COST);
    await harness.clock.pass(10);
  });

  test("a secret that is used often counts towards the sessions and the money of its key", async () => {
    const { harness, open, made, account, spent } = await openAs({ sessions: 2 });
    const answer = await harness.post("/v1/realtime/client_secrets", { session: { model: "test/realtime" } }, made.key);
    const { value } = JSON.parse(answer.text);
    const clients = [await open("/v1/realtime", value), await open("/v1/realtime", value)];
    expect(account.sessions).toBe(2);
    expect(open("/v1/realtime", value)).rejects.toThrow(/^429 /);
    for (const client of clients) {
      client.say({ type: "response.create" });
      await client.hears("response.done");
    }
    expect(spent()).toBe(2 * REALTIME_COST);
  });

  test("a host that reports less than was heard, or more than is possible, is not believed", async () => {
    const { harness, open } = await openAs({});
    const little = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };
    const much = {
      input_tokens: 10,
      output_tokens: 900_000_000,
      total_tokens: 900_000_010,
      output_token_details: { audio_tokens: 900_000_000, text_tokens: 0 },
    };
    for (const usage of [little, much]) {
      harness.sockets.play(realtimeHost({ answers: true, usage }));
      const client = await open();
      client.say({ type: "response.create" });
      await client.hears("response.done");
      client.leave();
    }
    await harness.clock.pass(5_000);
    const receipts = await harness.receipts();
    expect(receipts.map(({ usage_source }) => usage_source)).toEqual(["estimated", "estimated"]);
    for (const { cost_nano_usd } of receipts) {
      expect(cost_nano_usd).toBeGreaterThan(0);
      expect(cost_nano_usd).toBeLessThan(4_097 * 8_000 + 32_000 * 4_000);
    }
  });
});

describe("decision 0116: floods and slow readers", () => {
  test("a client that sends too fast is disconnected, and too large a frame is an error", async () => {
    const { harness, open } = await openAs({}, { live: { bytes_per_second: 100_000, max_frame_mb: 0.1 } });
    const client = await open();
    client.say({ type: "x".repeat(120_000) });
    expect(client.closed).toMatchObject({ code: 1008 });
    const other = await open();
    harness.gateway.snapshot.live.bytesPerSecond = 1_000_000;
    await harness.clock.pass(1_000);
    other.say({ type: "response.create", event_id: "x".repeat(104_900) });
    expect(errorsOf(other)).toMatchObject([{ code: "request_too_large" }]);
    expect(other.closed).toBeUndefined();
  });

  test("H13: a client that does not read pauses its host, and is disconnected after five minutes", async () => {
    const { harness, open } = await openAs({});
    harness.sockets.play(realtimeHost());
    const client = await open();
    const { host } = harness.sockets;
    client.waitingBytes = 100_000;
    host.say(realtime.began("resp_1"), realtime.audio("resp_1", 1));
    await harness.clock.pass(10);
    expect(host.paused).toBe(true);
    client.readOn();
    expect(host.paused).toBe(false);
    client.waitingBytes = 100_000;
    host.say(realtime.audio("resp_1", 1));
    await harness.clock.pass(310_000);
    expect(client.closed?.code).toBe(1006);
    expect(harness.leftovers()["runningCalls"]).toBe(0);
  });

  test("a host that does not read ends the session", async () => {
    const { harness, open } = await openAs({}, { live: { in_flight_mb: 1 } });
    const client = await open();
    harness.sockets.host.waitingBytes = 2 * 1024 * 1024;
    client.say(realtime.speech(1));
    expect(errorsOf(client)).toMatchObject([{ code: "upstream_failed" }]);
    expect(client.closed?.code).toBe(1011);
    await harness.clock.pass(100);
    expect(harness.sockets.open).toBe(0);
  });

  test("an idle session is closed, a spoken one is not, and none lasts longer than live.session_seconds", async () => {
    const { harness, open } = await openAs({}, { live: { idle_seconds: 60, session_seconds: 300 } });
    const idle = await open();
    const spoken = await open();
    for (let second = 0; second < 290; second += 10) {
      if (spoken.closed === undefined) spoken.say(realtime.speech(0.1));
      await harness.clock.pass(10_000);
    }
    expect(idle.closed).toMatchObject({ code: 1000 });
    expect(countOf(idle, "error")).toBe(0);
    expect(spoken.closed).toBeUndefined();
    await harness.clock.pass(20_000);
    expect(spoken.closed).toMatchObject({ code: 1001 });
    expect(harness.sockets.open).toBe(0);
  });
});
