import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { objectAt } from "../../src/base/json.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { live, liveHost, realtime, realtimeHost } from "../../testing/live/live-hosts.ts";
import type { HostScript } from "../../testing/live/memory-sockets.ts";

const LIVE_PATH = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent";

/** A session of each client at one model of one provider. */
async function startHarness(provider: object, model: string, script: HostScript): Promise<Harness> {
  const pricings = { prompt: [{ value: 1, unit: "perMTokens", currency: "USD" }] };
  const spoken = { input_modalities: ["text", "audio"], output_modalities: ["text", "audio"], pricings };
  const harness = await Harness.start({
    config: {
      providers: { host: provider },
      models: [{ id: "acme/voice", ...spoken, offers: [{ provider: "host", model }] }],
    },
  });
  harness.sockets.play(script);
  return harness;
}

async function openRealtime(harness: Harness) {
  const client = await harness.openLive("/v1/realtime?model=acme/voice");
  await client.hears("session.created");
  return { client, host: harness.sockets.host };
}

async function openLive(harness: Harness) {
  const client = await harness.openLive(LIVE_PATH);
  client.say(live.setup("acme/voice"));
  await harness.clock.pass(100);
  return { client, host: harness.sockets.host };
}

describe("decision 0116: Azure OpenAI", () => {
  const azure = (settings: object) => ({ kind: "azure-openai", api_key: "key-of-the-resource", ...settings });

  test("Realtime is at the generally available address, with the deployment as the model and the key in its own header", async () => {
    const forms = [
      { base_url: UPSTREAM_URL },
      { base_url: `${UPSTREAM_URL}/openai/v1` },
      { base_url: UPSTREAM_URL, api_version: "2025-04-01-preview" },
    ];
    for (const form of forms) {
      const harness = await startHarness(azure(form), "voice & more", realtimeHost());
      const { client, host } = await openRealtime(harness);
      expect({ form, url: host.request.url }).toEqual({
        form,
        url: `${UPSTREAM_URL}/openai/v1/realtime?model=voice+%26+more`,
      });
      expect(host.request.headers).toEqual({ "api-key": "key-of-the-resource" });
      expect(host.frames).toEqual([]);
      client.leave();
      await harness.clock.pass(10_000);
    }
  });

  test("the first message names the deployment, not the model of the gateway", async () => {
    const harness = await startHarness(azure({ base_url: UPSTREAM_URL }), "my-deployment", realtimeHost());
    const { client, host } = await openRealtime(harness);
    client.say({
      type: "session.update",
      session: { type: "realtime", model: "acme/voice", instructions: "Be brief." },
    });
    expect(host.events).toEqual([
      { type: "session.update", session: { type: "realtime", model: "my-deployment", instructions: "Be brief." } },
    ]);
    expect(objectAt(client.events[0], "session")?.["model"]).toBe("acme/voice");
  });

  test("a Live client's setup becomes the first message", async () => {
    const harness = await startHarness(azure({ base_url: UPSTREAM_URL }), "my-deployment", {
      ...realtimeHost(),
      heard: (host, event) => {
        if (event["type"] !== "session.update") return;
        host.say({ ...realtime.created(), type: "session.updated" });
      },
    });
    const { client, host } = await openLive(harness);
    expect(host.request.url).toBe(`${UPSTREAM_URL}/openai/v1/realtime?model=my-deployment`);
    expect(host.events.map(({ type }) => type)).toEqual(["session.update"]);
    expect(client.events[0]).toHaveProperty("setupComplete");
  });
});

