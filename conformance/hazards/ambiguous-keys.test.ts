import { describe, expect, test } from "bun:test";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import { buildCall } from "../../testing/build-call.ts";
import { errorOf } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";

const { upstream, gateway } = await scriptedHarness();

/** The smallest body of the dialect with text inserted after its first brace. */
function sendWith(dialect: DialectName, door: "contract" | "dropin", members: string, stream = false) {
  const [url, init] = buildCall(gateway.url, dialect, gateway.key, { door, stream });
  return fetch(url, { ...init, body: `{${members},${String(init.body).slice(1)}` });
}

const CASES: [DialectName, members: string, field: string][] = [
  ["chat", '"Model":"test/dear"', "Model"],
  ["chat", '"model":"test/dear"', "model"],
  ["chat", '"N":50', "N"],
  ["chat", '"n":50,"n":1', "n"],
  ["chat", '"stream" :true', "stream"],
  ["chat", '"\\u0073tream":true', "stream"],
  ["chat", '"MAX_TOKENS":9', "MAX_TOKENS"],
  ["chat", '"max_completion_tokens":900000,"max_completion_tokens":1', "max_completion_tokens"],
  ["chat", '"messages":[{"role":"user","content":"another"}]', "messages"],
  ["chat", '"max_to\u212aens":1', '["max_to\u212aens"]'],
  ["chat", '"\u017ftream":true', '["\u017ftream"]'],
  ["chat", '"usage":{"include":true,"include":false}', "usage.include"],
  ["chat", '"Provider":{}', "Provider"],
  ["chat", '"stream_options":{"Include_usage":false}', "stream_options.Include_usage"],
  ["messages", '"Max_tokens":900000', "Max_tokens"],
  ["messages", '"max_tokens":900000', "max_tokens"],
  ["messages", '"thinking":{"type":"enabled","budget_tokens":1024,"budget_tokens":90}', "thinking.budget_tokens"],
  ["messages", '"tools":[{"name":"a","name":"b","input_schema":{"type":"object"}}]', "tools[0].name"],
  ["messages", '"PROVIDER":{}', "PROVIDER"],
  ["genai", '"generationConfig":{"maxOutputTokens":1,"max_output_tokens":9}', "generationConfig.max_output_tokens"],
  ["genai", '"generationConfig":{"CandidateCount":8}', "generationConfig.CandidateCount"],
  ["genai", '"generationConfig":{},"generation_config":{"candidateCount":8}', "generation_config"],
  ["genai", '"contents":[]', "contents"],
  ["genai", '"systemInstruction":{"parts":[{"text":"a","text":"b"}]}', "systemInstruction.parts[0].text"],
  ["responses", '"Model":"test/dear"', "Model"],
  ["responses", '"model":"test/dear"', "model"],
  ["responses", '"stream":true', "stream"],
  ["responses", '"MAX_OUTPUT_TOKENS":9', "MAX_OUTPUT_TOKENS"],
  ["responses", '"max_output_tokens":900000,"max_output_tokens":1', "max_output_tokens"],
  ["responses", '"store":true,"store":false', "store"],
  ["responses", '"Previous_response_id":"resp_1"', "Previous_response_id"],
  ["responses", '"input":[{"role":"user","content":"another"}]', "input"],
  ["responses", '"tools":[{"type":"function","name":"a","name":"b"}]', "tools[0].name"],
  ["responses", '"reasoning":{"effort":"low","Effort":"high"}', "reasoning.Effort"],
  ["responses", '"PROVIDER":{}', "PROVIDER"],
];

describe.each(["contract", "dropin"] as const)("S15 at the %s door: ambiguous requests", (door) => {
  test.each(CASES)("%s: {%s …} is refused with its name, and nothing is forwarded", async (dialect, members, field) => {
    const before = upstream.seen.length;
    for (const stream of [false, true]) {
      const response = await sendWith(dialect, door, members, stream);
      expect(response.status).toBe(400);
      expect((await errorOf(response)).message).toContain(field);
    }
    expect(upstream.seen).toHaveLength(before);
  });
});

describe("S15 elsewhere", () => {
  const post = (path: string, body: string | FormData, headers: Record<string, string> = {}) =>
    fetch(path, { method: "POST", headers: { authorization: `Bearer ${gateway.key}`, ...headers }, body });
  const json = { "content-type": "application/json" };

  test("counting tokens", async () => {
    const url = `${gateway.url}/api/msg/v1/messages/count_tokens`;
    const body = '{"model":"test/messages","model":"test/chat","messages":[{"role":"user","content":"a"}]}';
    const response = await post(url, body, { ...json, "partner-version": "2023-06-01" });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("Duplicate field model.");
  });

  test.each([
    ["/api/v1/images/generations", '{"model":"a/b","prompt":"x","n":1,"n":9}', "Duplicate field n."],
    ["/api/v1/images/generations", '{"model":"a/b","prompt":"x","N":9}', "N must be written n"],
    [
      "/api/genai/v1/publishers/a/models/b:predict",
      '{"instances":[{"prompt":"x"}],"parameters":{"sampleCount":1,"sampleCount":9}}',
      "Duplicate field parameters.sampleCount.",
    ],
    [
      "/api/genai/v1/publishers/a/models/b:predictLongRunning",
      '{"instances":[{"prompt":"x","prompt":"y"}]}',
      "Duplicate field instances[0].prompt.",
    ],
  ])("POST %s %s", async (path, body, message) => {
    const response = await post(gateway.url + path, body, json);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(message);
  });

  test.each(["model", "prompt", "n", "stream"])("a form with %s twice", async (field) => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ model: "a/b", prompt: "x", n: "1", stream: "false", [field]: "1" })) {
      form.append(name, value);
    }
    form.append(field, "2");
    const response = await post(`${gateway.url}/api/v1/images/edits`, form);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(`${field} is given more than once`);
  });

  test("S15: a key whose limits are given twice is not created", async () => {
    const body = '{"name":"twice","limits":{"requests_per_minute":1},"limits":{"requests_per_minute":1000}}';
    const headers = { authorization: `Bearer ${gateway.adminSecret}`, ...json };
    const response = await fetch(`${gateway.adminUrl}/api/keys`, { method: "POST", headers, body });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("Duplicate field limits.");
    const listed = (await (await fetch(`${gateway.adminUrl}/api/keys`, { headers })).json()) as { data: object[] };
    expect(JSON.stringify(listed)).not.toContain("twice");
  });
});
