import { describe, expect, test } from "bun:test";
import { SCRIPTED_DIALECTS, type ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { callGateway, errorOf } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { sendJson } from "../support/scripted-upstream.ts";

const { upstream, gateway } = await scriptedHarness();

/** A refusal of each dialect's host that names a field only in its details. */
const REFUSALS: Readonly<Record<ScriptedDialect, object>> = {
  chat: { error: { message: "Out of range.", type: "invalid_request_error", param: "top_p", code: null } },
  responses: { error: { message: "Out of range.", type: "invalid_request_error", param: "top_p", code: null } },
  messages: { type: "error", error: { type: "invalid_request_error", message: "top_p: Out of range." } },
  genai: {
    error: {
      code: 400,
      message: "Out of range.",
      status: "INVALID_ARGUMENT",
      details: [
        {
          "@type": "type.googleapis.com/google.rpc.BadRequest",
          fieldViolations: [{ field: "generation_config.top_p", description: "Out of range." }],
        },
      ],
    },
  },
};

describe("choices 4: an error message names the field, whatever else does", () => {
  for (const dialect of SCRIPTED_DIALECTS) {
    for (const stream of [false, true]) {
      test(`${dialect}, a host's refusal, ${stream ? "streamed" : "whole"}`, async () => {
        upstream.play((_request, response) => void sendJson(response, REFUSALS[dialect], 400));
        const response = await callGateway(gateway.url, dialect, gateway.key, { stream });
        const { status, message } = await errorOf(response);
        expect([status, message]).toEqual([400, expect.stringContaining("top_p")]);
      });
    }

    test(`${dialect}, refusals of the gateway`, async () => {
      const wrong: Readonly<Record<ScriptedDialect, [path: string, body: object][]>> = {
        chat: [
          ["messages[0].role", { messages: [{ role: "robot", content: "a" }] }],
          ["top_logprobs", { top_logprobs: 3 }],
          ["seed", { seed: 3 }],
          ["model", { model: 7 }],
        ],
        messages: [
          ["messages[0].content[0].type", { messages: [{ role: "user", content: [{ type: "robot" }] }] }],
          ["thinking.budget_tokens", { max_tokens: 1024, thinking: { type: "enabled", budget_tokens: 1024 } }],
          ["model", { model: "test/nobody" }],
        ],
        genai: [
          ["contents[0].parts[0]", { contents: [{ parts: [{}] }] }],
          ["generationConfig.logprobs", { generationConfig: { logprobs: 3 } }],
        ],
        responses: [
          ["input[0].role", { input: [{ role: "robot", content: "a" }] }],
          ["conversation", { conversation: "conv_1" }],
          ["top_logprobs", { top_logprobs: 30 }],
          ["model", { model: 7 }],
        ],
      };
      for (const [path, body] of wrong[dialect]) {
        const { status, message } = await errorOf(
          await callGateway(gateway.url, dialect, gateway.key, { body: { ...body } }),
        );
        expect([status >= 400 && status < 500, message]).toEqual([true, expect.stringContaining(path)]);
      }
    });
  }
});

const OPENAI = {
  error: { message: expect.any(String), type: "not_found_error", param: null, code: "unknown_address" },
};
const ANTHROPIC = {
  type: "error",
  error: { type: "not_found_error", message: expect.any(String) },
  request_id: expect.any(String),
};
const GOOGLE = { error: expect.objectContaining({ code: 404, status: "NOT_FOUND", message: expect.any(String) }) };

describe("choices 5: an unknown endpoint is answered in the protocol of the vendor that has it", () => {
  test.each([
    ["/v1/threads/thread_1/messages", OPENAI],
    ["/v1/chat/completions/completion_1/choices", OPENAI],
    ["/v1/images/variations", OPENAI],
    ["/v1/videos/characters", OPENAI],
    ["/v1/complete", ANTHROPIC],
    ["/v1alpha/authTokens", GOOGLE],
    ["/v1beta/models/gemini-2.5-flash:nothing", GOOGLE],
  ])("POST %s", async (path, body) => {
    const response = await fetch(gateway.url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: "{}",
    });
    expect([response.status, await response.json()]).toEqual([404, body]);
  });
});
