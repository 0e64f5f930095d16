import { afterAll, afterEach, beforeAll, beforeEach, expect } from "bun:test";
import { Harness, UPSTREAM_URL } from "../../../testing/harness.ts";
import type { Script } from "../../../testing/memory-network.ts";
import { TEST_KEY } from "../../../testing/test-key.ts";

/** A key whose calls are refused where any field would be dropped (H09). */
export const STRICT_KEY = `sk-trv-${"StrictService".padEnd(43, "x")}`;
/** One with money for some hundred tokens. */
export const POOR_KEY = `sk-trv-${"PoorService".padEnd(43, "x")}`;

/** What a million tokens cost here, and one of them in nano-dollars. */
const USD_PER_MILLION = 2;
export const NANO_USD_PER_TOKEN = USD_PER_MILLION * 1000;

/** An offer is `provider model`. */
const model = (id: string, output: string, ...offers: string[]) => ({
  id,
  output_modalities: [output],
  pricings: { prompt: [{ value: USD_PER_MILLION, unit: "perMTokens", currency: "USD" }] },
  offers: offers.map((words) => {
    const [provider, name] = words.split(" ");
    return { provider, model: name };
  }),
});

const CONFIG = {
  providers: Object.fromEntries(
    [
      ["one", "openai", "/one/v1"],
      ["two", "openai", "/two/v1"],
      ["many", "openai-compatible", "/many/v1"],
    ].map(([name, kind, path]) => [name, { kind, base_url: UPSTREAM_URL + path, api_key: "upstream-secret" }]),
  ),
  models: [
    model("test/vectors", "embeddings", "one text-embedding-3-small"),
    model("test/two", "embeddings", "one text-embedding-3-small", "two text-embedding-3-small"),
    // 256 inputs in each request.
    model("test/many", "embeddings", "many m"),
    model("test/many-or-one", "embeddings", "many m", "one text-embedding-3-small"),
    model("test/fixed", "embeddings", "one text-embedding-ada-002"),
    model("test/ranks", "rerank", "many r"),
    { ...model("test/judge", "moderation", "one omni-moderation-latest"), pricings: {} },
    model("test/writer", "text", "one gpt-5"),
  ],
  keys: [
    { name: "tests", key: TEST_KEY },
    { name: "strict", key: STRICT_KEY, strict: true },
    { name: "poor", key: POOR_KEY, limits: { budget_usd_total: 0.0002 } },
  ],
};

const NOTHING_LEFT = { runningCalls: 0, orphanedTexts: 0, orphanedImages: 0, heldBytes: 0, openUpstreams: 0 };

/** A gateway in memory whose models are no writers, for the tests of one file. */
export class ServiceGateway {
  #harness: Harness | undefined;
  /** What the gateway has logged, line by line. */
  readonly log: string[] = [];

  /** Called at the start of a test file. */
  static forTests(): ServiceGateway {
    const services = new ServiceGateway();
    beforeAll(async () => {
      services.#harness = await Harness.start({ config: CONFIG, onLog: (line) => void services.log.push(line) });
    });
    // Waits until no offer rests any longer because of earlier calls.
    beforeEach(() => services.harness.clock.pass(3_700_000));
    // Every call releases what it held, however it ended.
    afterEach(async () => {
      await services.harness.clock.pass(60_000);
      expect(services.harness.leftovers()).toEqual(NOTHING_LEFT);
      expect(services.harness.upstream.mistakes).toEqual([]);
    });
    afterAll(() => services.harness.storage.close());
    return services;
  }

  get harness(): Harness {
    if (!this.#harness) throw new Error("the tests have not begun");
    return this.#harness;
  }

  /** One script for each request; the last one for all that follow. */
  play(...scripts: Script[]): void {
    this.harness.upstream.play(...scripts);
  }

  embed(body: object = {}, { key = TEST_KEY, headers = {} } = {}) {
    return this.harness.sendPost("/v1/embeddings", { model: "test/vectors", input: "hello", ...body }, key, headers);
  }

  /** The same, and its answer. */
  async embedded(body: object = {}, options: { key?: string; headers?: Record<string, string> } = {}) {
    const answer = await this.harness.clock.until(this.embed(body, options).answer);
    return { ...answer, body: JSON.parse(answer.text) as EmbeddingsBody };
  }

  /** The requests that the host has seen so far, as JSON. */
  get sent(): Record<string, unknown>[] {
    return this.harness.upstream.requests.map(({ body }) => JSON.parse(body || "{}") as Record<string, unknown>);
  }

  /** A host whose vectors say how long their inputs are, and that counts so many tokens for each. */
  embeds(ms = 0, tokensEach = 3): Script {
    return async (reply, { body }) => {
      await this.harness.clock.sleep(ms);
      const { input } = JSON.parse(body) as { input: string[] };
      const data = input.map((text, index) => ({ index, embedding: [text.length, 0.5] }));
      const tokens = tokensEach * input.length;
      reply.head(200);
      // Hosts need not keep the order.
      void reply.write(
        JSON.stringify({ data: data.reverse(), usage: { prompt_tokens: tokens, total_tokens: tokens } }),
      );
      reply.end();
    };
  }

  refuses(status: number, error: object = { message: "no", type: "server_error" }): Script {
    return this.harness.upstream.json({ error }, status);
  }
}

interface EmbeddingsBody {
  object?: string;
  model?: string;
  data?: { object: string; index: number; embedding: number[] | string }[];
  usage?: { prompt_tokens: number; total_tokens: number };
  error?: { message: string; param?: string | null; code?: string | null };
}