describe("decision 0116: Vertex AI", () => {
  const folder = mkdtempSync(join(tmpdir(), "trivium-live-"));
  const credentials = join(folder, "account.json");
  const tokens = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => Response.json({ access_token: "token-of-the-account", expires_in: 3600 }),
  });

  beforeAll(() => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const account = {
      client_email: "robot@project.example",
      private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
      token_uri: `http://127.0.0.1:${tokens.port}/token`,
    };
    writeFileSync(credentials, JSON.stringify(account));
  });
  afterAll(async () => {
    await tokens.stop(true);
    rmSync(folder, { recursive: true, force: true });
  });

  /** The token service is outside the harness, where no time passes. */
  async function signIn({ gateway }: Harness): Promise<void> {
    const { catalogue, targets } = gateway.snapshot;
    const { model, offers } = catalogue.resolve("acme/voice");
    for (const { provider } of targets.live(model, offers)) await provider.liveEndpoint("live", "any");
  }

  const PATH = "/ws/google.cloud.aiplatform.v1.LlmBidiService/BidiGenerateContent";
  const SETUP = { responseModalities: ["AUDIO"] };

  test("with a service account: the host of the location, an access token, and the model's whole name in the setup", async () => {
    const hosts = {
      "us-central1": "https://us-central1-aiplatform.googleapis.com",
      global: "https://aiplatform.googleapis.com",
      eu: "https://aiplatform.eu.rep.googleapis.com",
    };
    for (const [location, url] of Object.entries(hosts)) {
      const provider = { kind: "vertex", project: "my-project", location, credentials };
      const harness = await startHarness(provider, "gemini-live-2.5-flash-native-audio", liveHost());
      await signIn(harness);
      const { client, host } = await openLive(harness);
      expect(host.request.url).toBe(`${url}${PATH}`);
      expect(host.request.headers).toEqual({ authorization: "Bearer token-of-the-account" });
      const model = `projects/my-project/locations/${location}/publishers/google/models/gemini-live-2.5-flash-native-audio`;
      expect(host.events).toEqual([{ setup: { model, generationConfig: SETUP } }]);
      expect(client.events[0]).toHaveProperty("setupComplete");
      client.leave();
      await harness.clock.pass(10_000);
    }
  });

  test("with an API key: the express form of the name, and the key in its header, never in the URL", async () => {
    const harness = await startHarness({ kind: "vertex", api_key: "express-key" }, "gemini-live", liveHost());
    const { host } = await openLive(harness);
    expect(host.request.url).toBe(`https://aiplatform.googleapis.com${PATH}`);
    expect(host.request.headers).toEqual({ "x-goog-api-key": "express-key" });
    expect(host.events).toEqual([
      { setup: { model: "publishers/google/models/gemini-live", generationConfig: SETUP } },
    ]);
  });

  test("a Realtime client's settings become the setup, under the same name", async () => {
    const provider = { kind: "vertex", project: "my-project", location: "global", credentials };
    const harness = await startHarness(provider, "gemini-live", liveHost());
    await signIn(harness);
    const { client, host } = await openRealtime(harness);
    client.say({ type: "session.update", session: { type: "realtime", instructions: "Be brief." } });
    client.say(realtime.speech(0.1));
    await harness.clock.pass(100);
    const [first] = host.events;
    expect(objectAt(first, "setup")).toMatchObject({
      model: "projects/my-project/locations/global/publishers/google/models/gemini-live",
      systemInstruction: { parts: [{ text: "Be brief." }] },
    });
  });
});

describe("decision 0116: the vendors' own hosts", () => {
  test("OpenAI: the model in the query, the key as a bearer token, and the account's organization and project", async () => {
    const provider = { kind: "openai", api_key: "sk-vendor", organization: "org-1", project: "proj-1" };
    const harness = await startHarness(provider, "gpt-realtime-2.1", realtimeHost());
    const { host } = await openRealtime(harness);
    expect(host.request.url).toBe("https://api.openai.com/v1/realtime?model=gpt-realtime-2.1");
    expect(host.request.headers).toEqual({
      authorization: "Bearer sk-vendor",
      "openai-organization": "org-1",
      "openai-project": "proj-1",
    });
  });

  test("Gemini: the key in its header, and the model's short name in the setup", async () => {
    const harness = await startHarness({ kind: "gemini", api_key: "vendor-key" }, "gemini-3.8-live", liveHost());
    const { host } = await openLive(harness);
    expect(host.request.url).toBe(`https://generativelanguage.googleapis.com${LIVE_PATH}`);
    expect(host.request.headers).toEqual({ "x-goog-api-key": "vendor-key" });
    expect(host.events).toEqual([
      { setup: { model: "models/gemini-3.8-live", generationConfig: { responseModalities: ["AUDIO"] } } },
    ]);
  });
});
