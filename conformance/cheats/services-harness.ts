import { scriptedModels } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";
import { type Purse, Purses, purseKeys } from "./purses.ts";
import { SERVICE_PRICES, ServiceHost, type ServicePerformance } from "./service-host.ts";

const usd = (nanoUsd: number, unit: string, per: number) => [{ value: (nanoUsd * per) / 1e9, unit, currency: "USD" }];
const PROMPT = usd(SERVICE_PRICES.promptToken, "perMTokens", 1e6);
const COMPLETION = usd(SERVICE_PRICES.outputToken, "perMTokens", 1e6);

/** The kind of service, by its model name. */
const MODELS = [
  ["test/vectors", "embeddings", "text-embedding-3-small", { prompt: PROMPT }],
  ["test/voice", "audio", "tts-1", { characters: usd(SERVICE_PRICES.character, "perMCharacters", 1e6) }],
  [
    "test/token-voice",
    "audio",
    "gpt-4o-mini-tts",
    { prompt: PROMPT, audio_output: usd(SERVICE_PRICES.soundToken, "perMTokens", 1e6) },
  ],
  ["test/ear", "transcription", "whisper-1", { audio: usd(SERVICE_PRICES.second, "perSecond", 1) }],
  [
    "test/token-ear",
    "transcription",
    "gpt-4o-transcribe",
    { audio: usd(SERVICE_PRICES.soundToken, "perMTokens", 1e6), completion: COMPLETION },
  ],
  ["test/moderator", "moderation", "omni-moderation-latest", { prompt: PROMPT }],
  ["test/writer", "text", "gpt-3.5-turbo-instruct", { prompt: PROMPT, completion: COMPLETION }],
] as const;

/** A gateway whose models embed, rank, speak, transcribe, moderate and complete, at a host that keeps accounts. */
export class ServicesHarness {
  readonly host: ServiceHost;
  readonly gateway: TestGateway;
  readonly purses: Purses;

  private constructor(host: ServiceHost, gateway: TestGateway) {
    this.host = host;
    this.gateway = gateway;
    this.purses = new Purses(host, gateway);
  }

  static async open(limits?: object): Promise<ServicesHarness> {
    const host = await ServiceHost.start();
    const { providers } = scriptedModels(host.upstream.url, { first_byte: 30_000, idle: 30_000 });
    const gateway = await startTestGateway({
      config: {
        server: { drain_seconds: 0.5 },
        providers: {
          ...(providers as object),
          "up-many": { kind: "openai-compatible", base_url: `${host.upstream.url}/v1`, api_key: "upstream-secret" },
          "up-ranks": { kind: "cohere", base_url: host.upstream.url, api_key: "upstream-secret" },
        },
        models: [
          ...MODELS.map(([id, output, model, pricings]) => ({
            id,
            output_modalities: [output],
            pricings,
            offers: [{ provider: "up-chat", model }],
          })),
          {
            id: "test/many-vectors",
            output_modalities: ["embeddings"],
            pricings: { prompt: PROMPT },
            offers: [{ provider: "up-many", model: "m" }],
          },
          {
            id: "test/ranker",
            output_modalities: ["rerank"],
            pricings: { search_unit: usd(SERVICE_PRICES.search, "perCount", 1) },
            offers: [{ provider: "up-ranks", model: "rerank-v3.5" }],
          },
        ],
        keys: [{ name: "tests", key: TEST_KEY }, ...purseKeys(limits)],
      },
      timings: { readOnMs: 500 },
    });
    return new ServicesHarness(host, gateway);
  }

  purse(performance: ServicePerformance): Purse {
    const purse = this.purses.next();
    this.host.rehearse(purse.name, performance);
    return purse;
  }

  post({ key }: Purse, path: string, body: object | string): [string, RequestInit] {
    return [
      this.gateway.url + path,
      {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: typeof body === "string" ? body : JSON.stringify(body),
      },
    ];
  }

  /** A form with one file, written by hand: it may contain what no client would send. */
  form(
    { key }: Purse,
    path: string,
    fields: readonly (readonly [string, string])[],
    file: string,
  ): [string, RequestInit] {
    const boundary = "a-boundary-of-forms";
    const parts = fields.map(
      ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    );
    const sound = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\ncontent-type: audio/wav\r\n\r\n${file}\r\n`;
    return [
      this.gateway.url + path,
      {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": `multipart/form-data; boundary=${boundary}` },
        body: `${parts.join("")}${sound}--${boundary}--\r\n`,
      },
    ];
  }

  async close(): Promise<void> {
    await this.gateway.stop();
    await this.host.stop();
  }
}
