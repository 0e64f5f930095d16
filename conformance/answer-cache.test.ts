import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { eventually } from "../testing/eventually.ts";
import { runProgram } from "./support/program.ts";
import { readMetrics } from "./support/read-metrics.ts";
import { startTestGateway, TEST_ADMIN_SECRET, type TestGateway } from "./support/test-gateway.ts";

const KEY = `sk-trv-${"CachedSuiteKey".padEnd(43, "x")}`;
const model = "sim/standard";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    config: { simulator: true, keys: [{ name: "cached", key: KEY, cache: { ttl_seconds: 3600, max_mb: 10 } }] },
  });
});
afterAll(() => gateway.stop());

async function metric(name: string, label = ""): Promise<number> {
  const samples = readMetrics((await admin("/metrics")).text);
  const found = samples.find((one) => one.name === name && (label === "" || Object.values(one.labels).includes(label)));
  return found?.value ?? Number.NaN;
}

const hits = () => metric("trivium_cache_lookups_total", "hit");
const stored = () => metric("trivium_cache_stores_total", "stored");

/** Asks twice, and expects the second response to be the stored one. */
async function twice<Answer>(ask: () => Promise<Answer>): Promise<[Answer, Answer]> {
  const [before, storedBefore] = [await hits(), await stored()];
  const first = await ask();
  await eventually("the response to be stored", async () => (await stored()) !== storedBefore);
  const second = await ask();
  expect(await hits()).toBe(before + 1);
  return [first, second];
}

async function admin(path: string, method = "GET"): Promise<{ status: number; text: string }> {
  const headers = { authorization: `Bearer ${TEST_ADMIN_SECRET}` };
  const answer = await fetch(gateway.adminUrl + path, { method, headers });
  return { status: answer.status, text: await answer.text() };
}

const program = (...args: string[]) =>
  runProgram([...args, "--config", gateway.configFile, "--json"], { cwd: gateway.folder });

describe("decision 0128: vendors' SDKs read stored responses", () => {
  const content = (what: string) => `Where do ${what} meet?`;

  test("openai: chat completions and responses, streamed and not", async () => {
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: KEY, maxRetries: 0 });
    const messages = [{ role: "user" as const, content: content("roads") }];
    const [whole, again] = await twice(() => client.chat.completions.create({ model, messages }));
    expect(again.choices).toEqual(whole.choices);
    expect([again.usage, again.id === whole.id]).toEqual([whole.usage, false]);
    const [chunks, replayed] = await twice(async () => {
      const all = [];
      for await (const chunk of await client.chat.completions.create({ model, messages, stream: true }))
        all.push(chunk);
      return all;
    });
    expect(replayed.map(({ choices }) => choices)).toEqual(chunks.map(({ choices }) => choices));
    expect(new Set(replayed.map(({ id }) => id)).size).toBe(1);
    const asked = { model, input: content("rivers"), store: false };
    const [response, same] = await twice(() => client.responses.create(asked));
    expect([same.output_text, same.id === response.id]).toEqual([response.output_text, false]);
    const [events, repeated] = await twice(
      async () => (await client.responses.stream(asked).finalResponse()).output_text,
    );
    expect(repeated).toBe(events);
  });

  test("@anthropic-ai/sdk: streamed and not", async () => {
    const client = new Anthropic({ baseURL: gateway.url, apiKey: KEY, maxRetries: 0 });
    const body = { model, max_tokens: 200, messages: [{ role: "user" as const, content: content("paths") }] };
    const [whole, again] = await twice(() => client.messages.create(body));
    expect([again.content, again.usage, again.id === whole.id]).toEqual([whole.content, whole.usage, false]);
    const [streamed, replayed] = await twice(() => client.messages.stream(body).finalMessage());
    expect([replayed.content, replayed.stop_reason]).toEqual([streamed.content, streamed.stop_reason]);
  });

  test("@google/genai: streamed and not", async () => {
    const client = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: gateway.url } });
    const asked = { model, contents: content("lines") };
    const [whole, again] = await twice(() => client.models.generateContent(asked));
    expect([again.text, again.responseId === whole.responseId]).toEqual([whole.text, false]);
    const [chunks, replayed] = await twice(async () => {
      const texts = [];
      for await (const chunk of await client.models.generateContentStream(asked)) texts.push(chunk.text);
      return texts;
    });
    expect(replayed).toEqual(chunks);
  });

  test("metrics count what happened", async () => {
    // Four pairs of calls with openai, and two with each of the others; the first of each is stored.
    expect([await hits(), await metric("trivium_cache_lookups_total", "miss"), await stored()]).toEqual([8, 8, 8]);
    expect([await metric("trivium_cache_evictions_total"), await metric("trivium_cache_failures_total")]).toEqual([
      0, 0,
    ]);
    expect(await metric("trivium_cache_stores_total", "dropped")).toBe(0);
    expect(await metric("trivium_cache_saved_usd_total")).toBeGreaterThan(0);
  });
});

describe("docs/answer-cache.md", () => {
  test("keys, projects and the command line have the setting, and show and clear responses", async () => {
    await program("keys", "create", "--name", "web", "--cache", "ttl_seconds=3600,max_mb=100");
    const keys = JSON.parse((await program("keys", "list")).stdout) as { name: string; cache: object | null }[];
    expect(keys.find(({ name }) => name === "web")?.cache).toEqual({ ttl_seconds: 3600, max_mb: 100 });
    const cleared = JSON.parse((await program("keys", "update", "web", "--cache", "none")).stdout) as {
      cache: unknown;
    };
    expect(cleared.cache).toBeNull();
    const made = JSON.parse(
      (await program("projects", "create", "team", "--cache", "ttl_seconds=60,max_mb=5")).stdout,
    ) as {
      cache: object;
    };
    expect(made.cache).toEqual({ ttl_seconds: 60, max_mb: 5 });
    const wrong = await program("projects", "update", "team", "--cache", "ttl_seconds=60");
    expect([wrong.code === 0, wrong.stderr]).toEqual([false, expect.stringContaining("cache.max_mb")]);
    const { stdout } = await program("cache", "show", "--project", "default");
    expect(JSON.parse(stdout)).toMatchObject({ project: "default", entries: 8 });
    expect(JSON.parse((await admin("/api/projects/default/cache")).text)).toEqual({ data: JSON.parse(stdout) });
    expect((await admin("/api/projects/nowhere/cache")).status).toBe(404);
    const gone = await admin("/api/projects/default/cache", "DELETE");
    expect(JSON.parse(gone.text)).toEqual({ data: { project: "default", deleted: 8 } });
    expect(JSON.parse((await program("cache", "clear", "--project", "default")).stdout)).toEqual({
      project: "default",
      deleted: 0,
    });
    expect((await admin("/api/audit?act=cache.clear")).text).toContain('"cache.clear"');
  });
});
