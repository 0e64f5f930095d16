import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { join } from "node:path";
import type { Outcome } from "../../simulator/media/outcome.ts";
import { eventually } from "../../testing/eventually.ts";
import { extra, failureOf, headerOf } from "../sdk/support.ts";
import { contractDoor, GENAI_IMAGES, type GenaiImages } from "./genai-images.ts";
import { CallTable, expectBilled, lookAt, receiptOf } from "./image-audit.ts";
import { IMAGE_FAMILIES } from "./image-families.ts";
import { type ImageHarness, startImageHarness, TWO_OFFERS } from "./image-harness.ts";
import { type ImageEvent, OPENAI_IMAGES, type OpenaiImages } from "./openai-images.ts";

/** One model of each adapter, with what its host stores temporarily: results at a URL, or jobs that are polled. */
const HOSTS: Readonly<Record<string, "nothing" | "links" | "jobs">> = {
  "openai/gpt-image-2": "nothing",
  "google/gemini-2.5-flash-image:gemini": "nothing",
  "google/imagen-4.0-generate-001:vertex": "nothing",
  "x-ai/grok-imagine-image": "nothing",
  "own/glm-image": "links",
  "own/ernie": "links",
  "own/minimax": "nothing",
  "own/gen4": "jobs",
  "own/photon": "jobs",
  "own/seedream-3": "nothing",
  "own/qwen-image-2": "links",
  "own/wan-2.7": "jobs",
  "own/wan-2.5": "jobs",
  "black-forest-labs/flux-2-pro": "jobs",
  "klingai/kling-image-v3": "jobs",
  "own/hunyuan": "jobs",
};
const MODELS = Object.keys(HOSTS);

let harness: ImageHarness;
/** For jobs that take seconds: polling them as often as those of milliseconds would waste CPU. */
let unhurried: ImageHarness | undefined;
const table = new CallTable("One of several fails: SDK x provider");
const warn = spyOn(console, "warn").mockImplementation(() => {});

beforeAll(async () => {
  harness = await startImageHarness();
});
afterAll(async () => {
  warn.mockRestore();
  await harness.stop();
  await unhurried?.stop();
  table.print();
});

interface Client {
  name: string;
  blocked: string;
  /** The outcome of a call for one image, as a word or its status. */
  ask(model: string, prompt: string): Promise<string>;
}

function genaiClient({ version, connect, error }: GenaiImages): Client {
  return {
    name: `genai ${version}`,
    // Contract 7: a blocked image is an element of the response.
    blocked: "blocked",
    ask: async (model, prompt) => {
      const client = connect(contractDoor(harness.gateway.url, harness.gateway.key));
      try {
        const [first] = (await client.generate(model, prompt)).generatedImages ?? [];
        if (first?.raiFilteredReason) return first.image?.imageBytes ? "both" : "blocked";
        return first?.image?.imageBytes ? "image" : "nothing";
      } catch (thrown) {
        if (!(thrown instanceof error)) throw thrown;
        return String(extra(thrown, "status"));
      }
    },
  };
}

function openaiClient({ version, connect, errors }: OpenaiImages): Client {
  const classes = [
    ["BadRequestError", errors.BadRequestError],
    ["RateLimitError", errors.RateLimitError],
    ["InternalServerError", errors.InternalServerError],
  ] as const;
  return {
    name: `openai ${version}`,
    blocked: "400 BadRequestError content_filter",
    ask: async (model, prompt) => {
      const client = connect({
        baseURL: `${harness.gateway.url}/api/v1`,
        apiKey: harness.gateway.key,
        maxRetries: 0,
      });
      try {
        const answer = await client.images.generate({ model, prompt });
        return answer.data?.[0]?.b64_json ? "image" : "nothing";
      } catch (thrown) {
        if (!(thrown instanceof errors.APIError)) throw thrown;
        expect(headerOf(thrown, "x-trivium-receipt")).toStartWith("rcp_");
        if (thrown instanceof errors.RateLimitError) {
          expect(Number(headerOf(thrown, "retry-after"))).toBeWithin(1, 61);
        }
        const found = classes.find(([, known]) => thrown instanceof known)?.[0];
        return [extra(thrown, "status"), found, extra(thrown, "code")].join(" ");
      }
    },
  };
}

const CLIENTS = [...GENAI_IMAGES.map(genaiClient), ...OPENAI_IMAGES.map(openaiClient)];

