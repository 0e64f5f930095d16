import { beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import type { JsonObject } from "../../src/base/json.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainAnswer, plainStream, plainUsage } from "../../testing/plain-answer.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { sdkFetch } from "../support/sdk-fetch.ts";

/** Decision 0102: features that messages and Responses have in different forms, from each vendor's SDK to the other's host. */

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.start({ config: modelsOfEveryDialect(UPSTREAM_URL) });
});

function play(host: "messages" | "responses", stream: boolean): void {
  const usage = plainUsage(host, 20, 4);
  harness.upstream.play(
    stream
      ? harness.upstream.stream(plainStream(host, ["It is ", "sunny."], usage))
      : harness.upstream.json(plainAnswer(host, { text: "It is sunny.", usage })),
  );
}

/** What the host was sent, and what the receipt notes. */
async function sent(): Promise<{ body: JsonObject; beta: string | undefined; fields: string[] }> {
  const [request] = harness.upstream.requests;
  const receipt = (await harness.receipts()).at(-1);
  return {
    body: JSON.parse(request?.body ?? "{}") as JsonObject,
    beta: request?.headers["anthropic-beta"],
    fields: (receipt?.fields ?? []).map(({ path, action }) => `${path} ${action}`),
  };
}

const URL = "https://mcp.example.com/sse";
const base = { baseURL: "http://gateway.test", maxRetries: 0 };

describe.each([false, true])("stream: %p", (stream) => {
  test("decision 0102: Anthropic's SDK reaches a Responses host", async () => {
    play("responses", stream);
    const client = new Anthropic({ ...base, authToken: TEST_KEY, apiKey: null, fetch: sdkFetch(harness) });
    const request: Anthropic.Beta.MessageCreateParamsNonStreaming = {
      model: "test/responses",
      max_tokens: 100,
      messages: [{ role: "user", content: "Hello" }],
      mcp_servers: [{ type: "url", name: "maps", url: URL, authorization_token: "token" }],
      tools: [
        { type: "mcp_toolset", mcp_server_name: "maps" },
        { name: "f", input_schema: { type: "object", properties: {} }, defer_loading: true },
      ],
      context_management: { edits: [{ type: "compact_20260112", trigger: { type: "input_tokens", value: 60_000 } }] },
    };
    const { messages } = client.beta;
    const answer = stream ? await messages.stream(request).finalMessage() : await messages.create(request);
    expect(answer.content).toMatchObject([{ type: "text", text: "It is sunny." }]);
    const { body, fields } = await sent();
    expect(body).toMatchObject({
      context_management: [{ type: "compaction", compact_threshold: 60_000 }],
      tools: [
        { type: "mcp", server_label: "maps", server_url: URL, authorization: "token", require_approval: "never" },
        { type: "function", name: "f" },
      ],
    });
    expect(JSON.stringify(body)).not.toContain("defer_loading");
    expect(fields).toEqual(["tools[1].defer_loading approximated"]);
  });

  test("decision 0102: OpenAI's SDK reaches a messages host, with the beta that it requires", async () => {
    play("messages", stream);
    const client = new OpenAI({
      ...base,
      baseURL: "http://gateway.test/v1",
      apiKey: TEST_KEY,
      fetch: sdkFetch(harness),
    });
    const request: OpenAI.Responses.ResponseCreateParamsNonStreaming = {
      model: "test/messages",
      input: "Hello",
      store: false,
      tools: [
        { type: "mcp", server_label: "maps", server_url: URL, allowed_tools: ["route"], require_approval: "never" },
      ],
    };
    const { responses } = client;
    const answer = stream
      ? await responses.stream({ ...request, stream: true }).finalResponse()
      : await responses.create(request);
    expect(answer.output_text).toBe("It is sunny.");
    const { body, beta, fields } = await sent();
    expect(body).toMatchObject({
      mcp_servers: [{ type: "url", name: "maps", url: URL }],
      tools: [{ type: "mcp_toolset", mcp_server_name: "maps", configs: { route: { enabled: true } } }],
    });
    expect([beta, fields]).toEqual(["mcp-client-2025-11-20", []]);
  });
});
