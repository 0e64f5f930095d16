import { describe, expect, test } from "bun:test";
import { createKey } from "../../src/access/keys.ts";
import { objectAt, stringAt } from "../../src/base/json.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import {
  LIVE_COST,
  live,
  liveHost,
  liveModels,
  REALTIME_COST,
  realtime,
  realtimeHost,
} from "../../testing/live/live-hosts.ts";
import type { HostScript } from "../../testing/live/memory-sockets.ts";
import type { LiveClient } from "../../testing/live-client.ts";
import { TEST_KEY } from "../../testing/test-key.ts";

const PATH = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent";

async function startHarness(script: HostScript = liveHost()): Promise<Harness> {
  const harness = await Harness.start({ config: liveModels(UPSTREAM_URL) });
  harness.sockets.play(script);
  return harness;
}

/** Messages of this protocol have no type: the name of their first member stands for it. */
const named = ({ events }: LiveClient) => events.map((event) => Object.keys(event)[0]);

async function connect(
  harness: Harness,
  path = `${PATH}?key=${TEST_KEY}`,
  headers: Record<string, string> = { authorization: "" },
) {
  return await harness.openLive(path, { headers });
}

async function openSession(harness: Harness, model = "test/live", path?: string, headers?: Record<string, string>) {
  const client = await connect(harness, path, headers);
  client.say(live.setup(model));
  await harness.clock.pass(100);
  return { client, host: harness.sockets.host };
}

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

describe("decision 0116: a Live session at a host of Live", () => {
  test("the setup names the model, and frames pass as they came", async () => {
    const harness = await startHarness();
    const { client, host } = await openSession(harness);
    expect(host.request.url).toBe(`${UPSTREAM_URL}${PATH}`);
    expect(host.request.headers["x-goog-api-key"]).toBe("upstream-secret-live");
    expect(host.events).toEqual([live.setup("upstream-live")]);
    expect(objectAt(client.events[0], "setupComplete")?.["sessionId"]).toMatch(/^ses_/);
    const speech = '{"realtimeInput":{"audio":{"data":"AAAA","mimeType":"audio/pcm;rate=16000"}}}';
    client.say(speech);
    expect(host.frames.at(-1)).toBe(speech);
    const audio = JSON.stringify(live.audio(0.1));
    host.say(audio);
    await harness.clock.pass(10);
    expect(JSON.stringify(client.events.at(-1))).toBe(audio);
    await endSession(harness, client);
  });

  test("a turn that the client completes is admitted and billed by its usage", async () => {
    const harness = await startHarness(liveHost({ answers: true }));
    const { client } = await openSession(harness);
    client.say(live.say("Is it so?"));
    await harness.clock.pass(100);
    expect(named(client)).toEqual(["setupComplete", "serverContent", "serverContent"]);
    expect(await harness.receipts()).toMatchObject([
      {
        model: "test/live",
        lane: "native",
        dialect: { client: "live", upstream: "live" },
        cost_nano_usd: LIVE_COST,
        usage_source: "measured",
        session_id: objectAt(client.events[0], "setupComplete")?.["sessionId"] as string,
      },
    ]);
    await endSession(harness, client);
  });

  test("usage that comes after the end of its turn counts for that turn", async () => {
    const harness = await startHarness();
    const { client, host } = await openSession(harness);
    host.say(live.audio(1), live.done(undefined as unknown as object), {
      usageMetadata: (live.done() as { usageMetadata?: object }).usageMetadata,
    });
    await harness.clock.pass(100);
    expect(await harness.receipts()).toMatchObject([{ cost_nano_usd: LIVE_COST }]);
    await endSession(harness, client);
  });

  test("a refused turn is an error without effect on the host, and the connection stays open", async () => {
    const harness = await startHarness();
    const sources = { clock: harness.clock, random: harness.machine.random };
    const { key } = await createKey(
      harness.storage,
      { name: "k", project: "default", limits: { budgetUsdTotal: 0 } },
      sources,
      { who: "test" },
    );
    await harness.gateway.keys.refresh();
    const { client, host } = await openSession(harness, "test/live", `${PATH}?key=${key}`);
    client.say(live.say("Is it so?"));
    await harness.clock.pass(100);
    expect(named(client)).toEqual(["setupComplete", "error", "serverContent"]);
    expect(host.frames).toHaveLength(1);
    expect(client.closed).toBeUndefined();
    await endSession(harness, client);
    expect(await harness.receipts()).toEqual([]);
  });

  test("a drain is announced with the time that is left, and then the connection is closed", async () => {
    const harness = await startHarness();
    const { client } = await openSession(harness);
    harness.context.live.drain(90_000);
    expect(client.events.at(-1)).toMatchObject({ goAway: { timeLeft: "90s" } });
    expect(client.closed?.code).toBe(1001);
    await endSession(harness, client);
  });
});

