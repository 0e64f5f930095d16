import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { LeaseTable } from "../../src/leases/lease-table.ts";
import { Leases } from "../../src/leases/leases.ts";
import { Harness, makeMachine, UPSTREAM_URL } from "../../testing/harness.ts";
import {
  LIVE_COST,
  live,
  liveHost,
  liveModels,
  REALTIME_COST,
  REALTIME_USAGE,
  realtime,
} from "../../testing/live/live-hosts.ts";
import { modelsWithScribe, ScribeSession, SECOND_COST, scribe, scribeHost } from "../../testing/live/scribe-session.ts";
import { TEST_KEY } from "../../testing/test-key.ts";

const LIVE_PATH = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent";
const NOTHING_LEFT = { runningCalls: 0, orphanedTexts: 0, orphanedImages: 0, heldBytes: 0, openUpstreams: 0 };
const DICTATED = 3 * SECOND_COST;
const usd = (nano: number) => nano / 1e9;

async function end({ harness, client }: Pick<ScribeSession, "harness" | "client">): Promise<void> {
  client.leave();
  await harness.clock.pass(20_000);
  expect(harness.leftovers()).toEqual(NOTHING_LEFT);
  expect(harness.gateway.admissions.held).toEqual({ calls: 0, nanoUsd: 0 });
  expect(harness.sockets.open).toBe(0);
}

