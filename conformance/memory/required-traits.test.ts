import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { SCRIPTED_DIALECTS } from "../../testing/sampled-dialects.ts";
import { errorIn } from "../../testing/sent-call.ts";
import { TEST_KEY } from "../../testing/test-key.ts";

const EU_KEY = "sk-trv-a-key-whose-calls-stay-in-europe";
const PARENT_KEY = "sk-trv-a-key-that-makes-keys-for-europe";
const PROVIDERS = {
  plain: {},
  "eu-kept": { traits: { retention: "30d", region: "eu" } },
  "eu-zero": { traits: { retention: "zero", region: ["eu", "de"] } },
  "us-zero": { traits: { retention: "zero", region: "us" } },
} as const;
const IMAGES = { kind: "openai" };
const offered = (...providers: (keyof typeof PROVIDERS)[]) =>
  providers.map((provider) => ({ provider, model: "upstream-model" }));

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.start({
    config: {
      providers: Object.fromEntries(
        Object.entries({ ...PROVIDERS, "images-kept": IMAGES, "images-zero": IMAGES }).map(([name, more]) => [
          name,
          {
            kind: "openai-compatible",
            base_url: `${UPSTREAM_URL}/${name}/v1`,
            api_key: `upstream-secret-${name}`,
            ...more,
          },
        ]),
      ),
      models: [
        { id: "test/any", pricings: {}, offers: offered("plain", "eu-kept", "us-zero", "eu-zero") },
        { id: "test/plain", pricings: {}, offers: offered("plain") },
        {
          id: "test/own",
          pricings: {},
          offers: [{ provider: "plain", model: "upstream-model", traits: { retention: "zero", region: "eu" } }],
        },
        {
          id: "test/images",
          pricings: {},
          output_modalities: ["image"],
          offers: [
            { provider: "images-kept", model: "gpt-image-1" },
            { provider: "images-zero", model: "gpt-image-1", traits: { retention: "zero", region: "eu" } },
          ],
        },
      ],
      keys: [
        { name: "tests", key: TEST_KEY },
        { name: "parent", key: PARENT_KEY, scopes: ["keys:create"], routing: { require: { region: "eu" } } },
        { name: "eu", key: EU_KEY, routing: { require: { region: "eu" } } },
      ],
    },
  });
});
afterEach(() => expect(harness.leftovers()).toMatchObject({ runningCalls: 0, heldBytes: 0 }));

const ANSWER = {
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
};

/** Since the last script was set. */
const hostsAsked = () => harness.upstream.requests.map(({ url }) => new URL(url, UPSTREAM_URL).pathname.split("/")[1]);

async function call(dialect: (typeof SCRIPTED_DIALECTS)[number], options: Parameters<Harness["call"]>[1]) {
  harness.upstream.play(harness.upstream.json(ANSWER));
  const answer = await harness.call(dialect, { door: "dropin", ...options });
  return { answer, hosts: hostsAsked() };
}

const REQUIRED = { require: { retention: "zero", region: "eu" } };

