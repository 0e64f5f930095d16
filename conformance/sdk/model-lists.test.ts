import { expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAi from "openai";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { collect, failureOf } from "./support.ts";

const { gateway } = await scriptedHarness((url) => ({ config: modelsOfEveryDialect(url) }));

/** The fields that the vendor's type requires, and no other. */
const MODEL_INFO = {
  id: expect.any(String),
  type: "model",
  capabilities: null,
  created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
  deprecated_at: null,
  display_name: expect.any(String),
  lifecycle: expect.stringMatching(/^(active|deprecated|retired)$/),
  line: null,
  max_input_tokens: expect.anything(),
  max_tokens: expect.anything(),
  retires_at: null,
} satisfies Record<keyof Anthropic.ModelInfo, unknown>;

test("@anthropic-ai/sdk at the compatible base URL: its own ModelInfo, page by page, in both directions", async () => {
  const client = new Anthropic({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0 });
  const all = await collect(client.models.list());
  const one = await client.models.retrieve("test/chat");
  expect<object>(one).toEqual(MODEL_INFO);
  for (const model of all) expect(Object.keys(model).sort()).toEqual(Object.keys(MODEL_INFO).sort());
  const ids = all.map(({ id }) => id);
  const paged = await collect(client.models.list({ limit: 2 }));
  expect(paged.map(({ id }) => id)).toEqual(ids);
  const last = ids.at(-1) ?? "";
  const back = await collect(client.models.list({ limit: 2, before_id: last }));
  expect(new Set(back.map(({ id }) => id))).toEqual(new Set(ids.slice(0, -1)));
  const wrong = new Anthropic({ baseURL: gateway.url, apiKey: "sk-trv-wrong", maxRetries: 0 });
  expect(await failureOf(wrong.models.list().then(({ data }) => data))).toMatchObject({
    status: 401,
    type: "authentication_error",
  });
});

test.each(["v1", "v1beta"])("@google/genai with version %s: the list is Google's, page by page", async (apiVersion) => {
  const open = (apiKey: string) =>
    new GoogleGenAI({ apiKey, apiVersion, httpOptions: { baseUrl: gateway.url } }).models;
  const namesOf = async (config: object) =>
    (await collect(await open(gateway.key).list({ config }))).map(({ name }) => name);
  const all = await namesOf({});
  expect(all).toContain("test/genai");
  expect(await namesOf({ pageSize: 2 })).toEqual(all);
  expect((await open(gateway.key).get({ model: "test/genai" })).name).toBe("test/genai");
  expect(await failureOf(open("sk-trv-wrong").list())).toMatchObject({ status: 401 });
});

test("openai: listing models detects a wrong key, and works with a right one", async () => {
  const open = (apiKey: string) => new OpenAi({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 }).models;
  expect((await collect(open(gateway.key).list())).map(({ id }) => id)).toContain("test/chat");
  expect(
    await failureOf(
      open("sk-trv-wrong")
        .list()
        .then(({ data }) => data),
    ),
  ).toMatchObject({
    status: 401,
    code: "invalid_api_key",
  });
});

/** Without `last_id` the SDK cannot request the next page: it would silently end after the first. */
test.each(["/api/msg", "/api/anthropic"])("contract 4: @anthropic-ai/sdk at %s lists every model", async (path) => {
  const client = new Anthropic({ baseURL: `${gateway.url}${path}`, apiKey: gateway.key, maxRetries: 0 });
  const all = await collect(client.models.list());
  expect(all.length).toBeGreaterThan(3);
  expect(await collect(client.models.list({ limit: 3 }))).toHaveLength(all.length);
});

test("@google/genai: an empty key is refused in model lists, like other wrong keys", async () => {
  const client = new GoogleGenAI({ apiKey: " ", httpOptions: { baseUrl: gateway.url } });
  expect(await failureOf(client.models.list())).toMatchObject({ status: 401 });
});