describe("H59: transcription in a session without responses", () => {
  test("each transcription has a receipt of its own, at the price of the model that does it", async () => {
    const session = await ScribeSession.open();
    await session.dictate("item_1");
    await session.dictate("item_2");
    expect(session.heard).toEqual(["What item_1 says.", "What item_2 says."]);
    const bill = { outcome: "ok", cost: DICTATED, model: "test/scribe", source: "measured" };
    expect(await session.bills()).toEqual([bill, bill]);
    await end(session);
    expect(await session.bills()).toHaveLength(2);
  });

  test("kill -9 bills what was written down: the receipt is stored before the client sees the words", async () => {
    const session = await ScribeSession.open();
    const { ledger } = session.harness.gateway;
    const stored = Promise.withResolvers<void>();
    const write = ledger.write.bind(ledger);
    const written: string[] = [];
    ledger.write = async (receipt, isLast) => {
      written.push(receipt.model);
      await stored.promise;
      await write(receipt, isLast);
    };
    await session.dictate("item_1");
    expect({ written, heard: session.heard }).toEqual({ written: ["test/scribe"], heard: [] });
    stored.resolve();
    await session.harness.clock.pass(10);
    expect(session.heard).toHaveLength(1);
    await end(session);
  });

  test("it counts towards requests per minute, and what is refused is recorded, hidden and not repeated", async () => {
    // The handshake is a request, too.
    const session = await ScribeSession.open({ limits: { requestsPerMinute: 3 } });
    for (const item of ["item_1", "item_2", "item_3", "item_4"]) await session.dictate(item);
    expect(session.heard).toEqual(["What item_1 says.", "What item_2 says."]);
    expect(session.errors).toContain("rate_limit_error");
    expect((await session.bills()).map(({ outcome, cost }) => [outcome, cost])).toEqual([
      ["ok", DICTATED],
      ["ok", DICTATED],
      ["rate_limited", DICTATED],
      ["rate_limited", DICTATED],
    ]);
    // The user's speech is withheld after a refusal.
    expect(session.host.ofType("input_audio_buffer.append")).toHaveLength(3);
    await end(session);
  });

  test("it ends with the budget", async () => {
    const session = await ScribeSession.open({ limits: { budgetUsdTotal: usd(2.5 * DICTATED) } });
    for (const item of ["item_1", "item_2", "item_3"]) await session.dictate(item);
    expect(session.heard).toHaveLength(2);
    expect(session.errors).toEqual(["insufficient_quota"]);
    expect((await session.bills()).map(({ outcome }) => outcome)).toEqual(["ok", "ok", "budget_exhausted"]);
    await end(session);
  });

  test("limits of the model that writes it down hold, and so do those of an end user and a tag", async () => {
    const limits = { requests_per_minute: 1 };
    for (const parts of [
      { limits_by_model: { "test/scribe": limits } },
      { end_users: { limits } },
      { limits_by_tag: { voice: limits } },
    ]) {
      const keys = [{ name: "tests", key: TEST_KEY, ...parts }];
      const harness = await Harness.start({ config: { ...modelsWithScribe(), keys } });
      harness.sockets.play(scribeHost());
      const client = await harness.openLive("/v1/realtime?model=test/realtime", {
        headers: { "x-trivium-user": "u-1", "x-trivium-tags": "voice" },
      });
      await client.hears("session.created");
      const { host } = harness.sockets;
      for (const item of ["item_1", "item_2"]) {
        host.say(scribe.committed(item), scribe.completed(item));
        await harness.clock.pass(10);
      }
      const types = client.events.map(({ type }) => type);
      expect({ parts, done: types.filter((type) => type.endsWith("transcription.completed")).length }).toEqual({
        parts,
        done: 1,
      });
      expect(types).toContain("error");
      await end({ harness, client });
    }
  });

  test("it takes no slot of `concurrent`, so that neither refuses the turn beside it", async () => {
    const session = await ScribeSession.open({ limits: { concurrent: 1 } });
    const { client, host, harness } = session;
    client.say({ type: "response.create" });
    await harness.clock.pass(10);
    host.say(realtime.began("resp_1"), scribe.committed("item_1"), realtime.audio("resp_1", 1));
    host.say(scribe.completed("item_1"), realtime.done("resp_1"));
    await client.hears("response.done");
    host.say(scribe.committed("item_2"), realtime.began("resp_2"), realtime.done("resp_2"), scribe.completed("item_2"));
    await harness.clock.pass(10);
    expect(session.errors).toEqual([]);
    expect(session.heard).toHaveLength(2);
    expect((await session.bills()).map(({ cost }) => cost).sort()).toEqual(
      [DICTATED, DICTATED, REALTIME_COST, REALTIME_COST].sort(),
    );
    await end(session);
  });

  test("a key for the session's model need not name the model that writes it down", async () => {
    const session = await ScribeSession.open({ models: ["test/realtime"] });
    await session.dictate("item_1");
    expect(session.errors).toEqual([]);
    await end(session);
  });

  test("without a usage it is billed by the length of the speech", async () => {
    const session = await ScribeSession.open();
    await session.dictate("item_1", null);
    expect(await session.bills()).toMatchObject([{ cost: DICTATED, source: "estimated" }]);
    // What the host says of the speech is more exact.
    session.client.say(realtime.speech(60));
    session.host.say(
      { type: "input_audio_buffer.speech_started", event_id: "a", audio_start_ms: 50_000, item_id: "item_2" },
      { type: "input_audio_buffer.speech_stopped", event_id: "b", audio_end_ms: 55_000, item_id: "item_2" },
    );
    session.host.say(scribe.committed("item_2"), scribe.completed("item_2", null));
    await session.harness.clock.pass(10);
    expect((await session.bills()).at(-1)).toMatchObject({ cost: 5 * SECOND_COST });
    await end(session);
  });

  test("a transcription that the host could not make costs nothing", async () => {
    const session = await ScribeSession.open();
    session.host.say(scribe.committed("item_1"), {
      type: "conversation.item.input_audio_transcription.failed",
      event_id: "f",
      item_id: "item_1",
      content_index: 0,
      error: { type: "transcription_error", code: "audio_unintelligible", message: "Not understood." },
    });
    await session.harness.clock.pass(10);
    const [bill] = await session.bills();
    expect(bill).toMatchObject({ cost: 0 });
    expect(bill?.outcome).not.toBe("ok");
    await end(session);
  });

  test.each([
    ["the client leaves", async ({ client }: ScribeSession) => client.leave(), "client_gone"],
    ["the host is cut off", async ({ host }: ScribeSession) => host.hangUp(), "upstream_failed"],
    ["an operator ends the session", async ({ harness }: ScribeSession) => endByOperator(harness), "client_gone"],
    ["the host is silent", async ({ harness }: ScribeSession) => harness.clock.pass(5_000), "ok"],
  ])("what is open when %s is billed by its length, once", async (_what, happens, outcome) => {
    const session = await ScribeSession.open();
    session.client.say(realtime.speech(3));
    session.host.say(scribe.committed("item_1"), scribe.delta("item_1", "What"));
    await session.harness.clock.pass(10);
    await happens(session);
    await session.harness.clock.pass(10_000);
    const bills = [{ outcome, cost: DICTATED, model: "test/scribe", source: "partial" }];
    expect(await session.bills()).toEqual(bills);
    await end(session);
    expect(await session.bills()).toEqual(bills);
  });

  test("what the host reports within two seconds after the client has left counts", async () => {
    const session = await ScribeSession.open();
    session.client.say(realtime.speech(3));
    session.host.say(scribe.committed("item_1"));
    session.client.leave();
    await session.harness.clock.pass(500);
    session.host.say(scribe.completed("item_1", { type: "duration", seconds: 2 }));
    await session.harness.clock.pass(10);
    expect(await session.bills()).toMatchObject([{ cost: 2 * SECOND_COST, source: "measured" }]);
    await end(session);
  });

  test("a revoked key writes down nothing more that is not recorded with the reason", async () => {
    const session = await ScribeSession.open();
    session.harness.gateway.keys.revokeHere(session.key.id, { who: "test" });
    await session.dictate("item_1");
    expect(session.heard).toEqual([]);
    expect(await session.bills()).toMatchObject([{ outcome: "unauthenticated", cost: DICTATED }]);
    await end(session);
  });

  test("after a fallback at the connection, the price is that of the provider that opened the session", async () => {
    const refuses = { asked: (host: { refuse(status: number): void }) => host.refuse(503) };
    const session = await ScribeSession.open({ model: "test/both" }, { hosts: [refuses, refuses, scribeHost()] });
    await session.dictate("item_1");
    const [receipt] = await session.harness.receipts();
    expect(receipt).toMatchObject({ model: "test/scribe", provider: "up-other", cost_nano_usd: DICTATED });
    expect(receipt?.offers.map(({ outcome }) => outcome)).toEqual(["failed", "failed", "answered"]);
    await end(session);
  });

  test("H23: two processes share the requests of a minute and the budget", async () => {
    for (const limits of [{ requests_per_minute: 4 }, { budget_usd_total: usd(2.5 * DICTATED) }]) {
      const machine = await makeMachine();
      const { clock } = machine;
      const table = new LeaseTable({ leaseMs: 3_000, nowMs: clock.nowMs, epoch: () => "one", onWanted: () => {} });
      const sessions = [];
      for (const instance of ["one", "two"]) {
        const leases = new Leases({
          source: { sync: async (sync) => table.sync(structuredClone(sync)), close: async () => {} },
          clock,
          instance,
          leaseMs: 3_000,
          isFirst: instance === "one",
          spent: { ofWindows: async () => new Map(), ofDead: async () => new Map() },
        });
        const config = { ...modelsWithScribe(), keys: [{ name: "tests", key: TEST_KEY, limits }] };
        const harness = await Harness.start({ config, machine, leases });
        await clock.until(leases.start());
        harness.sockets.play(scribeHost());
        const client = await harness.openLive("/v1/realtime?model=test/realtime");
        await client.hears("session.created");
        sessions.push({ harness, client, host: harness.sockets.host, leases });
      }
      for (const item of ["item_1", "item_2", "item_3"]) {
        for (const { client, host } of sessions) {
          client.say(realtime.speech(3));
          host.say(scribe.committed(item), scribe.completed(item));
          await clock.pass(1_000);
        }
      }
      const heard = sessions.flatMap(({ client }) =>
        client.events.filter(({ type }) => type.endsWith("input_audio_transcription.completed")),
      );
      expect({ limits, heard: heard.length }).toEqual({ limits, heard: 2 });
      for (const { client, leases } of sessions) {
        client.leave();
        await clock.until(leases.stop());
      }
    }
  });

  test("a session that is opened again bills its own items, whatever the host calls them", async () => {
    const session = await ScribeSession.open();
    await session.dictate("item_1");
    session.client.leave();
    const again = await session.harness.openLive("/v1/realtime?model=test/realtime", { key: session.key.key });
    await again.hears("session.created");
    session.host.say(scribe.committed("item_1"), scribe.completed("item_1"));
    await session.harness.clock.pass(10);
    expect(await session.bills()).toHaveLength(2);
    await end({ harness: session.harness, client: again });
  });

  test("a Live client at a host of Realtime is metered alike", async () => {
    const harness = await Harness.start({ config: modelsWithScribe() });
    harness.sockets.play(scribeHost());
    const client = await harness.openLive(`${LIVE_PATH}?key=${TEST_KEY}`, { headers: { authorization: "" } });
    const { setup } = live.setup("test/realtime");
    client.say({ setup: { ...setup, inputAudioTranscription: {} } });
    await harness.clock.pass(100);
    harness.sockets.host.say(scribe.committed("item_1"), scribe.completed("item_1"));
    await harness.clock.pass(10);
    expect(client.events.at(-1)).toMatchObject({
      serverContent: { inputTranscription: { text: "What item_1 says." } },
    });
    const rows = await harness.storage.query("SELECT model, cost_nano_usd FROM receipts");
    expect(rows.map((row) => ({ ...row }))).toEqual([{ model: "test/scribe", cost_nano_usd: DICTATED }]);
    await end({ harness, client });
  });

  test("a host of Live, whose transcripts are part of the turn, is billed by the turn alone", async () => {
    const harness = await Harness.start({ config: liveModels(UPSTREAM_URL) });
    harness.sockets.play(liveHost());
    const client = await harness.openLive("/v1/realtime?model=test/live");
    const transcription = { transcription: { model: "upstream-scribe" } };
    client.say({ type: "session.update", session: { type: "realtime", audio: { input: transcription } } });
    client.say(realtime.speech(1));
    await harness.clock.pass(10);
    harness.sockets.host.say(
      { serverContent: { inputTranscription: { text: "Is it so?" } } },
      live.audio(1),
      live.done(),
    );
    await client.hears("response.done");
    expect(await harness.receipts()).toMatchObject([{ cost_nano_usd: LIVE_COST }]);
    await end({ harness, client });
  });

  const TIMED = {
    id: "test/timed",
    input_modalities: ["text", "audio"],
    output_modalities: ["text", "audio"],
    pricings: {
      prompt: [{ value: 0, unit: "perMTokens", currency: "USD" }],
      completion: [{ value: 0, unit: "perMTokens", currency: "USD" }],
      audio: [{ value: SECOND_COST / 1e9, unit: "perSecond", currency: "USD" }],
    },
    offers: [{ provider: "up-realtime", model: "upstream-timed" }],
  };
  const timed = { models: [...(modelsWithScribe()["models"] as object[]), TIMED] };

  test("a session that costs by the second is billed by the minute, and what has passed of the last one", async () => {
    const session = await ScribeSession.open({ model: "test/timed" }, { config: timed });
    await session.harness.clock.pass(150_000);
    expect((await session.bills()).map(({ cost }) => cost)).toEqual([60 * SECOND_COST, 60 * SECOND_COST]);
    await end(session);
    const [, , last, ...more] = await session.bills();
    expect(more).toEqual([]);
    expect(last).toMatchObject({ outcome: "client_gone", source: "partial", model: "test/timed" });
    expect(last?.cost).toBeGreaterThanOrEqual(28 * SECOND_COST);
    expect(last?.cost).toBeLessThanOrEqual(30 * SECOND_COST);
  });

  test("an idle session that costs by the second ends with the budget, and becomes idle as any other", async () => {
    const limits = { budgetUsdTotal: usd(150 * SECOND_COST) };
    const session = await ScribeSession.open({ model: "test/timed", limits }, { config: timed });
    await session.harness.clock.pass(125_000);
    expect(session.errors).toEqual(["insufficient_quota"]);
    expect(session.client.closed?.code).toBe(1008);
    await end(session);
    expect((await session.bills()).map(({ cost }) => cost)).toEqual([60 * SECOND_COST, 60 * SECOND_COST]);

    const live = { idle_seconds: 30 };
    const idle = await ScribeSession.open({ model: "test/timed" }, { config: { ...timed, live } });
    await idle.harness.clock.pass(40_000);
    expect(idle.client.closed?.code).toBe(1000);
    await end(idle);
    expect(await idle.bills()).toHaveLength(1);
  });

  test("a response whose host counts seconds is billed by them", async () => {
    const session = await ScribeSession.open({ model: "test/timed" }, { config: timed });
    const { client, host } = session;
    host.say(realtime.began("resp_1"), realtime.done("resp_1", "completed", { type: "duration", seconds: 4 }));
    await client.hears("response.done");
    expect(await session.bills()).toMatchObject([{ cost: 4 * SECOND_COST, source: "measured" }]);
    await end(session);
  });

  test("what an unknown event counts is billed like the session's model, and marked", async () => {
    const session = await ScribeSession.open();
    const counted = { type: "session.translation.done", event_id: "x", item_id: "item_1", usage: REALTIME_USAGE };
    session.host.say(counted, counted);
    await session.harness.clock.pass(10);
    const [receipt, ...more] = await session.harness.receipts();
    expect(more).toEqual([]);
    expect(receipt).toMatchObject({ model: "test/realtime", cost_nano_usd: REALTIME_COST });
    expect(receipt?.["unpriced"]).toEqual(["session.translation.done"]);
    await end(session);
  });
});

