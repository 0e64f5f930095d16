import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../src/base/json.ts";
import type { DialectName } from "../src/canon/dialect-name.ts";
import type { CallOptions } from "../testing/build-call.ts";
import { plainAnswer, plainUsage } from "../testing/plain-answer.ts";
import { SCRIPTED_DIALECTS } from "../testing/sampled-dialects.ts";
import { callGateway, errorOf } from "./support/client-calls.ts";
import { scriptedHarness } from "./support/scripted-harness.ts";
import { sendJson } from "./support/scripted-upstream.ts";

/** What a host would refuse or misread is adapted on the way to it and noted in the receipt. */
const { upstream, gateway } = await scriptedHarness();

/** The forwarded text, and the receipt's notes about it. */
async function sent(dialect: DialectName, options: CallOptions): Promise<{ text: string; notes: string[] }> {
  upstream.play(({ path }, response) => {
    const asked = SCRIPTED_DIALECTS.find((name) => path.includes(`/${name}`)) ?? "genai";
    sendJson(response, plainAnswer(asked, { text: "hi", usage: plainUsage(asked, 5, 1) }));
  });
  const response = await callGateway(gateway.url, dialect, gateway.key, options);
  expect(response.status).toBe(200);
  await response.text();
  const { fields } = await gateway.receipt(response);
  return { text: upstream.seen[0]?.body ?? "", notes: fields.map(({ path, action }) => `${action} ${path}`) };
}

test("choices 3: max_tokens replaces max_completion_tokens, even if that is null", async () => {
  for (const limits of [
    { max_tokens: 3, max_completion_tokens: null },
    { max_completion_tokens: null, max_tokens: 3 },
  ]) {
    const { text } = await sent("chat", { door: "dropin", body: limits });
    expect(text.match(/max_[a-z_]*tokens/g)).toEqual(["max_completion_tokens"]);
    expect(JSON.parse(text)).toMatchObject({ max_completion_tokens: 3 });
  }
});

test("R24, R16: a Responses limit below the minimum is raised, and an empty tool list is dropped with its tool choice", async () => {
  const body = { max_output_tokens: 5, tools: [], tool_choice: "auto", parallel_tool_calls: false };
  const { text, notes } = await sent("responses", { body });
  expect(JSON.parse(text)).toMatchObject({ max_output_tokens: 16, store: false });
  expect(text).not.toContain("tool");
  expect(notes).toEqual(["approximated max_output_tokens"]);
});

test("choices 3, mapping 6: a system message within a conversation is sent as the user's, in tags", async () => {
  const messages = [
    { role: "user", content: "one" },
    { role: "assistant", content: "two" },
    { role: "system", content: "Be brief." },
    { role: "user", content: "three" },
  ];
  const { text, notes } = await sent("messages", { body: { messages } });
  const up = JSON.parse(text) as { messages: { role: string; content: unknown }[] };
  expect(up.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  expect(JSON.stringify(up.messages.at(-1)?.content)).toContain("<system>\\nBe brief.\\n</system>");
  expect(notes).toEqual(["approximated messages[2]"]);
});

test("contract 2.6: a harm-judging method is dropped if the host does not know it", async () => {
  const setting = { category: "HARM_CATEGORY_HATE_SPEECH", threshold: "OFF" };
  const safetySettings = [setting, { ...setting, method: "SEVERITY" }];
  const { text, notes } = await sent("genai", { body: { safetySettings } });
  expect((JSON.parse(text) as JsonObject)["safetySettings"]).toEqual([setting, setting]);
  expect(notes).toEqual(["dropped safetySettings[1].method"]);
});

describe("H09, choices 6, 8: the gateway's own options are never forwarded and need no note", () => {
  const headers = {
    "x-trivium-routing": '{"provider":{"type":"least_latency"}}',
    "x-trivium-survive": "true",
    "x-trivium-hedge": "false",
    "x-trivium-deadline-ms": "60000",
    "x-trivium-strict": "true",
  };

  test.each([...SCRIPTED_DIALECTS])("in headers of %s, strict or not", async (dialect) => {
    const { text, notes } = await sent(dialect, { headers });
    expect(notes).toEqual([]);
    expect(text).not.toContain("least_latency");
  });

  test.each([...SCRIPTED_DIALECTS])("in the body of %s, in both lanes", async (dialect) => {
    const body = { trivium: { survive: true, deadline_ms: 60_000 }, provider: { type: "priority" } };
    for (const model of SCRIPTED_DIALECTS.map((name) => `test/${name}`)) {
      const { text, notes } = await sent(dialect, { model, body });
      expect(text).not.toContain("survive");
      expect(text).not.toContain("priority");
      expect(notes.filter((note) => /trivium|provider/.test(note))).toEqual([]);
    }
  });

  test.each([...SCRIPTED_DIALECTS])(
    "an unknown member is noted in the receipt of %s, and refused in a strict call",
    async (dialect) => {
      const body = { provider: { sort: "price" } };
      expect((await sent(dialect, { body })).notes).toContain("dropped provider.sort");
      const strict = { body, headers: { "x-trivium-strict": "true" } };
      const refused = await errorOf(await callGateway(gateway.url, dialect, gateway.key, strict));
      expect(refused).toMatchObject({ status: 400, message: expect.stringContaining("provider.sort") });
    },
  );
});

test("H11: a count request that contains the whole request is estimated from it", async () => {
  const contents = [{ role: "user", parts: [{ text: "word ".repeat(500) }] }];
  const count = async (body: object) => {
    const url = `${gateway.url}/api/genai/v1beta/models/test/chat:countTokens`;
    const headers = { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" };
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    return ((await response.json()) as { totalTokens: number }).totalTokens;
  };
  expect(await count({ generateContentRequest: { model: "models/test/chat", contents } })).toBe(
    await count({ contents }),
  );
});

test("H11: text that only looks like media is counted as text", async () => {
  const count = async (text: string) => {
    const url = `${gateway.url}/api/genai/v1beta/models/test/chat:countTokens`;
    const headers = { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" };
    const body = JSON.stringify({ contents: [{ role: "user", parts: [{ text }] }] });
    const response = await fetch(url, { method: "POST", headers, body });
    return ((await response.json()) as { totalTokens: number }).totalTokens;
  };
  expect(await count(`data: ${"12.5 apples; ".repeat(3_000)}`)).toBeGreaterThan(9_000);
  expect(await count("deadbeef".repeat(5_000))).toBeGreaterThan(9_000);
});

test("choices 4: a number that JSON cannot represent is refused by name", async () => {
  const [body, limit] = [
    `{"model":"test/chat","messages":[{"role":"user","content":"a"}],"temperature":1e999}`,
    "temperature",
  ];
  const headers = { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" };
  const response = await fetch(`${gateway.url}/api/v1/chat/completions`, { method: "POST", headers, body });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { param: limit } });
});

test("contract 2.6: a count in a schema is a number or digits", async () => {
  const schema = (minItems: unknown) => ({
    generationConfig: {
      responseMimeType: "application/json",
      responseSchema: { type: "ARRAY", items: { type: "STRING" }, minItems },
    },
  });
  await sent("genai", { body: schema("2") });
  const refused = await callGateway(gateway.url, "genai", gateway.key, { body: schema("x") });
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain("generationConfig.responseSchema.minItems");
});
