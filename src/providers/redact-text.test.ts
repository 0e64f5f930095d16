import { describe, expect, test } from "bun:test";
import { cpuMs } from "../base/cpu-time.sample.ts";
import { redactText } from "./redact-text.ts";

describe("S22: internals of a provider and its operator are removed", () => {
  test.each([
    ["connect to http://10.0.3.7:8000/v1/chat failed", "connect to [url] failed"],
    ["Visit https://platform.openai.com/account/rate-limits to learn more.", "Visit [url] to learn more."],
    ["see (https://a.example/b?c=d).", "see ([url])."],
    ["upstream 10.12.0.4:9443 refused it", "upstream [host] refused it"],
    ["no answer from [fe80::1:2]:8000 or ::1", "no answer from [host] or [host]"],
    ["vllm-0.vllm.prod.svc.cluster.local:8000 is full", "[host] is full"],
    ["llm-7.eu.corp.internal says no", "[host] says no"],
    ["tried localhost:8000", "tried [host]"],
    ["no capacity (host=gpu-node-17)", "no capacity (host=[host])"],
    [
      "Rate limit reached for gpt-4o in organization org-Ab12cd34Ef on tokens per min (TPM): Limit 30000, Used 29000. Please try again in 2.1s.",
      "Rate limit reached for gpt-4o in organization [id] on tokens per min (TPM): Limit 30000, Used 29000. Please try again in 2.1s.",
    ],
    [
      "This request would exceed your organization's limit (organization: 8f14e45f-ceea-467f-a8d1-0a1b2c3d4e5f) of 40,000 input tokens per minute.",
      "This request would exceed your organization's limit (organization: [id]) of 40,000 input tokens per minute.",
    ],
    ["bad field (request id: 021753abc)", "bad field (request id: [id])"],
    ["Request ID: req_011CSHoEeqs5C35K2UUqR7Fy", "Request ID: [id]"],
    ["quota of project_number:123456789012", "quota of project_number:[id]"],
    [
      "Publisher Model `projects/acme-prod-1/locations/global/publishers/google/models/gemini-x` was not found",
      "Publisher Model `projects/[id]/locations/global/publishers/google/models/gemini-x` was not found",
    ],
    ["arn:aws:bedrock:us-east-1:123456789012:inference-profile/x is unknown", "[id] is unknown"],
    ["account 123456789012 is not allowed", "account [id] is not allowed"],
    ["key sk-proj-ab12****9zZ is wrong", "key [key] is wrong"],
    ["Authorization: Bearer abcdef0123456789 was sent", "Authorization: Bearer [key] was sent"],
    ["ask admin@acme.example", "ask [email]"],
    ["failed in /usr/lib/python3/site-packages/vllm/engine.py: bad shape", "failed in [path]: bad shape"],
    ['bad value\nTraceback (most recent call last):\n  File "/app/x.py", line 3\nKeyError', "bad value"],
    ["trace 4bf92f3577b34da6a3ce929d0e0e4736", "trace [id]"],
  ])("%j", (text, cleaned) => {
    expect(redactText(text)).toBe(cleaned);
    expect(redactText(cleaned)).toBe(cleaned);
  });
});

describe("S22: details that a caller or its agent needs are kept exactly", () => {
  test.each([
    "prompt is too long: 210000 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again",
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130511 tokens. Please reduce the length of the messages.",
    "The input token count (1,200,000) exceeds the maximum number of tokens allowed (1048576).",
    "The model returned the following errors: Input is too long for requested model.",
    "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5-20250929",
    "messages.3.content.0.tool_result.tool_use_id: unexpected id toolu_01A09q90qw90lq917835lq9",
    "messages[2].tool_calls[0].id call_9Zb3a1f04c2d4e5f is answered twice",
    "Invalid schema for function 'get_weather': In context=('properties', 'city'), 'additionalProperties' is required",
    "GenerateContentRequest.generation_config.thinking_config.thinking_budget: must be between 512 and 24576",
    "* GenerateContentRequest.contents[1].parts: contents.parts must not be empty.",
    "The model `gpt-4.1-nano` does not exist or you do not have access to it.",
    "models/gemini-2.5-flash is not found for API version v1beta",
    "/messages/0/content must be a string",
    "Please try again in 6m11.52s. Limit 1000000 per request: 100000.",
    "Invalid 'messages[0].content': string too long. Expected a string with maximum length 10485760, but got 12000000 instead.",
    "stop: expected at most 4 items at 12:30:45, node.js 22.1.0",
    "tools.0.server: Field required",
    "tools.1.mcp.host: Input should be a valid string.",
    "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
  ])("%s", (text) => expect(redactText(text)).toBe(text));
});

test("S18: hostile text is cleaned quickly", () => {
  const started = cpuMs();
  for (const piece of [
    "a.",
    "a-",
    "1.",
    ":",
    "0:",
    "org-",
    "request id ",
    "http://",
    "/usr/",
    "eyJ",
    "\n at x",
    "@",
    "sk-",
  ])
    redactText(piece.repeat(2000 / piece.length));
  expect(cpuMs() - started).toBeLessThan(1000);
});
