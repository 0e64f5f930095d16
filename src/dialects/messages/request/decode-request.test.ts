import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../base/json.ts";
import { encodeCarrier } from "../carriers.ts";
import { decodeRequest } from "./decode-request.ts";

describe("decoding for other targets", () => {
  const decode = (more: JsonObject) =>
    decodeRequest({ model: "m", max_tokens: 9, messages: [{ role: "user", content: "hi" }], ...more });

  test("contract 2.10: built-in client tools become functions with the documented arguments", () => {
    const [bash, editor, memory, computer, other] = decode({
      tools: [
        { type: "bash_20250124", name: "bash" },
        { type: "text_editor_20250728", name: "str_replace_based_edit_tool" },
        { type: "memory_20250818", name: "memory" },
        { type: "computer_20250124", name: "computer", display_width_px: 1024, display_height_px: 768 },
        { type: "hologram_20260101", name: "hologram" },
      ],
    }).tools;
    expect(bash).toMatchObject({
      type: "function",
      name: "bash",
      schema: { properties: { command: {}, restart: {} } },
    });
    expect(editor).toMatchObject({
      type: "function",
      schema: {
        properties: { command: { enum: ["view", "create", "str_replace", "insert"] } },
        required: ["command", "path"],
      },
    });
    expect(memory).toMatchObject({ type: "function", name: "memory", schema: { required: ["command"] } });
    expect(computer).toMatchObject({
      type: "function",
      name: "computer",
      description: expect.stringContaining("768 pixels high"),
      schema: { required: ["action"] },
    });
    expect(other).toMatchObject({ type: "native", dialect: "messages", name: "hologram" });
  });

  test("every field has its path; unknown fields become extras, fields that the gateway handles do not", () => {
    const call = decode({
      model: "m",
      stream: true,
      provider: { type: "priority" },
      temperature: 0,
      output_config: { effort: "low", task_budget: 1 },
      service_tier: "auto",
    });
    expect(call.paths).toEqual({ maxOutputTokens: "max_tokens", temperature: "temperature" });
    expect(call.extras.map(({ keys }) => keys.join("."))).toEqual(["output_config.task_budget", "service_tier"]);
    expect(call.reasoning).toEqual({ amount: "low", path: "output_config.effort" });
    expect(call.turns[0]?.parts).toEqual([{ type: "text", text: "hi", path: "messages[0].content" }]);
  });

  test("a host-side conversation is rejected with the details that make clients send all of it", () => {
    const refuse = () => decode({ thread: { type: "new" } });
    expect(refuse).toThrow(/thread/);
    try {
      refuse();
    } catch (error) {
      expect(error).toMatchObject({
        kind: "unsupported_parameter",
        upstreamDetails: { error_code: "thread_unsupported_request", unsupported: ["thread"] },
      });
    }
    expect(decode({ thread: null }).turns).toHaveLength(1);
  });

  test("H01: a carrier without its call is kept and not attached to another call", () => {
    const carrier = (value: string) =>
      encodeCarrier({ position: "next-call", signature: { origin: "genai", kind: "signature", value } });
    const call = { type: "tool_use", id: "toolu_1", name: "f", input: {} };
    const content = [carrier("orphan"), carrier("mine"), call, { ...call, id: "toolu_2" }, carrier("last")];
    const { turns } = decode({ messages: [{ role: "assistant", content }] });
    expect(turns[0]?.parts.map(({ type, signature }) => [type, signature?.value])).toEqual([
      ["reasoning", "orphan"],
      ["tool-call", "mine"],
      ["tool-call", undefined],
      ["reasoning", "last"],
    ]);
  });

  test("a system role inside messages is a system turn", () => {
    const { turns } = decode({
      messages: [
        { role: "user", content: "a" },
        { role: "system", content: [{ type: "text", text: "b" }] },
      ],
    });
    expect(turns.map(({ role }) => role)).toEqual(["user", "system"]);
    expect(turns[1]?.parts).toEqual([{ type: "text", text: "b", path: "messages[1].content[0]" }]);
  });
});