test("decision 0118: a field value that only the host of Live knows is the host's business", async () => {
  const harness = await startHarness();
  const { client, host } = await openSession(harness);
  const input = { realtimeInput: { audio: { data: "AAAA", mimeType: "audio/opus" } } };
  const content = {
    clientContent: { turns: [{ role: "oracle", parts: [{ text: "Is it so?" }] }], turnComplete: true },
  };
  client.say(input);
  client.say(content);
  await harness.clock.pass(100);
  expect(named(client)).toEqual(["setupComplete"]);
  expect(host.events.slice(1)).toEqual([input, content]);
  host.say(live.audio(1), live.done());
  await harness.clock.pass(100);
  expect(await harness.receipts()).toMatchObject([{ cost_nano_usd: LIVE_COST }]);
  await endSession(harness, client);
});

describe("decision 0116: where and how a Live session is opened", () => {
  test("below every base URL, with repeated slashes, and with the key in the URL or in a header", async () => {
    const alpha = PATH.replace("v1beta", "v1alpha");
    for (const path of [PATH, `/${PATH}`, `//${PATH}`, `/api/genai${PATH}`, `/api/genai/${PATH}`, alpha]) {
      const harness = await startHarness();
      const { client } = await openSession(harness, "test/live", `http://127.0.0.1:8080${path}`, {
        authorization: "",
        "x-goog-api-key": TEST_KEY,
      });
      expect(named(client)).toEqual(["setupComplete"]);
      await endSession(harness, client);
    }
  });

  test("S10: the key in the URL is in no log, no receipt and no request to a host", async () => {
    const lines: string[] = [];
    const harness = await Harness.start({ config: liveModels(UPSTREAM_URL), onLog: (line) => lines.push(line) });
    harness.sockets.play(liveHost({ answers: true }));
    const { client, host } = await openSession(harness);
    client.say(live.say("Is it so?"));
    await harness.clock.pass(100);
    await endSession(harness, client);
    expect(connect(harness, `${PATH}?key=sk-trv-wrong-and-secret`)).rejects.toThrow(/^401 /);
    await harness.clock.pass(1_000);
    expect(lines.length).toBeGreaterThan(0);
    const rows = await harness.storage.query("SELECT * FROM receipts");
    const everything = [lines.join("\n"), JSON.stringify(rows), JSON.stringify(host.request), host.frames.join()].join(
      "\n",
    );
    expect(everything).not.toContain(TEST_KEY);
    expect(everything).not.toContain("wrong-and-secret");
  });

  test("an invalid setup closes the connection with a reason", async () => {
    const cases = [
      ["{", 1007],
      [{ clientContent: { turnComplete: true } }, 1007],
      [live.setup("test/none"), 1008],
      [live.setup("test/mute"), 1007],
    ] as const;
    for (const [first, code] of cases) {
      const harness = await startHarness();
      const client = await connect(harness);
      client.say(first);
      await harness.clock.pass(100);
      expect(client.closed?.code).toBe(code);
      expect(client.closed?.reason).not.toBe("");
      await endSession(harness, client);
    }
  });

  test("a client that sends no setup is disconnected after ten seconds", async () => {
    const harness = await startHarness();
    const client = await connect(harness);
    await harness.clock.pass(10_100);
    expect(client.closed?.code).toBe(1008);
    await endSession(harness, client);
  });

  test("a host that rejects the setup closes the connection with its reason", async () => {
    const harness = await startHarness({ heard: (host) => host.hangUp(1007, "Unknown voice.") });
    const { client } = await openSession(harness);
    expect(client.closed).toEqual({ code: 1007, reason: "Unknown voice." });
    await endSession(harness, client);
  });
});