describe("decision 0149: any order of what a host says", () => {
  const ids = fc.constantFrom("1", "2", "3");
  const says = fc.oneof(
    ids.map((id) => realtime.began(`resp_${id}`)),
    ids.map((id) => realtime.audio(`resp_${id}`, 0.1)),
    ids.map((id) => realtime.done(`resp_${id}`)),
    ids.map((id) => scribe.committed(`item_${id}`)),
    ids.map((id) => scribe.delta(`item_${id}`, "What")),
    ids.map((id) => scribe.completed(`item_${id}`)),
  );

  test("each thing that it has counted is billed once, and nothing stays open", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(says, fc.constantFrom(0, 0, 10, 5_000)), { maxLength: 25 }),
        async (events) => {
          const session = await ScribeSession.open();
          const counted = new Set<string>();
          for (const [event, ms] of events) {
            session.host.say(event);
            if (session.client.closed !== undefined) break;
            if (event.type === "response.done" && "response" in event) counted.add(event.response.id);
            if ("transcript" in event) counted.add(event.item_id);
            await session.harness.clock.pass(ms);
          }
          await end(session);
          const bills = await session.bills();
          const measured = bills.filter(({ source }) => source === "measured").reduce((sum, { cost }) => sum + cost, 0);
          const estimated = bills
            .filter(({ source }) => source !== "measured")
            .reduce((sum, { cost }) => sum + cost, 0);
          const costs = [...counted].reduce((sum, id) => sum + (id.startsWith("resp") ? REALTIME_COST : DICTATED), 0);
          // What an estimate has billed before the report is not billed again.
          expect(measured).toBeLessThanOrEqual(costs);
          expect(measured + estimated).toBeGreaterThanOrEqual(costs);
          expect(new Set(session.errors).size).toBeLessThanOrEqual(1);
        },
      ),
      { numRuns: 25 },
    );
  }, 30_000);
});

