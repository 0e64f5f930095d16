import { beforeAll, describe, expect, test } from "bun:test";
import { arrayAt, isObject, type JsonObject, objectAt, parseObject } from "../../src/base/json.ts";
import { readFrames } from "../../src/wire/sse.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { ResponsesScript, responsesAnswer } from "../../testing/wires/responses-wire.ts";

/** Decision 0092: a chat client with tools, over several turns, at a model that accepts tools only in Responses. */

let harness: Harness;
beforeAll(async () => {
  const { models, ...config } = modelsOfEveryDialect(UPSTREAM_URL) as { models: object[] };
  const offers = [{ provider: "up-chat", model: "newest", tools_dialect: "responses" }];
  harness = await Harness.start({
    config: { ...config, models: [...models, { ...models[0], id: "test/newest", reasoning: true, offers }] },
  });
});

const USAGE = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 20, cache_write_tokens: 30 },
  output_tokens: 12,
  output_tokens_details: { reasoning_tokens: 7 },
  total_tokens: 112,
};
const THOUGHT = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAAsealed" };
const CALL = { type: "function_call", id: "fc_1", call_id: "call_1", name: "look", arguments: '{"at":"sky"}' };
const MODERATION = { input: { type: "moderation_result", flagged: false }, output: null };
const TOOLS = [{ type: "function", function: { name: "look", parameters: { type: "object", properties: {} } } }];
const ASKED = { role: "user", content: "What is the weather?" };

/** The host calls the tool, or answers, with the same usage each time. */
function play(output: readonly object[], stream: boolean): void {
  const response = { ...responsesAnswer("", USAGE), output, moderation: MODERATION, service_tier: "ultrafast" };
  if (!stream) {
    harness.upstream.play(harness.upstream.json(response));
    return;
  }
  const script = new ResponsesScript();
  const created = script.event("created", {
    response: { ...response, status: "in_progress", output: [], usage: null },
  });
  const items = output.flatMap((item, output_index) => [
    script.event("output_item.added", { output_index, item: { ...item, arguments: "", status: "in_progress" } }),
    script.event("output_item.done", { output_index, item }),
  ]);
  harness.upstream.play(
    harness.upstream.stream(`${created}${items.join("")}${script.event("completed", { response })}`),
  );
}

/** The client's message, put together from a stream or not, as clients do. */
function messageIn(text: string, stream: boolean): JsonObject {
  if (!stream) return objectAt(arrayAt(parseObject(text), "choices")[0], "message") ?? {};
  const deltas = readFrames(text)
    .map(({ data }) => objectAt(arrayAt(parseObject(data ?? ""), "choices")[0], "delta"))
    .filter(isObject);
  const listOf = (field: string) => deltas.flatMap((delta) => arrayAt(delta, field)).filter(isObject);
  const [call, ...pieces] = listOf("tool_calls");
  const written = [call, ...pieces].map((piece) => String(objectAt(piece, "function")?.["arguments"] ?? "")).join("");
  return {
    role: "assistant",
    content: null,
    tool_calls: [{ ...call, function: { ...objectAt(call, "function"), arguments: written } }],
    reasoning_details: listOf("reasoning_details"),
  };
}

describe.each([false, true])("streamed: %p", (stream) => {
  test("reasoning comes back before its call, and each call is billed once", async () => {
    play([THOUGHT, CALL], stream);
    const moderation = { model: "omni-moderation-latest" };
    const asked = { tools: TOOLS, service_tier: "ultrafast", moderation };
    const options = { door: "dropin", model: "test/newest", stream } as const;
    const first = await harness.call("chat", { ...options, body: { ...asked, messages: [ASKED] } });
    expect(first.status).toBe(200);
    const [request] = harness.upstream.requests.slice(-1);
    expect(request?.url).toEndWith("/responses");
    const receipt = await harness.receipt(first);
    expect(receipt.dialect).toEqual({ client: "chat", upstream: "responses" });
    expect(receipt.usage).toMatchObject({ input: 50, cache_read: 20, cache_write_5m: 30, output: 5, reasoning: 7 });
    const message = messageIn(first.text, stream);
    const result = { role: "tool", tool_call_id: "call_1", content: "clear" };
    play([CALL], stream);
    await harness.call("chat", { ...options, body: { ...asked, messages: [ASKED, message, result] } });
    const sent = parseObject(String(harness.upstream.requests.at(-1)?.body)) ?? {};
    expect(sent).toMatchObject({ service_tier: "ultrafast", moderation });
    expect(arrayAt(sent, "input").slice(1)).toMatchObject([
      { type: "reasoning", id: "rs_1", encrypted_content: "gAAAAsealed" },
      { type: "function_call", call_id: "call_1", arguments: '{"at":"sky"}' },
      { type: "function_call_output", call_id: "call_1", output: "clear" },
    ]);
    // The scripted answer names another model (H62).
    expect(receipt.fields.map(({ path }) => path).sort()).toEqual(["answer.moderation", "model"]);
  });
});