describe("decision 0116: sessions between the two protocols", () => {
  test("a Realtime client talks to a host of Live", async () => {
    const harness = await startHarness(liveHost());
    const client = await harness.openLive("/v1/realtime?model=test/live");
    await client.hears("session.created");
    const { host } = harness.sockets;
    client.say({ type: "session.update", session: { type: "realtime", instructions: "Be brief." } });
    await client.hears("session.updated");
    client.say({
      type: "conversation.item.create",
      item: { type: "message", role: "user", content: [{ type: "input_text", text: "Is it so?" }] },
    });
    client.say({ type: "response.create" });
    await harness.clock.pass(100);
    expect(host.events.map((event) => Object.keys(event)[0])).toEqual(["setup", "clientContent"]);
    expect(stringAt(objectAt(host.events[0], "setup"), "model")).toBe("models/upstream-live");
    host.say(live.audio(1), live.done());
    const done = await client.hears("response.done");
    const [receipt] = await harness.receipts();
    expect(receipt).toMatchObject({
      lane: "translated",
      dialect: { client: "realtime", upstream: "live" },
      cost_nano_usd: LIVE_COST,
    });
    expect(stringAt(objectAt(objectAt(done, "response"), "metadata"), "trivium_receipt")).toBe(receipt?.id ?? "");
    await endSession(harness, client);
    expect(await harness.receipts()).toHaveLength(1);
  });

  test("a Live client talks to a host of Realtime", async () => {
    const host = realtimeHost({ answers: true });
    const { asked, heard } = host;
    const confirming: HostScript = {
      ...(asked && { asked }),
      heard: (at, event) => {
        if (event["type"] === "session.update") at.say({ ...realtime.created(), type: "session.updated" });
        heard?.(at, event);
      },
    };
    const harness = await startHarness(confirming);
    const { client } = await openSession(harness, "test/realtime");
    expect(named(client)).toEqual(["setupComplete"]);
    client.say(live.say("Is it so?"));
    await harness.clock.pass(100);
    expect(client.events.at(-1)).toMatchObject({ serverContent: { turnComplete: true } });
    expect(await harness.receipts()).toMatchObject([
      { lane: "translated", dialect: { client: "live", upstream: "realtime" }, cost_nano_usd: REALTIME_COST },
    ]);
    await endSession(harness, client);
  });

  test("a cut host ends the turn for the client, and the turn is billed by what came", async () => {
    const harness = await startHarness(liveHost());
    const client = await harness.openLive("/v1/realtime?model=test/live");
    client.say({ type: "response.create" });
    await harness.clock.pass(100);
    const { host } = harness.sockets;
    host.say(live.audio(1));
    await client.hears("response.output_audio.delta");
    host.hangUp();
    await harness.clock.pass(100);
    expect(client.events.slice(-2)).toMatchObject([
      { type: "response.done", response: { status: "failed" } },
      { type: "error" },
    ]);
    expect(client.closed?.code).toBe(1011);
    expect(await harness.receipts()).toMatchObject([{ usage_source: "partial", usage: { audio_output: 25 } }]);
    await endSession(harness, client);
  });
});
