import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { GoogleGenAI } from "@google/genai";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { runProgram } from "../support/program.ts";
import { simulatedProviders, startTestGateway, TEST_ADMIN_SECRET, type TestGateway } from "../support/test-gateway.ts";

const usd = (value: number, unit = "perMTokens") => [{ value, unit, currency: "USD" }];

let simulator: Simulator;
let gateway: TestGateway;
let genai: GoogleGenAI;

beforeAll(async () => {
  simulator = await startSimulator({ tokenDelayMs: 0 });
  gateway = await startTestGateway({
    config: {
      providers: simulatedProviders(simulator.url),
      models: [
        {
          id: "google/cached",
          context_length: 1_000_000,
          output_modalities: ["text"],
          pricings: {
            prompt: usd(1),
            completion: usd(2),
            input_cache_read: usd(0.1),
            cache_storage: usd(1, "perMTokenHours"),
          },
          offers: [{ provider: "at-genai", model: "standard" }],
        },
      ],
    },
  });
  genai = new GoogleGenAI({ apiKey: TEST_KEY, httpOptions: { baseUrl: gateway.url } });
});
afterAll(async () => {
  await gateway.stop();
  await simulator.stop();
});

const create = () =>
  genai.caches.create({
    model: "cached",
    config: {
      contents: "The harbour opens at nine. ".repeat(200),
      systemInstruction: "Answer briefly.",
      displayName: "Harbour",
      ttl: "3600s",
    },
  });

describe("decision 0110: caches with the vendor's SDK", () => {
  test("a cache is created, shown, listed, extended and deleted", async () => {
    const cache = await create();
    expect(cache.name).toMatch(/^cachedContents\/[0-9A-Za-z]{22}$/);
    expect(cache.displayName).toBe("Harbour");
    expect(cache.usageMetadata?.totalTokenCount).toBeGreaterThan(1_000);
    const name = cache.name ?? "";
    expect(await genai.caches.get({ name })).toEqual(cache);
    const listed: (string | undefined)[] = [];
    for await (const each of await genai.caches.list({ config: { pageSize: 1 } })) listed.push(each.name);
    expect(listed).toEqual([name]);
    const extended = await genai.caches.update({ name, config: { ttl: "7200s" } });
    expect(Date.parse(extended.expireTime ?? "")).toBeGreaterThan(Date.parse(cache.expireTime ?? ""));
    const until = new Date(Date.now() + 600_000).toISOString();
    const shortened = await genai.caches.update({ name, config: { expireTime: until } });
    expect(Math.abs(Date.parse(shortened.expireTime ?? "") - Date.parse(until))).toBeLessThan(5_000);
    await genai.caches.delete({ name });
    expect(await genai.caches.get({ name }).catch((error: unknown) => error)).toMatchObject({ status: 404 });
  });

  test("a call reads it, streamed and not, and pays the price of reading a cache", async () => {
    const { name = "", usageMetadata } = await create();
    const tokens = usageMetadata?.totalTokenCount ?? 0;
    const config = { cachedContent: name };
    const answer = await genai.models.generateContent({ model: "cached", contents: "When?", config });
    expect(answer.text).not.toBe("");
    expect(answer.usageMetadata?.cachedContentTokenCount).toBe(tokens);
    let last: typeof answer | undefined;
    for await (const chunk of await genai.models.generateContentStream({ model: "cached", contents: "When?", config }))
      last = chunk;
    expect(last?.usageMetadata?.cachedContentTokenCount).toBeGreaterThanOrEqual(tokens);
    const headers = { authorization: `Bearer ${TEST_ADMIN_SECRET}` };
    const page = await fetch(`${gateway.adminUrl}/api/receipts?limit=1`, { headers });
    const [receipt] = ((await page.json()) as { data: { usage: { cache_read: number }; lane: string }[] }).data;
    expect(receipt?.usage.cache_read).toBeGreaterThanOrEqual(tokens);
    expect(receipt?.lane).toBe("native");
    await genai.caches.delete({ name });
  });

  test("an operator sees a cache, deletes it, and finds what its storage cost", async () => {
    const { name = "" } = await create();
    const admin = (method: string, path: string) =>
      fetch(`${gateway.adminUrl}${path}`, { method, headers: { authorization: `Bearer ${TEST_ADMIN_SECRET}` } });
    const objects = (await (await admin("GET", "/api/objects?kind=cache")).json()) as { data: object[] };
    expect(objects.data).toMatchObject([{ id: name, kind: "cache", state: "active", name: "Harbour" }]);
    expect((await admin("DELETE", `/api/objects/${encodeURIComponent(name)}`)).status).toBe(200);
    expect(await genai.caches.get({ name }).catch((error: unknown) => error)).toMatchObject({ status: 404 });
    const page = (await (await admin("GET", "/api/receipts?limit=1")).json()) as { data: Record<string, unknown>[] };
    const [receipt] = page.data;
    expect(receipt).toMatchObject({ verb: "caches", model: "google/cached", provider: "at-genai" });
    expect(receipt?.["price_rule"] ?? "cache_storage 1").toContain("cache_storage 1");
  });

  test("trivium caches lists and deletes caches", async () => {
    const { name = "" } = await create();
    const where = ["--url", gateway.adminUrl, "--secret", TEST_ADMIN_SECRET];
    const run = (...words: string[]) => runProgram(["caches", ...words, ...where], { cwd: gateway.folder });
    const listed = await run("list");
    expect(listed.stdout).toContain(name);
    expect(listed.stdout).toContain("google/cached");
    expect((await run("delete", name)).stdout).toBe(`Deleted ${name}.\n`);
    expect((await run("list")).stdout).not.toContain(name);
  });

  test("unknown caches are 404 in the URL, and 400 with the path in a request", async () => {
    const name = `cachedContents/${"x".repeat(22)}`;
    expect(await genai.caches.get({ name }).catch((error: unknown) => error)).toMatchObject({ status: 404 });
    expect(await genai.caches.delete({ name }).catch((error: unknown) => error)).toMatchObject({ status: 404 });
    const call = genai.models.generateContent({ model: "cached", contents: "Hi", config: { cachedContent: name } });
    const refused = await call.catch((error: unknown) => error);
    expect(refused).toMatchObject({ status: 400 });
    expect(String(refused)).toContain("cachedContent");
  });

  test("with the vendor's SDK in its other mode, whose names have a project and a location", async () => {
    const { name = "" } = await create();
    const headers = { authorization: `Bearer ${TEST_KEY}` };
    const shown = await fetch(`${gateway.url}/v1beta1/projects/p/locations/l/${name}`, { headers });
    expect(((await shown.json()) as { name: string }).name).toBe(name);
    const { text } = await genai.models.generateContent({
      model: "cached",
      contents: "When?",
      config: { cachedContent: `projects/p/locations/l/${name}` },
    });
    expect(text).not.toBe("");
    await genai.caches.delete({ name });
  });
});
