import { afterAll, afterEach, beforeAll, beforeEach, expect } from "bun:test";
import { Harness, type HarnessOptions, UPSTREAM_URL } from "../../../testing/harness.ts";
import type { Reply } from "../../../testing/memory-exchange.ts";
import type { Script, SentRequest } from "../../../testing/memory-network.ts";
import type { ReadAnswer, SentCall } from "../../../testing/sent-call.ts";
import { TEST_KEY } from "../../../testing/test-key.ts";
import { plainPng } from "../../media/images.sample.ts";

/** What one image costs in most models here. */
export const PRICE_NANO_USD = 40_000_000;
export const PNG = plainPng(8, 8).base64;
export const PROMPT = "a red fox in the snow";
/** A key whose calls are refused where any field would be dropped (H09). */
export const STRICT_KEY = `sk-trv-${"StrictImages".padEnd(43, "x")}`;
/** One with money for a single image. */
export const POOR_KEY = `sk-trv-${"PoorImages".padEnd(43, "x")}`;
/** The secret of every provider here. */
export const SECRET = "upstream-secret-of-images";
export const FLUX_URL = `${UPSTREAM_URL}/flux/v1`;

const perImage = (value: number) => ({ image: [{ value, unit: "perCount", currency: "USD" }] });

/** An offer is `provider model`. */
const model = (id: string, ...offers: string[]) => ({
  id,
  input_modalities: ["text", "image"],
  output_modalities: ["image"],
  pricings: perImage(0.04),
  offers: offers.map((words) => {
    const [provider, name] = words.split(" ");
    return { provider, model: name };
  }),
});

const TOKEN_PRICES = {
  prompt: [{ value: 5, unit: "perMTokens", currency: "USD" }],
  image: [{ value: 40, unit: "perMTokens", currency: "USD" }],
};
const SIZE_PRICES = {
  image: [
    { value: 0.04, unit: "perCount", currency: "USD" },
    { value: 0.08, unit: "perCount", currency: "USD", resolution: "2K" },
  ],
};

/** One provider for each way in which hosts make images. */
const CONFIG = {
  providers: Object.fromEntries(
    [
      ["one", "openai", "/one/v1"],
      ["two", "openai", "/two/v1"],
      ["flux", "black-forest-labs", "/flux/v1"],
      ["links", "z-ai", "/links/v4"],
      ["batches", "volcengine", "/batches/v3"],
      ["many", "minimax", "/many/v1"],
    ].map(([name, kind, path]) => [name, { kind, base_url: UPSTREAM_URL + path, api_key: SECRET }]),
  ),
  models: [
    model("test/painter", "one gpt-image-1"),
    model("test/two", "one gpt-image-1", "two gpt-image-1"),
    // One image of each call to the host.
    model("test/one-by-one", "one dall-e-3"),
    model("test/seeded", "batches doubao-seedream-3-0-t2i-250415"),
    { ...model("test/tokens", "one gpt-image-1"), pricings: TOKEN_PRICES },
    { ...model("test/sizes", "one gpt-image-2"), pricings: SIZE_PRICES },
    // Jobs that are polled, and results at a URL.
    model("test/flux", "flux flux-2-pro"),
    model("test/fill", "flux flux-pro-1.0-fill"),
    model("test/flux-or-two", "flux flux-2-pro", "two gpt-image-1"),
    model("test/linked", "links glm-image"),
    // A stream of finished images.
    model("test/batch", "batches doubao-seedream-4-0-250828"),
    // Some of several are held back; only JPEG.
    model("test/several", "many image-01"),
    {
      ...model("test/completion", "one gpt-image-1"),
      pricings: { completion: [{ value: 30, unit: "perMTokens", currency: "USD" }] },
    },
    { ...model("test/unpriced", "one gpt-image-1"), pricings: {} },
  ],
  keys: [
    { name: "tests", key: TEST_KEY, limits: { concurrent: 500 } },
    { name: "strict", key: STRICT_KEY, strict: true },
    { name: "poor", key: POOR_KEY, limits: { budget_usd_total: 0.07 } },
  ],
};

/** A row of the ledger, as far as images are concerned. */
export interface ImageRow {
  outcome: string;
  usage_source: string;
  usage_images: number | null;
  usage_image_output: number | null;
  cost_nano_usd: number;
  stream: number;
  provider: string;
  first_content_ms: number | null;
}

/** After this long no script of a host sleeps, and the watchdog has seen that nothing waits. */
const REST_MS = 60_000;
const NOTHING_LEFT = { runningCalls: 0, orphanedTexts: 0, orphanedImages: 0, heldBytes: 0, openUpstreams: 0 };

/** A gateway in memory with models that make images, for the tests of one file. */
export class ImageGateway {
  #harness: Harness | undefined;
  readonly #seenRows = new Set<unknown>();
  readonly #lines: string[] = [];
  #timersAtRest = 0;