describe("H60: what a host of a live session reports twice, or late", () => {
  test("response.done sent twice is billed once", async () => {
    const session = await ScribeSession.open();
    const { client, host, harness } = session;
    host.say(realtime.began("resp_1"), realtime.audio("resp_1", 1), realtime.done("resp_1"), realtime.done("resp_1"));
    await client.hears("response.done");
    host.say(realtime.done("resp_1"), realtime.done("resp_2"), realtime.done("resp_2"));
    await harness.clock.pass(10);
    expect((await session.bills()).map(({ cost }) => cost)).toEqual([REALTIME_COST, REALTIME_COST]);
    await end(session);
    expect(await session.bills()).toHaveLength(2);
  });

  test("the later figure counts: what it has more is billed, and less is not taken back", async () => {
    const session = await ScribeSession.open();
    const { client, host, harness } = session;
    const usage = (text: number) => ({ input_tokens: 100, output_tokens: text, total_tokens: 100 + text });
    host.say(
      realtime.began("resp_1"),
      realtime.text("resp_1", "It is."),
      realtime.done("resp_1", "completed", usage(20)),
    );
    await client.hears("response.done");
    host.say(realtime.done("resp_1", "completed", usage(50)));
    host.say(realtime.done("resp_1", "completed", usage(30)));
    host.say(realtime.done("resp_1", "completed", usage(50)));
    await harness.clock.pass(10);
    expect((await session.bills()).map(({ cost }) => cost)).toEqual([100 * 1_000 + 20 * 2_000, 30 * 2_000]);
    await end(session);
  });

  test("a transcription that is reported twice is billed once", async () => {
    const session = await ScribeSession.open();
    await session.dictate("item_1");
    session.host.say(scribe.completed("item_1"));
    await session.harness.clock.pass(10);
    expect(await session.bills()).toMatchObject([{ cost: DICTATED }]);
    await end(session);
    expect(await session.bills()).toHaveLength(1);
  });

  test("a transcription that is reported after it was given up adds what its estimate lacks, at its model's price", async () => {
    const session = await ScribeSession.open();
    session.client.say(realtime.speech(1));
    session.host.say(scribe.committed("item_1"));
    await session.harness.clock.pass(5_000);
    session.host.say(scribe.completed("item_1"));
    await session.harness.clock.pass(10);
    expect(session.heard).toHaveLength(1);
    expect((await session.bills()).map(({ cost, model }) => [cost, model])).toEqual([
      [SECOND_COST, "test/scribe"],
      [2 * SECOND_COST, "test/scribe"],
    ]);
    await end(session);
  });

  test("two parts of one item are two transcriptions", async () => {
    const session = await ScribeSession.open();
    await session.dictate("item_1");
    session.host.say({ ...scribe.completed("item_1"), content_index: 1 });
    await session.harness.clock.pass(10);
    expect((await session.bills()).map(({ cost }) => cost)).toEqual([DICTATED, DICTATED]);
    await end(session);
  });

  test("responses without ids are not taken for one", async () => {
    const session = await ScribeSession.open();
    const bare = (type: string, usage: object | null) => ({
      type,
      event_id: "e",
      response: { status: "completed", usage },
    });
    for (let round = 0; round < 2; round++) {
      session.host.say(bare("response.created", null), bare("response.done", REALTIME_USAGE));
      await session.harness.clock.pass(10);
    }
    expect((await session.bills()).map(({ cost }) => cost)).toEqual([REALTIME_COST, REALTIME_COST]);
    await end(session);
  });

  const openLive = async () => {
    const harness = await Harness.start({ config: liveModels(UPSTREAM_URL) });
    harness.sockets.play(liveHost());
    const client = await harness.openLive(`${LIVE_PATH}?key=${TEST_KEY}`, { headers: { authorization: "" } });
    client.say(live.setup("test/live"));
    await harness.clock.pass(100);
    const costs = async () => (await harness.receipts()).map(({ cost_nano_usd }) => cost_nano_usd);
    return { harness, client, host: harness.sockets.host, costs };
  };
  const late = { usageMetadata: (live.done() as { usageMetadata: object }).usageMetadata };
  const silentEnd = { serverContent: { turnComplete: true } };

  test("usage of a Live turn that comes again after its end is billed once", async () => {
    const { harness, client, host, costs } = await openLive();
    host.say(live.audio(1), live.done(), late, late);
    await harness.clock.pass(10_000);
    expect(await costs()).toEqual([LIVE_COST]);
    await end({ harness, client });
    expect(await costs()).toEqual([LIVE_COST]);
  });

  test("usage that comes only after the end is added to its turn, once", async () => {
    const { harness, client, host, costs } = await openLive();
    host.say(live.audio(1), silentEnd, late, late);
    await harness.clock.pass(10_000);
    expect(await costs()).toEqual([LIVE_COST]);
    await end({ harness, client });
    expect(await costs()).toEqual([LIVE_COST]);
  });

  test("usage that comes after the receipt adds what its estimate lacks, once", async () => {
    const { harness, client, host, costs } = await openLive();
    host.say(live.audio(1), silentEnd);
    await harness.clock.pass(60_000);
    const [estimate] = await harness.receipts();
    expect(estimate).toMatchObject({ usage_source: "estimated", usage: { audio_output: 25 } });
    const read = estimate?.usage["input"] ?? 0;
    host.say(late, late);
    await harness.clock.pass(10_000);
    expect(await costs()).toEqual([read * 1_000 + 25 * 8_000, (100 - read) * 4_000 + 25 * 8_000]);
    await end({ harness, client });
    expect(await costs()).toHaveLength(2);
  });

  test("usage of no turn enters the limits of its key: refused, it is recorded with the reason", async () => {
    const session = await ScribeSession.open(
      { limits: { budgetUsdTotal: 0 }, model: "test/live" },
      { hosts: [liveHost()] },
    );
    session.client.say({ type: "session.update", session: { type: "realtime", instructions: "Be brief." } });
    session.client.say(realtime.speech(1));
    await session.harness.clock.pass(10);
    session.host.say(late, late);
    await session.harness.clock.pass(10_000);
    expect(await session.bills()).toMatchObject([{ outcome: "budget_exhausted", cost: LIVE_COST }]);
    await end(session);
    expect(await session.bills()).toHaveLength(1);
  });
});

