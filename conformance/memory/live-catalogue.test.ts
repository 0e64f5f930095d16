import { describe, expect, test } from "bun:test";
import { builtInModels } from "../../src/catalogue/built-in-models.ts";
import { checkPrices } from "../../src/catalogue/check-prices.ts";
import type { AnyPriceName, BuiltInModel } from "../../src/catalogue/model.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { live, liveHost, realtime, realtimeHost } from "../../testing/live/live-hosts.ts";
import type { HostScript } from "../../testing/live/memory-sockets.ts";

const LIVE_PATH = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent";

const isLive = ({ dialect }: BuiltInModel) => dialect === "realtime" || dialect === "live";
const liveEntries = builtInModels.filter(isLive);

const entryOf = (id: string): BuiltInModel => {
  const entry = builtInModels.find((model) => model.id === id);
  if (entry === undefined) throw new Error(`no built-in model ${id}`);
  return entry;
};

/** The built-in price of one token or one second, in nano-dollars. */
function nano(id: string, name: AnyPriceName): number {
  const [item] = entryOf(id).pricings[name] ?? [];
  if (item === undefined) throw new Error(`${id} has no price ${name}`);
  return Math.round(item.value * (item.unit === "perMTokens" ? 1e3 : 1e9));
}

/** The vendors' providers, with nothing configured about any model. */
async function startHarness(script: HostScript): Promise<Harness> {
  const harness = await Harness.start({
    config: {
      providers: {
        openai: { kind: "openai", base_url: `${UPSTREAM_URL}/v1`, api_key: "secret-one" },
        gemini: { kind: "gemini", base_url: UPSTREAM_URL, api_key: "secret-two" },
      },
    },
  });
  harness.sockets.play(script);
  return harness;
}

async function openRealtime(harness: Harness, id: string) {
  const client = await harness.openLive(`/v1/realtime?model=${id}`);
  await client.hears("session.created");
  return { client, host: harness.sockets.host };
}

/** 1,000 tokens in: 300 of text, 600 of sound, 100 of images; 50, 400 and 20 of them cached. 200 out, 150 of them sound. */
const USAGE = {
  total_tokens: 1200,
  input_tokens: 1000,
  output_tokens: 200,
  input_token_details: {
    text_tokens: 300,
    audio_tokens: 600,
    image_tokens: 100,
    cached_tokens: 470,
    cached_tokens_details: { text_tokens: 50, audio_tokens: 400, image_tokens: 20 },
  },
  output_token_details: { text_tokens: 50, audio_tokens: 150 },
};

const costOfUsage = (id: string): number => {
  const { audio_cache_read } = entryOf(id).pricings;
  const cachedAudio = nano(id, audio_cache_read === undefined ? "input_cache_read" : "audio_cache_read");
  return (
    250 * nano(id, "prompt") +
    200 * nano(id, "audio") +
    80 * nano(id, "image_input") +
    50 * nano(id, "input_cache_read") +
    400 * cachedAudio +
    20 * nano(id, "image_cache_read") +
    50 * nano(id, "completion") +
    150 * nano(id, "audio_output")
  );
};