  /** Called at the start of a test file. */
  static forTests(options: HarnessOptions = {}): ImageGateway {
    const images = new ImageGateway();
    beforeAll(async () => {
      images.#harness = await Harness.start({
        onLog: (line) => void images.#lines.push(...line.split("\n")),
        ...options,
        config: { ...CONFIG, ...options.config },
      });
      await images.pass(REST_MS);
      images.#timersAtRest = images.harness.clock.timers;
    });
    // Waits until no offer rests any longer because of earlier calls.
    beforeEach(() => images.harness.clock.pass(3_700_000));
    // Every call releases what it held, however it ended.
    afterEach(async () => {
      await images.pass(REST_MS);
      expect(images.harness.clock.timers).toBeLessThanOrEqual(images.#timersAtRest);
      expect(images.harness.leftovers()).toEqual(NOTHING_LEFT);
      expect(images.harness.upstream.mistakes).toEqual([]);
      await images.rows();
    });
    afterAll(() => images.harness.storage.close());
    return images;
  }

  get harness(): Harness {
    if (!this.#harness) throw new Error("the tests have not begun");
    return this.#harness;
  }

  /** One script for each request; the last one for all that follow. */
  play(...scripts: Script[]): void {
    this.harness.upstream.play(...scripts);
  }

  generate(body: object = {}, { key = TEST_KEY, headers = {} } = {}): SentCall {
    const asked = { model: "test/painter", prompt: PROMPT, ...body };
    return this.harness.sendPost("/api/v1/images/generations", asked, key, headers);
  }

  /** The same, and its answer. */
  async generated(body: object = {}, options: { key?: string; headers?: Record<string, string> } = {}) {
    return readImages(await this.harness.clock.until(this.generate(body, options).answer));
  }

  async predicted(modelName: string, parameters: object = {}, instance: object = {}) {
    const path = `/api/genai/v1/publishers/test/models/${modelName}:predict`;
    const answer = await this.harness.post(path, { instances: [{ prompt: PROMPT, ...instance }], parameters });
    const { predictions, error } = JSON.parse(answer.text) as { predictions?: Prediction[]; error?: ErrorShown };
    return { ...answer, predictions, error };
  }

  /** The requests that the host has seen so far, as JSON. */
  get sent(): Record<string, unknown>[] {
    return this.harness.upstream.requests.map(({ body }) => JSON.parse(body || "{}") as Record<string, unknown>);
  }

  /** The rows since this was last asked. */
  async rows(): Promise<ImageRow[]> {
    const rows = await this.harness.storage.query("SELECT * FROM receipts ORDER BY id");
    const fresh = rows.filter((row) => !this.#seenRows.has(row["id"]));
    for (const row of fresh) this.#seenRows.add(row["id"]);
    return fresh as unknown as ImageRow[];
  }

  /** Another file of the project, which takes space until the store is emptied. */
  async fillStore(megabytes: number): Promise<void> {
    const expires = this.harness.clock.wallMs() + 3_600_000;
    await this.harness.storage.query(
      "INSERT INTO files (id, project, owner_id, mime_type, size, created_at_ms, expires_at_ms) VALUES ('filler', 'default', 'x', 'image/png', ?, 0, ?)",
      [megabytes * 1024 * 1024, expires],
    );
  }

  async emptyStore(): Promise<void> {
    await this.harness.storage.query("DELETE FROM files");
  }

  /** The lines of the log with this text, since this was last asked. */
  async logged(text: string): Promise<string[]> {
    await this.harness.gateway.log.flush();
    return this.#lines.splice(0).filter((line) => line.includes(text));
  }

  /** Lets time pass. */
  pass(ms: number): Promise<void> {
    return this.harness.clock.pass(ms);
  }

  /** A host that makes what it was requested, in the images API's words. */
  paints(ms = 1_000, image = PNG, more: object = {}): Script {
    return async (reply, request) => {
      await this.harness.clock.sleep(ms);
      const { n = 1 } = fieldsOf(request);
      const data = Array.from({ length: Number(n) }, () => ({ b64_json: image }));
      answers({ created: 1, data, ...more })(reply, request);
    };
  }
}

interface ErrorShown {
  message: string;
  type?: string;
  code?: string | number;
  param?: string | null;
  status?: string;
}

interface Prediction {
  bytesBase64Encoded?: string;
  gcsUri?: string;
  mimeType?: string;
  raiFilteredReason?: string;
  error?: ErrorShown;
}

interface ImagesBody {
  data?: { b64_json?: string; url?: string; revised_prompt?: string }[];
  errors?: { index: number; code: string; message: string }[];
  error?: ErrorShown;
  size?: string;
  output_format?: string;
  usage?: Record<string, unknown>;
}

export function readImages(answer: ReadAnswer) {
  const { data, errors, error, ...settings } = JSON.parse(answer.text) as ImagesBody;
  return { ...answer, data, errors, error, settings, made: data?.map(({ b64_json }) => b64_json) };
}

/** The events of a stream of images. */
export interface ImageEventShown extends ImagesBody {
  type: string;
  b64_json?: string;
  partial_image_index?: number;
}

export const eventsIn = (text: string): ImageEventShown[] =>
  [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? "") as ImageEventShown);

/** The fields of a JSON request or, of a form, those without files. */
function fieldsOf({ body }: SentRequest): Record<string, unknown> {
  if (body.startsWith("{")) return JSON.parse(body) as Record<string, unknown>;
  const fields = body.matchAll(/name="([^"]+)"\r\n\r\n([^\r]*)\r\n/g);
  return Object.fromEntries([...fields].map(([, name, value]) => [name, value]));
}

/** An answer in one piece. */
export const answers =
  (value: unknown, status = 200, headers: Record<string, string> = {}): Script =>
  (reply: Reply) => {
    reply.head(status, headers);
    void reply.write(typeof value === "string" ? value : JSON.stringify(value));
    reply.end();
  };

export const refuses = (status: number, error: object = { message: "no", type: "server_error" }): Script =>
  answers({ error }, status);

/** The response of a host's moderation. */
export const BLOCKED = {
  message: "Your request was rejected by the safety system",
  type: "image_generation_user_error",
  code: "moderation_blocked",
};
