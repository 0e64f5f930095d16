import { arrayAt, isObject, type JsonObject, objectAt, parseObject, stringAt } from "../../src/base/json.ts";
import { BatchLineWork } from "../../src/server/batches/line-work.ts";
import { ROUTES } from "../../src/server/routes.ts";
import { selectOpenBatches } from "../../src/storage/tables/batches.ts";
import { Harness, type Machine, makeMachine, UPSTREAM_URL } from "../../testing/harness.ts";
import { liveModels, realtimeHost } from "../../testing/live/live-hosts.ts";
import type { SentRequest } from "../../testing/memory-network.ts";
import { plainAnswer, plainStream, plainUsage } from "../../testing/plain-answer.ts";
import type { ReceiptData } from "../../testing/receipt-data.ts";
import type { SentCall } from "../../testing/sent-call.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { type ClaimChanges, TokenIssuer } from "../../testing/token-issuer.ts";
import { wire } from "../../testing/upstream-wire.ts";

/** What an upstream is asked for. */
export type Asked = "text" | "image" | "judge" | "hook";

export const HOOK_URL = "http://guard.test/check";
export const PARENT_KEY = "sk-trv-a-key-that-makes-keys-for-derived-calls";
const DOLLARS = (value: number, unit = "perMTokens") => [{ value, unit, currency: "USD" }];
const PRICES = { prompt: DOLLARS(1), completion: DOLLARS(2) };
const IMAGE_TOOL = { type: "image_generation", model: "test/painter" };
const NOTHING_LEFT = { runningCalls: 0, orphanedTexts: 0, orphanedImages: 0, heldBytes: 0, openUpstreams: 0 };

const provider = (path: string) => ({
  kind: "openai",
  base_url: `${UPSTREAM_URL}/${path}/v1`,
  api_key: "upstream-secret",
  batch: true,
  timeout_ms: { first_byte: 100_000, idle: 100_000 },
});

/** The models that calls are made for, at a provider in Europe and at one that states nothing. */
function sections(more: JsonObject): JsonObject {
  const offered = (model: string, fields = {}) =>
    ["eu", "us"].map((name) => ({
      provider: name,
      model,
      ...fields,
      ...(name === "eu" ? { traits: { region: "eu" } } : {}),
    }));
  const text = (id: string) => ({
    id,
    pricings: PRICES,
    offers: offered("gpt-4o", { dialect: "chat", prefill: true }),
  });
  const live = liveModels(UPSTREAM_URL) as { providers: object; models: { offers: object[] }[] };
  const pricings = { image: DOLLARS(0.04, "perCount") };
  return {
    providers: { eu: provider("eu"), us: provider("us"), ...live.providers },
    models: [
      text("test/text"),
      text("test/second"),
      { id: "test/painter", output_modalities: ["image"], pricings, offers: offered("gpt-image-1") },
      {
        id: "test/judge",
        output_modalities: ["moderation"],
        pricings: { prompt: DOLLARS(1) },
        // It states no region, so that a requirement of the caller would keep it from being asked.
        offers: [{ provider: "us", model: "omni-moderation-latest" }],
      },
      ...live.models.map((model) => ({
        ...model,
        offers: model.offers.map((offer) => ({ ...offer, traits: { region: "eu" } })),
      })),
    ],
    keys: [
      { name: "tests", key: TEST_KEY },
      { name: "parent", key: PARENT_KEY, scopes: ["keys:create"] },
    ],
    ...more,
  };
}

/** A gateway whose calls cause others, and the hosts of both. */
export class DerivedWorld {
  readonly harness: Harness;
  readonly issuer: TokenIssuer;
  /** What the hosts were asked for. */
  readonly asked: Asked[] = [];
  /** How a host answers this request, if not as usual; resolves with true if it did. */
  instead: (asked: Asked, request: SentRequest, number: number) => unknown = () => undefined;
  /** Texts with these words are flagged. */
  flagged = /forbidden/;
  /** How long a host takes for each. */
  readonly takesMs: Partial<Record<Asked, number>> = {};

  private constructor(harness: Harness, issuer: TokenIssuer) {
    this.harness = harness;
    this.issuer = issuer;
    this.#play();
    harness.sockets.play(realtimeHost());
  }