/** The error of a kind as a client shows it. */
const ERRORS = {
  rate_limited: { genai: "429", openai: "429 RateLimitError rate_limit_exceeded" },
  upstream_failed: { genai: "502", openai: "502 InternalServerError upstream_failed" },
  overloaded: { genai: "503", openai: "503 InternalServerError overloaded" },
  upstream_timeout: { genai: "504", openai: "504 InternalServerError upstream_timeout" },
  upstream_credentials: { genai: "502", openai: "502 InternalServerError upstream_credentials" },
} as const;

/** Hosts without a specific code for it: one reports its rate limit, one a timeout, one the account's permissions. */
const OVERLOADED: Readonly<Record<string, keyof typeof ERRORS>> = {
  "own/glm-image": "rate_limited",
  "own/minimax": "upstream_timeout",
  "own/hunyuan": "upstream_credentials",
};

function expectedOf(client: Client, model: string, outcome: Outcome): string {
  const family = client.name.startsWith("genai") ? "genai" : "openai";
  const failed = ERRORS.upstream_failed[family];
  const keeps = HOSTS[model];
  switch (outcome) {
    case "blocked":
      // This host has no code for it on submit, only for accepted tasks.
      if (model === "own/gen4") return family === "genai" ? "400" : "400 BadRequestError ";
      return client.blocked;
    case "moderated":
      return client.blocked;
    case "fails":
      // A model that answers with text ends without an image, and that is its refusal.
      return model.includes("gemini") ? client.blocked : failed;
    case "expired":
      return keeps === "nothing" ? "image" : failed;
    case "forgotten":
      // A host that answers immediately has no job to forget.
      return keeps === "jobs" ? failed : "image";
    case "busy":
      return ERRORS.rate_limited[family];
    case "overloaded":
      return ERRORS[OVERLOADED[model] ?? "overloaded"][family];
    case "broken":
    case "garbage":
      return failed;
    default:
      return "image";
  }
}

const REPORTED = [
  "blocked",
  "moderated",
  "fails",
  "expired",
  "forgotten",
  "unsteady",
  "busy",
  "broken",
  "overloaded",
  "garbage",
] as const;

for (const client of CLIENTS) {
  describe(client.name, () => {
    test.each(REPORTED)(
      "contract 7, choices 4: the outcome %s is reported in the caller's protocol",
      async (outcome) => {
        const outcomes = MODELS.map(async (model) => [model, await client.ask(model, `a fox sim:${outcome}`)] as const);
        const expected = MODELS.map((model) => [model, expectedOf(client, model, outcome)] as const);
        expect(Object.fromEntries(await Promise.all(outcomes))).toEqual(Object.fromEntries(expected));
      },
    );
  });
}

test("a poll without a response is repeated: no second image is requested", async () => {
  const models = MODELS.filter((model) => HOSTS[model] === "jobs");
  const before = harness.simulator.stats().mediaJobs;
  for (const client of CLIENTS) {
    const asked = await Promise.all(models.map((model) => client.ask(model, "a fox sim:unsteady")));
    expect(asked).toEqual(models.map(() => "image"));
  }
  expect(harness.simulator.stats().mediaJobs - before).toBe(CLIENTS.length * models.length);
});

describe("two offers", () => {
  const [openai] = OPENAI_IMAGES;
  const draw = async (outcome: Outcome) => {
    const client = openai?.connect({
      baseURL: `${harness.gateway.url}/v1`,
      apiKey: harness.gateway.key,
      maxRetries: 0,
    });
    const asked = client?.images.generate({ model: TWO_OFFERS, prompt: `a fox sim:${outcome}` });
    const { data, response } = (await asked?.withResponse()) ?? {};
    await lookAt(data?.data?.[0]?.b64_json);
    return receiptOf(harness, response?.headers.get("x-trivium-receipt"));
  };

  test("choices 4: a result that cannot be fetched is a failure of its offer, and the next one is tried", async () => {
    const { offers, provider, usage } = await draw("expired");
    expect(offers.map((offer) => `${offer.provider} ${offer.outcome}`)).toEqual([
      "z-ai failed",
      "z-ai failed",
      "minimax answered",
    ]);
    expect({ provider, images: usage["images"] }).toEqual({ provider: "minimax", images: 1 });
  });
});

const SEVERAL = 3;
const families = IMAGE_FAMILIES.filter(({ most, editsOnly }) => most >= SEVERAL && !editsOnly);

