import { Database } from "bun:sqlite";
import { join } from "node:path";
import { startSimulator } from "../../simulator/simulator.ts";
import { plainPng } from "../../src/media/images.sample.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { type ScriptedUpstream, sendJson, startEvents, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";
import type { Cheat, CheatGroup, Outcome } from "./cheat.ts";
import { keyOf } from "./purses.ts";
import { visit } from "./rude-client.ts";

const IMAGE_NANO_USD = 40_000_000;
const { base64 } = plainPng(32, 32);
const event = (type: string, fields: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, b64_json: base64, output_format: "png", ...fields })}\n\n`;
const MADE_MS = 250;

/** H26, decision 0019: images and videos are billed as made, and made as requested. */
export async function openMedia(): Promise<CheatGroup> {
  const upstream = await startScriptedUpstream();
  const simulator = await startSimulator({ tokenDelayMs: 0, mediaJobMs: 60 });
  const gateway = await startTestGateway({
    config: {
      server: { drain_seconds: 1 },
      providers: {
        host: { kind: "openai", base_url: `${upstream.url}/v1`, api_key: "upstream-secret" },
        gemini: { kind: "gemini", base_url: `${simulator.url}/gemini`, api_key: "upstream-secret" },
      },
      models: [
        {
          id: "own/image",
          input_modalities: ["text", "image"],
          output_modalities: ["image"],
          pricings: { image: [{ value: 0.04, unit: "perCount", currency: "USD" }] },
          offers: [{ provider: "host", model: "gpt-image-1" }],
        },
      ],
      keys: [
        { name: "tests", key: TEST_KEY },
        { name: "stranger", key: keyOf("Stranger"), project: "elsewhere" },
      ],
    },
    timings: { mediaPollFactor: 0.02, commitDeadlineMs: 50, keepAliveMs: 40 },
  });
  return {
    cheats: [
      ...disconnects(upstream, gateway),
      ...videos(gateway, simulator),
      ...files(gateway),
      ...fullStores(simulator),
    ],
    close: async () => {
      await gateway.stop();
      await simulator.stop();
      await upstream.stop();
    },
  };
}

function spent({ folder }: TestGateway): number {
  const database = new Database(join(folder, "data", "trivium.db"), { readonly: true });
  const { cost } = database.query("SELECT coalesce(sum(cost_nano_usd), 0) AS cost FROM receipts").get() as {
    cost: number;
  };
  database.close();
  return cost;
}

/** A host that makes images whether or not a client waits for them, and charges for each. */
function disconnects(upstream: ScriptedUpstream, gateway: TestGateway): Cheat[] {
  const user = [{ role: "user", content: "a fox" }];
  const model = "own/image";
  const ways: Record<string, [string, Record<string, unknown>]> = {
    "images/generations": ["/api/v1/images/generations", { model, prompt: "a fox" }],
    "images/generations, streamed": [
      "/api/v1/images/generations",
      { model, prompt: "a fox", stream: true, partial_images: 3 },
    ],
    ":predict": [
      "/api/genai/v1/publishers/own/models/image:predict",
      { instances: [{ prompt: "a fox" }], parameters: { sampleCount: 1 } },
    ],
    chat: ["/api/v1/chat/completions", { model, messages: user }],
    "chat, streamed": ["/api/v1/chat/completions", { model, messages: user, stream: true }],
    messages: ["/api/msg/v1/messages", { model, max_tokens: 10, messages: user }],
    generateContent: [
      "/api/genai/v1/publishers/own/models/image:generateContent",
      { contents: [{ role: "user", parts: [{ text: "a fox" }] }] },
    ],
  };
  const moments: Record<string, (text: string, ms: number) => boolean> = {
    "while it is made": (_, ms) => ms > 60,
    "at the third partial image": (text) => (text.match(/partial_image_index/g)?.length ?? 0) > 2,
  };
  return Object.entries(ways).flatMap(([way, [path, body]]) =>
    Object.entries(moments).flatMap(([moment, disconnectWhen]): Cheat[] => {
      if (moment.includes("partial") && !way.startsWith("images/generations, s")) return [];
      return [
        {
          id: "H26",
          tries: `disconnects from ${way} ${moment}`,
          run: async (): Promise<Outcome> => {
            let made = 0;
            upstream.play(async (request, response) => {
              made++;
              if (/"stream":true/.test(request.body)) {
                startEvents(response);
                for (let index = 0; index < 3; index++) {
                  response.write(event("image_generation.partial_image", { partial_image_index: index }));
                  await Bun.sleep(20);
                }
                await Bun.sleep(MADE_MS);
                response.end(event("image_generation.completed"));
              } else {
                await Bun.sleep(MADE_MS);
                sendJson(response, { created: 1, data: [{ b64_json: base64 }], output_format: "png" });
              }
            });
            const before = spent(gateway);
            const init = {
              method: "POST",
              headers: {
                authorization: `Bearer ${TEST_KEY}`,
                "content-type": "application/json",
                "partner-version": "2023-06-01",
              },
              body: JSON.stringify(body),
            };
            const { text } = await visit([gateway.url + path, init], disconnectWhen, "resets");
            const deadline = Date.now() + 5_000;
            while ((gateway.app.active() > 0 || spent(gateway) === before) && Date.now() < deadline)
              await Bun.sleep(20);
            return { got: `${text.length} bytes`, upstream: made * IMAGE_NANO_USD, ledger: spent(gateway) - before };
          },
        },
      ];
    }),
  );
}

const VEO = "/api/genai/v1/publishers/google/models/veo-3.1-generate-001";

function videos(gateway: TestGateway, simulator: { url: string }): Cheat[] {
  const parameters: Record<string, unknown>[] = [
    { durationSeconds: 60 },
    { durationSeconds: -8 },
    { durationSeconds: 8.5 },
    { durationSeconds: "8" },
    { aspectRatio: "1:1" },
    { aspectRatio: "7:5" },
    { resolution: "4320p" },
    { sampleCount: 1000 },
    { sampleCount: 0 },
    { fps: 1_000_000 },
  ];
  return parameters.map((asked) => ({
    id: "decision 0019",
    tries: `a video with ${JSON.stringify(asked)}`,
    run: async () => {
      const response = await fetch(`${gateway.url}${VEO}:predictLongRunning`, {
        method: "POST",
        headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" },
        body: JSON.stringify({ instances: [{ prompt: `a fox ${simulator.url}` }], parameters: asked }),
      });
      const text = await response.text();
      const got = `${response.status} ${(/"message":\s*"([^"]{0,70})/.exec(text)?.[1] ?? "").trim()}`;
      return response.ok ? { got, broken: "something else than was asked for is made and paid" } : { got };
    },
  }));
}

/** Signed URLs, and other projects' operations and files. */
function files(gateway: TestGateway): Cheat[] {
  const key = { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" };
  const made = Promise.withResolvers<{ name: string; uri: string }>();
  const poll = (name: string, headers: Record<string, string>) =>
    fetch(`${gateway.url}${VEO}:fetchPredictOperation`, {
      method: "POST",
      headers,
      body: JSON.stringify({ operationName: name }),
    });
  const first: Cheat = {
    id: "decision 0019",
    tries: "an honest video, which the following are after",
    run: async () => {
      const submitted = await fetch(`${gateway.url}${VEO}:predictLongRunning`, {
        method: "POST",
        headers: key,
        body: JSON.stringify({
          instances: [{ prompt: "a fox" }],
          parameters: { durationSeconds: 8, resolution: "720p" },
        }),
      });
      const { name = "" } = (await submitted.json()) as { name?: string };
      const deadline = Date.now() + 20_000;
      for (;;) {
        const state = (await (await poll(name, key)).json()) as {
          done?: boolean;
          response?: { videos: { gcsUri?: string }[] };
        };
        const uri = state.response?.videos[0]?.gcsUri;
        if (uri !== undefined) {
          made.resolve({ name, uri });
          return { got: "200, a video", ledger: spent(gateway), upstream: 1 };
        }
        if (state.done || Date.now() > deadline) {
          made.reject(new Error("no video was made"));
          return { got: JSON.stringify(state).slice(0, 80), broken: "no video was made" };
        }
        await Bun.sleep(50);
      }
    },
  };
  const fetches: Record<string, (uri: URL) => [string, RequestInit]> = {
    "without a signature": (uri) => [`${uri.origin}${uri.pathname}`, {}],
    "with a later end": (uri) => [String(changed(uri, "expires", "9999999999999")), {}],
    "with another signature": (uri) => [String(changed(uri, "signature", "A".repeat(43))), {}],
    "with an empty signature": (uri) => [String(changed(uri, "signature", "")), {}],
    "with another project's key": (uri) => [
      `${uri.origin}${uri.pathname}`,
      { headers: { authorization: `Bearer ${keyOf("Stranger")}` } },
    ],
    "by a path that climbs": (uri) => [`${uri.origin}/files/..%2f..%2ftrivium.db${uri.search}`, {}],
    "by HEAD, without a signature": (uri) => [`${uri.origin}${uri.pathname}`, { method: "HEAD" }],
  };
  return [
    first,
    ...Object.entries(fetches).map(([how, request]) => ({
      id: "S09",
      tries: `fetches somebody's video ${how}`,
      run: async () => {
        const { uri } = await made.promise;
        const response = await fetch(...request(new URL(uri)));
        const { length } = await response.bytes();
        const got = `${response.status}, ${length} bytes`;
        return response.ok ? { got, broken: "the file was given out" } : { got };
      },
    })),
    {
      id: "S09",
      tries: "polls somebody's video with another project's key",
      run: async () => {
        const { name } = await made.promise;
        const response = await poll(name, { ...key, authorization: `Bearer ${keyOf("Stranger")}` });
        const got = String(response.status);
        return response.ok ? { got, broken: "the operation was shown" } : { got };
      },
    },
  ];
}

