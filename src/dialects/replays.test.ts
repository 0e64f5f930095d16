import { describe, expect, test } from "bun:test";
import { EVERY_TARGET, TARGETS, translate } from "../../testing/translate-sample.ts";
import type { JsonObject } from "../base/json.ts";
import type { UpstreamDialectName } from "../canon/dialect-name.ts";

/** What a client sends back of a conversation reaches the provider in its original order. */

describe("H48: a result without content stays a result", () => {
  const requests: Record<string, ["messages" | "chat" | "responses", JsonObject]> = {
    "tool_result without content": [
      "messages",
      {
        model: "m",
        max_tokens: 100,
        messages: [
          { role: "user", content: "hi" },
          { role: "assistant", content: [{ type: "tool_use", id: "call_1", name: "look", input: {} }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1" }] },
        ],
      },
    ],
    "an empty message of a tool": [
      "chat",
      {
        model: "m",
        messages: [
          { role: "user", content: "hi" },
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "call_1", type: "function", function: { name: "look", arguments: "" } }],
          },
          { role: "tool", tool_call_id: "call_1", content: "" },
        ],
      },
    ],
    "function_call_output with an empty text": [
      "responses",
      {
        model: "m",
        input: [
          { role: "user", content: "hi" },
          { type: "function_call", call_id: "call_1", name: "look", arguments: "" },
          { type: "function_call_output", call_id: "call_1", output: "" },
        ],
      },
    ],
  };
  const resultIn: Record<UpstreamDialectName, RegExp> = {
    chat: /\{"role":"tool","tool_call_id":"call_1"/,
    messages: /\{"type":"tool_result","tool_use_id":"call_1"/,
    genai: /\{"functionResponse":\{"id":"call_1","name":"look"/,
    converse: /\{"toolResult":\{"toolUseId":"call_1"/,
    responses: /\{"type":"function_call_output","call_id":"call_1","output":""/,
    interactions: /\{"type":"function_result","call_id":"call_1","name":"look"/,
  };

  for (const [name, [dialect, body]] of Object.entries(requests)) {
    test.each(EVERY_TARGET.map((target) => [target.name, target] as const))(
      `${name}, towards %s`,
      async (_, target) => {
        const sent = JSON.stringify((await translate(dialect, body, target)).body);
        expect(sent).toMatch(resultIn[target.dialect]);
        // H49: the call before it has an empty object.
        expect(sent).toMatch(/"(?:arguments":"\{\}"|arguments":\{\}|input":\{\}|args":\{\})/);
      },
    );
  }
});

describe("H48: thoughts, texts and calls are sent back in their original order", () => {
  const signature = "c2lnbmVk";
  const content = [
    { type: "thinking", thinking: "One.", signature },
    { type: "text", text: "First." },
    { type: "tool_use", id: "toolu_1", name: "look", input: { at: 1 } },
    { type: "thinking", thinking: "Two.", signature },
    { type: "text", text: "Then." },
    { type: "tool_use", id: "toolu_2", name: "look", input: { at: 2 } },
  ];
  const body: JsonObject = {
    model: "m",
    max_tokens: 5000,
    thinking: { type: "enabled", budget_tokens: 1024 },
    tools: [{ name: "look", input_schema: { type: "object" } }],
    messages: [
      { role: "user", content: "hi" },
      { role: "assistant", content },
      {
        role: "user",
        content: ["toolu_1", "toolu_2"].map((tool_use_id) => ({ type: "tool_result", tool_use_id, content: "ok" })),
      },
    ],
  };
  const places = (text: string, ...words: string[]) => words.map((word) => text.indexOf(word));
  const inOrder = (found: number[]) => {
    expect(found).not.toContain(-1);
    expect(found).toEqual(found.toSorted((one, other) => one - other));
  };

  test.each(["messages", "converse"] as const)("all of them to %s, which made them", async (name) => {
    const sent = JSON.stringify((await translate("messages", body, TARGETS[name])).body);
    inOrder(places(sent, "One.", "First.", '"at":1', "Two.", "Then.", '"at":2'));
  });

  test.each(["genai", "responses"] as const)("texts and calls to %s", async (name) => {
    const sent = JSON.stringify((await translate("messages", body, TARGETS[name])).body).replaceAll('\\"', '"');
    inOrder(places(sent, "First.", '"at":1', "Then.", '"at":2'));
  });

  test("texts, then calls, to chat, whose messages have a field for each", async () => {
    const sent = JSON.stringify((await translate("messages", body, TARGETS.chat)).body).replaceAll('\\"', '"');
    inOrder(places(sent, "First.", "Then.", '"at":1', '"at":2'));
  });
});

describe("code that the provider ran, and its output", () => {
  const body: JsonObject = {
    model: "m",
    input: [
      { role: "user", content: "hi" },
      { type: "program", id: "prog_1", code: "1 + 1" },
      { type: "program_output", id: "po_1", result: "2" },
      { role: "user", content: "go on" },
    ],
  };

  test("are separate items for a host of the protocol", async () => {
    const sent = (await translate("responses", body, TARGETS.responses)).body["input"] as JsonObject[];
    expect(sent.map((item) => item["type"])).toEqual(["message", "program", "program_output", "message"]);
  });

  test("decision 0103: are text for a host of another protocol, and noted", async () => {
    for (const target of EVERY_TARGET) {
      if (target.dialect === "responses") continue;
      const { body: sent, notes } = await translate("responses", body, target);
      expect(notes.map(({ path }) => path)).toEqual(["input[1]", "input[2]"]);
      const text = JSON.stringify(sent);
      expect(text).toContain("Program that was run:\\n1 + 1");
      expect(text).toContain("Output of the program:\\n2");
    }
  });
});
