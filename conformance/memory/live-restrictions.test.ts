import { describe, expect, test } from "bun:test";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { liveModels, realtime, realtimeHost } from "../../testing/live/live-hosts.ts";
import { TEST_KEY } from "../../testing/test-key.ts";

const PATH = "/v1/realtime?model=test/realtime";

async function start(config: Record<string, unknown>): Promise<Harness> {
  const harness = await Harness.start({ config: { ...liveModels(UPSTREAM_URL), ...config } });
  harness.sockets.play(realtimeHost());
  return harness;
}

/** What a client that may not open a session gets. */
async function refused(harness: Harness, headers: Record<string, string> = {}): Promise<string> {
  try {
    const client = await harness.openLive(PATH, { headers });
    await client.hears("error");
    client.leave();
    return JSON.stringify(client.events);
  } catch (thrown) {
    return String(thrown);
  }
}

describe("H57: spoken sessions and guards", () => {
  test("a guard that may change or stop texts refuses the session, and no host is reached", async () => {
    const harness = await start({ guards: [{ name: "no-secrets", use: "secrets", action: "redact" }] });
    expect(await refused(harness)).toContain("Guards (no-secrets) check the texts of test/realtime for this key");
    expect(harness.sockets.open).toBe(0);
  });

  test("a guard that observes says in the receipt that it did not run", async () => {
    const harness = await start({ guards: [{ name: "watch", use: "pii", action: "observe" }] });
    const client = await harness.openLive(PATH);
    await client.hears("session.created");
    const { host } = harness.sockets;
    client.say({ type: "response.create" });
    await harness.clock.pass(10);
    host.say(realtime.began("resp_1"), realtime.text("resp_1", "It is"), realtime.done("resp_1"));
    const done = await client.hears("response.done");
    const id = (done["response"] as { metadata: { trivium_receipt: string } }).metadata.trivium_receipt;
    const answer = await harness.get(`/api/v1/generation?id=${id}`, { authorization: `Bearer ${TEST_KEY}` });
    const { guards } = (JSON.parse(answer.text) as { data: { guards: object[] } }).data;
    expect(guards).toEqual([
      expect.objectContaining({ name: "watch", on: "request", verdict: "not_run", reason: "speech is not checked" }),
      expect.objectContaining({ name: "watch", on: "response", verdict: "not_run" }),
    ]);
    client.leave();
    await harness.clock.pass(10_000);
  });
});

describe("decision 0127: spoken sessions and required traits", () => {
  test("an offer that does not state the trait opens no session", async () => {
    const harness = await start({});
    expect(await refused(harness, { "x-trivium-require": "region=eu" })).toContain(
      "No offer of test/realtime has the required traits region=eu",
    );
    expect(harness.sockets.open).toBe(0);
  });

  test("one that does is used", async () => {
    const config = liveModels(UPSTREAM_URL) as { models: { offers: object[] }[] };
    const models = config.models.map((model) => ({
      ...model,
      offers: model.offers.map((offer) => ({ ...offer, traits: { region: "eu" } })),
    }));
    const harness = await start({ models });
    const client = await harness.openLive(PATH, { headers: { "x-trivium-require": "region=eu" } });
    await client.hears("session.created");
    client.leave();
    await harness.clock.pass(10_000);
  });
});