const VIDEO_NANO_USD = 3_200_000_000;
/** Enough for the one video that is expected to need 8 MB, but not for a second one. */
const ONE_VIDEO_MB = 8.1;

/** Videos requested when there is no space for them: refused before the provider is called, or billed. */
function fullStores(simulator: { url: string }): Cheat[] {
  const cheat = (tries: string, totalMb: number, askers: readonly string[], expected: readonly number[]): Cheat => ({
    id: "decision 0019",
    tries,
    run: async () => {
      const gateway = await startTestGateway({
        config: {
          providers: { gemini: { kind: "gemini", base_url: `${simulator.url}/gemini`, api_key: "upstream-secret" } },
          retention: { max_total_mb: totalMb, max_project_mb: ONE_VIDEO_MB },
          keys: [
            { name: "tests", key: TEST_KEY },
            { name: "stranger", key: keyOf("Stranger"), project: "elsewhere" },
          ],
        },
        timings: { mediaPollFactor: 0.02 },
      });
      try {
        const statuses: number[] = [];
        let upstream = 0;
        for (const key of askers) {
          const response = await fetch(`${gateway.url}${VEO}:predictLongRunning`, {
            method: "POST",
            headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
            body: JSON.stringify({
              instances: [{ prompt: `a fox ${statuses.length}` }],
              parameters: { durationSeconds: 8, resolution: "720p" },
            }),
          });
          await response.text();
          statuses.push(response.status);
          if (response.ok) upstream += VIDEO_NANO_USD;
          const deadline = Date.now() + 20_000;
          while (spent(gateway) < upstream && Date.now() < deadline) await Bun.sleep(50);
        }
        const outcome = { got: statuses.join(", "), upstream, ledger: spent(gateway) };
        return outcome.got === expected.join(", ") ? outcome : { ...outcome, broken: `not ${expected.join(", ")}` };
      } finally {
        await gateway.stop();
      }
    },
  });
  const stranger = keyOf("Stranger");
  return [
    cheat(
      "two videos one after the other, where there is space for one",
      ONE_VIDEO_MB,
      [TEST_KEY, TEST_KEY],
      [200, 503],
    ),
    cheat(
      "one project uses up its share of the space for files, then another asks for a video",
      3 * ONE_VIDEO_MB,
      [TEST_KEY, TEST_KEY, stranger],
      [200, 503, 200],
    ),
  ];
}

function changed(uri: URL, name: string, value: string): URL {
  const other = new URL(uri);
  other.searchParams.set(name, value);
  return other;
}