  /** `tokens`: in which project its tokens are. */
  static async start(
    more: JsonObject = {},
    given?: Machine,
    onLog?: (line: string) => void,
    tokens: JsonObject = { project: "default" },
  ): Promise<DerivedWorld> {
    const machine = given ?? (await makeMachine());
    const issuer = await TokenIssuer.start(machine.clock.wallMs);
    const jwt = [{ issuer: issuer.url, audience: "trivium", user_claim: "sub", ...tokens }];
    const config = sections({ auth: { jwt }, ...more });
    const harness = await Harness.start({ machine, config, fetchIssuer: issuer.fetch, ...(onLog && { onLog }) });
    return new DerivedWorld(harness, issuer);
  }

  #play(): void {
    const { upstream, clock } = this.harness;
    upstream.play(async (reply, request) => {
      const asked = askedOf(request);
      this.asked.push(asked);
      const number = this.asked.filter((one) => one === asked).length;
      const takesMs = this.takesMs[asked] ?? 0;
      if (takesMs > 0) await clock.sleep(takesMs);
      const other = this.instead(asked, request, number);
      if (other === "nothing") return;
      if (typeof other === "function") return other(reply, request);
      if (isObject(other))
        return upstream.json(objectAt(other, "body"), Number(other["status"] ?? 200))(reply, request);
      return this.#usual(asked, parseObject(request.body) ?? {})(reply, request);
    });
  }

  #usual(asked: Asked, body: JsonObject) {
    const { upstream } = this.harness;
    if (asked === "hook") return upstream.json({ verdict: "allow" });
    if (asked === "image") return upstream.json({ created: 1, data: [{ b64_json: "aGk=" }], output_format: "png" });
    if (asked === "judge") {
      const results = arrayAt(body, "input").map((text) => {
        const flagged = this.flagged.test(String(text));
        return { flagged, categories: { violence: flagged }, category_scores: {} };
      });
      return upstream.json({ id: "modr-1", model: "m", results });
    }
    return this.text(body);
  }

  /** A model that asks for an image if it can and has none, and otherwise answers. */
  text(body: JsonObject) {
    const { upstream } = this.harness;
    const usage = plainUsage("chat", 10, 20);
    const tool = arrayAt(body, "tools").map((one) => stringAt(objectAt(one, "function"), "name"))[0];
    const hasImage = arrayAt(body, "messages").some((message) => isObject(message) && message["role"] === "tool");
    const stream = body["stream"] === true;
    const calls = [
      { index: 0, id: "call_1", type: "function", function: { name: tool, arguments: '{"prompt":"A horse"}' } },
    ];
    if (tool === undefined || hasImage) {
      return stream
        ? upstream.stream(plainStream("chat", ["It is ", "done."], usage))
        : upstream.json(plainAnswer("chat", { text: "It is done.", usage }));
    }
    const whole = plainAnswer("chat", { text: "", usage, stop: "tool_calls" }) as { choices: { message: object }[] };
    if (whole.choices[0] !== undefined)
      whole.choices[0].message = { role: "assistant", content: null, tool_calls: calls };
    return stream
      ? upstream.stream(
          wire.chatChunk({ role: "assistant", tool_calls: calls }),
          wire.chatChunk({}, "tool_calls"),
          wire.chatUsage(usage),
          wire.done,
        )
      : upstream.json(whole);
  }

  /** A model that declines. */
  declines(body: JsonObject) {
    const { upstream } = this.harness;
    const usage = plainUsage("chat", 10, 1);
    return body["stream"] === true
      ? upstream.stream(
          plainStream("chat", ["No", "."], usage).replace('"finish_reason":"stop"', '"finish_reason":"content_filter"'),
        )
      : upstream.json(plainAnswer("chat", { text: "No.", usage, stop: "content_filter" }));
  }

  /** A request that makes an image in the middle of its response. */
  images(body: JsonObject = {}, headers: Record<string, string> = {}, key = TEST_KEY): SentCall {
    const asked = { model: "test/text", input: "Draw a horse", tools: [IMAGE_TOOL], store: false };
    return this.harness.sendPost("/v1/responses", { ...asked, ...body }, key, headers);
  }

  /** A request whose first model declines. */
  fallbacks(body: JsonObject = {}, headers: Record<string, string> = {}, key = TEST_KEY): SentCall {
    const { instead } = this;
    this.instead = (asked, request, number) =>
      instead(asked, request, number) ??
      (asked === "text" && number === 1 ? this.declines(parseObject(request.body) ?? {}) : undefined);
    const messages = [{ role: "user", content: "Hello" }];
    const asked = { model: "test/text", max_tokens: 100, messages, fallbacks: [{ model: "test/second" }] };
    const beta = { "anthropic-version": "2023-06-01", "anthropic-beta": "server-side-fallback-2026-07-01" };
    return this.harness.sendPost("/v1/messages", { ...asked, ...body }, key, { ...beta, ...headers });
  }

  chat(body: JsonObject = {}, headers: Record<string, string> = {}, key = TEST_KEY): SentCall {
    const asked = { model: "test/text", messages: [{ role: "user", content: "Hello" }] };
    return this.harness.sendPost("/v1/chat/completions", { ...asked, ...body }, key, headers);
  }

  async answer(sent: SentCall) {
    return await this.harness.clock.until(sent.answer);
  }

  async childOf(parent: JsonObject = {}): Promise<string> {
    const made = await this.harness.post("/api/v1/keys", { name: "child", ...parent }, PARENT_KEY);
    if (made.status !== 201) throw new Error(made.text);
    return String(objectAt(parseObject(made.text), "data")?.["key"]);
  }

  async token(claims: ClaimChanges = {}): Promise<string> {
    const token = await this.issuer.sign({ sub: "u-token", ...claims });
    await this.harness.gateway.keys.identify(token, { address: "127.0.0.1" });
    return token;
  }

  /** Creates a batch, and returns what runs its lines. */
  async batch(
    form: "chat" | "messages" | "genai",
    bodies: JsonObject[],
    headers: Record<string, string> = {},
    key = TEST_KEY,
  ) {
    const { harness } = this;
    const made = await this.#createBatch(form, bodies, headers, key);
    const [batch] = (await selectOpenBatches(harness.storage)).slice(-1);
    if (made.status !== 200 || batch === undefined) return { made };
    const work = new BatchLineWork({ context: harness.context, routes: ROUTES, assumedOutputTokens: 1000 });
    const lines = bodies.map((body, at) => ({
      batch,
      customId: `line-${at + 1}`,
      line: at + 1,
      text: JSON.stringify(lineOf(form, body, `line-${at + 1}`)),
    }));
    return { made, work, lines };
  }

  async #createBatch(form: string, bodies: JsonObject[], headers: Record<string, string>, key: string) {
    const { harness } = this;
    if (form === "messages") {
      const requests = bodies.map((params, at) => ({ custom_id: `line-${at + 1}`, params }));
      const version = { "anthropic-version": "2023-06-01", ...headers };
      return this.answer(harness.sendPost("/v1/messages/batches", { requests }, key, version));
    }
    if (form === "genai") {
      const requests = bodies.map((request, at) => ({ request, metadata: { key: `line-${at + 1}` } }));
      const batch = { displayName: "test", inputConfig: { requests: { requests } } };
      const path = "/v1beta/models/test/text:batchGenerateContent";
      return this.answer(harness.sendPost(path, { batch }, key, headers));
    }
    const data = new FormData();
    data.set("purpose", "batch");
    data.set(
      "file",
      new Blob([bodies.map((body, at) => JSON.stringify(lineOf("chat", body, `line-${at + 1}`))).join("\n")]),
      "in.jsonl",
    );
    const response = await harness.clock.until(
      harness.sendRaw("/v1/files", data, { authorization: `Bearer ${key}` }).answer,
    );
    const file = String(parseObject(response.text)?.["id"]);
    const asked = { input_file_id: file, endpoint: "/v1/chat/completions", completion_window: "24h" };
    return this.answer(harness.sendPost("/v1/batches", asked, key, headers));
  }

  receipts(): Promise<ReceiptData[]> {
    return this.harness.receipts();
  }

  /** The calls in flight, newest last. */
  running() {
    return this.harness.gateway.calls.list();
  }

  stop(id: string | undefined): void {
    const { calls } = this.harness.gateway;
    (calls.find(id ?? "") ?? calls.list().at(-1))?.client.stop("operator:test");
  }

  /** Reads a new configuration, as a reload does. */
  async reload(more: JsonObject): Promise<void> {
    const other = await DerivedWorld.start(more);
    this.harness.gateway.snapshot = other.harness.gateway.snapshot;
  }

  /** Everything was given back. */
  get isClean(): boolean {
    return JSON.stringify(this.harness.leftovers()) === JSON.stringify(NOTHING_LEFT);
  }
}

function askedOf({ url }: SentRequest): Asked {
  if (url.startsWith(HOOK_URL)) return "hook";
  if (url.includes("/images/")) return "image";
  return url.endsWith("/moderations") ? "judge" : "text";
}

const lineOf = (form: string, body: JsonObject, id: string): JsonObject =>
  form === "messages"
    ? { custom_id: id, params: body }
    : form === "genai"
      ? { key: id, request: body }
      : { custom_id: id, method: "POST", url: "/v1/chat/completions", body };