function endByOperator({ context }: Harness): void {
  const [view] = context.live.list();
  context.live.find(view?.id ?? "")?.endNow();
}

describe("decision 0149: grounding in a Live session", () => {
  const model = (id: string, name: string) => ({
    id,
    input_modalities: ["text", "audio"],
    output_modalities: ["text", "audio"],
    pricings: {
      prompt: [{ value: 0, unit: "perMTokens", currency: "USD" }],
      completion: [{ value: 0, unit: "perMTokens", currency: "USD" }],
      audio: [{ value: 0, unit: "perMTokens", currency: "USD" }],
      audio_output: [{ value: 0, unit: "perMTokens", currency: "USD" }],
    },
    offers: [{ provider: "up-live", model: name }],
  });
  const { models: _known, ...config } = liveModels(UPSTREAM_URL);
  const models = [model("test/two", "gemini-2.5-flash-native-audio"), model("test/three", "gemini-3.8-live")];
  const grounded = (...webSearchQueries: string[]) => ({ serverContent: { groundingMetadata: { webSearchQueries } } });

  test.each([
    ["test/two", "up to 2.5 a prompt costs the same, whatever was searched", 0.035],
    ["test/three", "from 3 each query costs", 3 * 0.035],
  ])("%s: %s", async (name, _what, cost) => {
    const harness = await Harness.start({ config: { ...config, models } });
    harness.sockets.play(liveHost());
    const client = await harness.openLive(`${LIVE_PATH}?key=${TEST_KEY}`, { headers: { authorization: "" } });
    const { setup } = live.setup(name);
    client.say({ setup: { ...setup, tools: [{ googleSearch: {} }] } });
    await harness.clock.pass(100);
    client.say(live.say("Who won?"));
    await harness.clock.pass(10);
    const { host } = harness.sockets;
    host.say(live.audio(1), grounded("who won", "final score"), grounded("who won", "final score"), grounded("city"));
    host.say(live.done());
    await harness.clock.pass(100);
    expect(await harness.receipts()).toMatchObject([{ cost_nano_usd: Math.round(cost * 1e9) }]);
    await end({ harness, client });
  });
});