describe("decision 0127: an offer without a required trait is never used", () => {
  test.each(SCRIPTED_DIALECTS)("%s: by a field, and the receipt says what was required", async (dialect) => {
    const { answer, hosts } = await call(dialect, { model: "test/any", body: { trivium: REQUIRED } });
    expect([answer.status, hosts]).toEqual([200, ["eu-zero"]]);
    expect(await harness.receipt(answer)).toMatchObject({ provider: "eu-zero", require: REQUIRED.require });
  });

  test.each([
    ["retention=zero", "us-zero"],
    ["region=eu", "eu-kept"],
    ["retention=30d, region=eu", "eu-kept"],
    ["retention=29d,region=eu", "eu-zero"],
    ["region=de", "eu-zero"],
  ])("by the header x-trivium-require: %s", async (required, host) => {
    const { hosts } = await call("chat", { model: "test/any", headers: { "x-trivium-require": required } });
    expect(hosts).toEqual([host]);
  });

  test("a call adds to what its key requires, and cannot relax it", async () => {
    const alone = await call("chat", { model: "test/any", key: EU_KEY });
    expect(alone.hosts).toEqual(["eu-kept"]);
    const stricter = await call("chat", {
      model: "test/any",
      key: EU_KEY,
      headers: { "x-trivium-require": "retention=zero" },
    });
    expect(stricter.hosts).toEqual(["eu-zero"]);
    const other = await call("chat", { model: "test/any", key: EU_KEY, headers: { "x-trivium-require": "region=us" } });
    expect([other.answer.status, other.hosts]).toEqual([400, []]);
  });

  test("a fallback has the traits as well", async () => {
    harness.upstream.play(
      ...Array.from({ length: 6 }, () => harness.upstream.json({ error: { message: "down" } }, 401)),
    );
    const answer = await harness.call("chat", {
      door: "dropin",
      model: "test/own",
      body: { trivium: REQUIRED, provider: { fallback: "test/any" } },
    });
    expect(answer.status).toBe(502);
    expect(new Set(hostsAsked())).toEqual(new Set(["plain", "eu-zero"]));
  });

  test("traits of an offer take the place of its provider's", async () => {
    const { hosts } = await call("chat", { model: "test/own", body: { trivium: REQUIRED } });
    expect(hosts).toEqual(["plain"]);
  });

  test("trivium/auto chooses among models that have them", async () => {
    const body = { trivium: REQUIRED, model_routing_config: { available_models: ["test/plain", "test/own"] } };
    const { answer } = await call("chat", { model: "trivium/auto", body });
    expect(await harness.receipt(answer)).toMatchObject({ model: "test/own" });
  });

  test("images are made only where they are kept", async () => {
    harness.upstream.play(harness.upstream.json({ created: 1, data: [{ b64_json: "aGk=" }] }));
    await harness.post("/v1/images/generations", { model: "test/images", prompt: "an owl", trivium: REQUIRED });
    expect(hostsAsked()).toEqual(["images-zero"]);
  });
});

describe("decision 0127: child keys", () => {
  test("S05: a child key requires what its parent requires, whatever routing it has", async () => {
    const made = await harness.post(
      "/api/v1/keys",
      { name: "child", routing: { require: { retention: "zero" } } },
      PARENT_KEY,
    );
    expect(made.status).toBe(201);
    const { key } = (JSON.parse(made.text) as { data: { key: string } }).data;
    expect((await call("chat", { model: "test/any", key })).hosts).toEqual(["eu-zero"]);
  });
});

describe("decision 0127: refusals", () => {
  test.each(SCRIPTED_DIALECTS)("%s: the error names the models that would do", async (dialect) => {
    const { answer, hosts } = await call(dialect, { model: "test/plain", body: { trivium: REQUIRED } });
    expect([answer.status, hosts]).toEqual([400, []]);
    expect(errorIn(answer).message).toContain(
      "No offer of test/plain has the required traits retention=zero, region=eu. Models with such an offer: test/any, test/own",
    );
  });

  test.each([
    ["speed=fast", "x-trivium-require: speed is not a trait of offers; use retention or region."],
    ["retention", 'x-trivium-require must list traits of offers, such as "retention=zero, region=eu"'],
    ["retention=none", 'x-trivium-require: retention must be "zero" or a number of days such as "30d".'],
    ["region=eu, region=us", "x-trivium-require names a trait twice."],
  ])("the header %s", async (required, message) => {
    const { answer } = await call("chat", { model: "test/any", headers: { "x-trivium-require": required } });
    expect(answer.status).toBe(400);
    expect(errorIn(answer).message).toStartWith(message);
  });

  test("a field that is not a trait", async () => {
    const { answer } = await call("chat", { model: "test/any", body: { trivium: { require: { speed: "fast" } } } });
    expect(answer.status).toBe(400);
    expect(errorIn(answer).message).toContain("trivium.require.speed is not a trait of offers");
  });
});