describe("one of several fails", () => {
  // Hosts that make one at a time fail only the first image of a prompt, so that each call has its own.
  let calls = 0;
  const nextPrompt = () => `fox number ${++calls} sim:one-fails`;

  for (const { version, connect } of GENAI_IMAGES) {
    test.each(families)(`contract 2.5: genai ${version} gets an element for each image, $model`, async (family) => {
      const client = connect(contractDoor(harness.gateway.url, harness.gateway.key));
      // Converted for one generation, and as the host makes them for the other.
      const own = version === "1" ? { outputMimeType: `image/${family.usual.split(" ")[0]}` } : {};
      const answer = await client.generate(family.model, nextPrompt(), { numberOfImages: SEVERAL, ...own });
      const elements = answer.generatedImages ?? [];
      expect(elements).toHaveLength(SEVERAL);
      const made = elements.flatMap(({ image }) => image?.imageBytes ?? []);
      expect(made.length).toBeWithin(1, SEVERAL);
      for (const image of made) await lookAt(image);
      expectBilled(
        await receiptOf(harness, answer.sdkHttpResponse?.headers?.["x-trivium-receipt"]),
        family,
        made.length,
      );
      table.good(family, `genai-${version}`);
    });
  }

  for (const { version, connect, errors } of OPENAI_IMAGES) {
    const client = () =>
      connect({ baseURL: `${harness.gateway.url}/api/v1`, apiKey: harness.gateway.key, maxRetries: 0 });

    test.each(families)(
      `choices 5: openai ${version} gets the others, and why one is missing, $model`,
      async (family) => {
        const { data, response } = await client()
          .images.generate({ model: family.model, prompt: nextPrompt(), n: SEVERAL })
          .withResponse();
        const made = data.data?.length ?? 0;
        expect(made).toBeWithin(1, SEVERAL);
        const problems = extra(data, "errors");
        expect(problems).toBeArrayOfSize(SEVERAL - made);
        expect(problems).toContainEqual({
          index: expect.any(Number),
          code: expect.stringMatching(/^(?:content_filter|upstream_failed)$/),
          message: expect.any(String),
        });
        expectBilled(await receiptOf(harness, response.headers.get("x-trivium-receipt")), family, made);
        table.good(family, `openai-${version}`);
      },
    );

    test.each(families)(
      `contract 6.3: openai ${version} gets every image of a stream before its error, $model`,
      async (family) => {
        const { data, response } = await client()
          .images.generate({ model: family.model, prompt: nextPrompt(), n: SEVERAL, stream: true })
          .withResponse();
        const events: ImageEvent[] = [];
        const failure = await failureOf(
          (async () => {
            for await (const event of data) events.push(event);
          })(),
        );
        expect(failure).toBeInstanceOf(errors.APIError);
        expect(events.length).toBeWithin(1, SEVERAL);
        expectBilled(await receiptOf(harness, response.headers.get("x-trivium-receipt")), family, events.length);
        table.good(family, `stream-${version}`);
      },
    );
  }
});

test("H26: SDKs that disconnect pay for what each kind of host continues to make", async () => {
  const prompt = "a fox sim:slow";
  unhurried = await startImageHarness([], 0.25);
  const { gateway, simulator } = unhurried;
  const models = ["openai/gpt-image-2", "own/gen4", "own/wan-2.7", "black-forest-labs/flux-2-pro", "own/photon"];
  const database = new Database(join(gateway.folder, "data", "trivium.db"), { readonly: true });
  const rows = () =>
    database
      .query(
        "SELECT model, usage_source, usage_images FROM receipts WHERE outcome = 'client_gone' AND cost_nano_usd > 0",
      )
      .all();
  const disconnecting = new AbortController();
  const { signal } = disconnecting;
  const before = simulator.stats().requests;
  const asked = models.flatMap((model) => [
    ...GENAI_IMAGES.map(({ connect }) => {
      const client = connect(contractDoor(gateway.url, gateway.key));
      return failureOf(client.generate(model, prompt, { abortSignal: signal }));
    }),
    ...OPENAI_IMAGES.flatMap(({ connect }) => {
      const client = connect({ baseURL: `${gateway.url}/api/v1`, apiKey: gateway.key, maxRetries: 0 });
      return [
        failureOf(client.images.generate({ model, prompt }, { signal })),
        failureOf(client.images.generate({ model, prompt, stream: true }, { signal })),
      ];
    }),
  ]);
  await eventually("all requests", () => simulator.stats().requests >= before + asked.length);
  disconnecting.abort();
  await Promise.all(asked);
  await eventually("all rows", () => rows().length === asked.length);
  expect(
    rows().filter((row) => !Bun.deepEquals(row, { ...(row as object), usage_source: "measured", usage_images: 1 })),
  ).toEqual([]);
  database.close();
});
