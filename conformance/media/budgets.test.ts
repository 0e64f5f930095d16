import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

const KEYS = { counted: "CountedKey", conversing: "ConversingKey", tokens: "TokensKey" } as const;
const keyOf = (name: string) => `sk-trv-${name.padEnd(43, "x")}`;

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({
    config: {
      simulator: true,
      models: [
        {
          id: "own/by-tokens",
          input_modalities: ["text", "image"],
          output_modalities: ["image"],
          pricings: { image: [{ value: 40, unit: "perMTokens", currency: "USD" }] },
          offers: [{ provider: "simulator", model: "picture" }],
        },
      ],
      keys: Object.values(KEYS).map((name) => ({ name, key: keyOf(name), limits: { budget_usd_per_day: 0.3 } })),
    },
  });
});
afterAll(() => gateway.stop());

const post = (path: string, key: string, body: object) =>
  fetch(gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });

/** How many of so many concurrent calls were admitted. */
async function letIn(count: number, call: () => Promise<Response>): Promise<number> {
  const statuses = await Promise.all(Array.from({ length: count }, async () => (await call()).status));
  expect(statuses.filter((status) => status !== 200 && status !== 402)).toEqual([]);
  return statuses.filter((status) => status === 200).length;
}

describe("H23: concurrent calls do not spend the same remainder of a budget", () => {
  test("images that are priced by number", async () => {
    // 0.01 USD an image.
    const body = { model: "sim/image", prompt: "a cat", n: 10 };
    expect(await letIn(6, () => post("/v1/images/generations", keyOf(KEYS.counted), body))).toBe(3);
  });

  test("images in a conversation", async () => {
    const contents = [{ role: "user", parts: [{ text: "a cat" }] }];
    const body = { contents, generationConfig: { candidateCount: 8 } };
    const path = "/api/vertex-ai/v1/publishers/sim/models/image:generateContent";
    expect(await letIn(6, () => post(path, keyOf(KEYS.conversing), body))).toBe(3);
  });

  test("images that are priced by tokens, by the requested quality", async () => {
    const draw = (quality: string) => () =>
      post("/v1/images/generations", keyOf(KEYS.tokens), { model: "own/by-tokens", prompt: "a cat", quality });
    expect(await letIn(3, draw("high"))).toBe(1);
    expect(await letIn(2, draw("low"))).toBeGreaterThan(0);
  });
});