describe("decision 0131: the vendors' live models are known", () => {
  test("contract 2.9: they are listed where their vendor is configured, and their prices raise no question", async () => {
    const harness = await startHarness(realtimeHost());
    const { data } = JSON.parse((await harness.get("/v1/models")).text) as { data: { id: string }[] };
    expect(liveEntries.length).toBeGreaterThan(7);
    expect(data.map(({ id }) => id)).toEqual(expect.arrayContaining(liveEntries.map(({ id }) => id)));
    const ids = new Set([...liveEntries.map(({ id }) => id), "openai/gpt-realtime-whisper", "openai/gpt-transcribe"]);
    const warnings = checkPrices(harness.gateway.snapshot.catalogue);
    expect(warnings.filter(({ model }) => ids.has(model))).toEqual([]);
  });

  test("decision 0116: each is live in its vendor's protocol, and nothing else is served of it", async () => {
    const harness = await startHarness(realtimeHost());
    const { catalogue, targets } = harness.gateway.snapshot;
    for (const { id, dialect } of liveEntries) {
      const { model, offers } = catalogue.resolve(id);
      expect({ id, via: targets.live(model, offers).map(({ via }) => String(via)) }).toEqual({
        id,
        via: [String(dialect)],
      });
      expect({ id, text: targets.serveText(offers) }).toEqual({ id, text: false });
      const answer = await harness.post("/v1/chat/completions", {
        model: id,
        messages: [{ role: "user", content: "Hello" }],
      });
      expect(answer.status).toBe(400);
      expect(answer.text).toContain(`${id} is served only on live connections`);
    }
  });

  for (const id of liveEntries.filter(({ dialect }) => dialect === "realtime").map((entry) => entry.id)) {
    test(`${id}: a turn costs what its entry says, cached sound and images included`, async () => {
      const harness = await startHarness(realtimeHost({ answers: true, usage: USAGE }));
      const { client } = await openRealtime(harness, id);
      client.say({ type: "response.create" });
      await client.hears("response.done");
      const [receipt] = await harness.receipts();
      expect(receipt).toMatchObject({
        model: id,
        provider: "openai",
        cost_nano_usd: costOfUsage(id),
        usage_source: "measured",
        usage: {
          input: 250,
          audio_input: 200,
          image_input: 80,
          cache_read: 470,
          output: 50,
          audio_output: 150,
        },
      });
    });
  }

  test("a receipt shows cached sound as a line of its own, at its own price", async () => {
    const id = "openai/gpt-realtime-2.1-mini";
    const harness = await startHarness(realtimeHost({ answers: true, usage: USAGE }));
    const { client } = await openRealtime(harness, id);
    client.say({ type: "response.create" });
    await client.hears("response.done");
    const [receipt] = await harness.receipts();
    const [row] = await harness.storage.query("SELECT priced_by FROM receipts WHERE id = ?", [receipt?.id ?? ""]);
    const parts = JSON.parse(String(row?.["priced_by"])) as { usage: object }[];
    expect(parts.map(({ usage }) => usage)).toEqual([
      { input: 250, audioInput: 200, imageInput: 80, cacheRead: 50, output: 50, audioOutput: 150 },
      { cacheRead: 400 },
      { cacheRead: 20 },
    ]);
    expect(receipt?.price_rule).toContain("; then input_cache_read 0.3 USD/MTok; then input_cache_read 0.08 USD/MTok");
  });

  test("the model that writes down the user's speech is billed at its own built-in price, by tokens or by seconds", async () => {
    const id = "openai/gpt-realtime-2.1";
    const models = [
      {
        model: "gpt-4o-mini-transcribe",
        usage: {
          type: "tokens",
          total_tokens: 115,
          input_tokens: 110,
          output_tokens: 5,
          input_token_details: { audio_tokens: 100, text_tokens: 10 },
        },
        cost:
          10 * nano("openai/gpt-4o-mini-transcribe", "prompt") +
          100 * nano("openai/gpt-4o-mini-transcribe", "audio") +
          5 * nano("openai/gpt-4o-mini-transcribe", "completion"),
      },
      {
        model: "gpt-realtime-whisper",
        usage: { type: "duration", seconds: 12 },
        cost: 12 * nano("openai/gpt-realtime-whisper", "audio"),
      },
    ];
    for (const { model, usage, cost } of models) {
      const harness = await startHarness(realtimeHost({ usage: USAGE }));
      const { client, host } = await openRealtime(harness, id);
      const { session } = realtime.created();
      const input = { ...session.audio.input, transcription: { model } };
      client.say({
        type: "session.update",
        session: { type: "realtime", audio: { input: { transcription: { model } } } },
      });
      host.say({ type: "session.updated", event_id: "u", session: { ...session, audio: { ...session.audio, input } } });
      host.say({
        type: "conversation.item.input_audio_transcription.completed",
        event_id: "t",
        item_id: "item_1",
        content_index: 0,
        transcript: "Is it so?",
        usage,
      });
      host.say(realtime.began("resp_1"), realtime.audio("resp_1", 1), realtime.done("resp_1", "completed", USAGE));
      await client.hears("response.done");
      const receipts = await harness.receipts();
      expect(client.events.filter(({ type }) => type === "error")).toEqual([]);
      expect(receipts.map((receipt) => [receipt.model, receipt.cost_nano_usd])).toEqual([
        [`openai/${model}`, cost],
        [id, costOfUsage(id)],
      ]);
    }
  });

  for (const id of liveEntries.filter(({ dialect }) => dialect === "live").map((entry) => entry.id)) {
    test(`${id}: a turn costs what its entry says`, async () => {
      const usage = {
        promptTokenCount: 500,
        responseTokenCount: 60,
        thoughtsTokenCount: 40,
        totalTokenCount: 600,
        promptTokensDetails: [
          { modality: "TEXT", tokenCount: 100 },
          { modality: "AUDIO", tokenCount: 300 },
          { modality: "VIDEO", tokenCount: 100 },
        ],
        responseTokensDetails: [{ modality: "AUDIO", tokenCount: 60 }],
      };
      const harness = await startHarness({
        heard: (host, event) => {
          if (event["setup"] !== undefined) host.say(live.ready());
          if (event["clientContent"] !== undefined) host.say(live.audio(1), live.done(usage));
        },
      });
      const client = await harness.openLive(LIVE_PATH);
      client.say(live.setup(id));
      await harness.clock.pass(100);
      client.say(live.say("Hello"));
      await harness.clock.pass(1_000);
      const cost =
        100 * nano(id, "prompt") +
        300 * nano(id, "audio") +
        100 * nano(id, "image_input") +
        60 * nano(id, "audio_output") +
        40 * nano(id, "completion");
      expect(await harness.receipts()).toMatchObject([{ model: id, provider: "gemini", cost_nano_usd: cost }]);
    });
  }

  test("a configured price of cached sound holds for Live hosts, too, and a host's wrong count of it bills no more than was cached", async () => {
    const id = "google/gemini-3.8-live";
    const usd = (value: number) => [{ value, unit: "perMTokens", currency: "USD" }];
    const harness = await Harness.start({
      config: {
        providers: { gemini: { kind: "gemini", base_url: UPSTREAM_URL, api_key: "secret-two" } },
        models: [{ id, pricings: { input_cache_read: usd(0.1), audio_cache_read: usd(0.5) } }],
      },
    });
    const usage = {
      promptTokenCount: 500,
      cachedContentTokenCount: 200,
      responseTokenCount: 60,
      responseTokensDetails: [{ modality: "AUDIO", tokenCount: 60 }],
      promptTokensDetails: [
        { modality: "TEXT", tokenCount: 100 },
        { modality: "AUDIO", tokenCount: 400 },
      ],
      cacheTokensDetails: [{ modality: "AUDIO", tokenCount: 900 }],
    };
    harness.sockets.play({
      heard: (host, event) => {
        if (event["setup"] !== undefined) host.say(live.ready());
        if (event["clientContent"] !== undefined) host.say(live.audio(1), live.done(usage));
      },
    });
    const client = await harness.openLive(LIVE_PATH);
    client.say(live.setup(id));
    await harness.clock.pass(100);
    client.say(live.say("Hello"));
    await harness.clock.pass(1_000);
    const [receipt] = await harness.receipts();
    const cost = 100 * nano(id, "prompt") + 200 * nano(id, "audio") + 200 * 500 + 60 * nano(id, "audio_output");
    expect(receipt).toMatchObject({
      usage: { input: 100, audio_input: 200, cache_read: 200, audio_output: 60 },
      cost_nano_usd: cost,
    });
  });

  test("models that only write down live speech have no endpoint for recordings", async () => {
    const harness = await startHarness(liveHost());
    const form = new FormData();
    form.set("model", "openai/gpt-realtime-whisper");
    form.set("file", new File([new Uint8Array(100)], "a.wav", { type: "audio/wav" }));
    const answer = await harness.sendForm("/v1/audio/transcriptions", form).answer;
    expect(answer.status).toBe(400);
  });
});
