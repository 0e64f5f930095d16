import { describe, expect, test } from "bun:test";
import { checkedRequest, EVERY_TARGET, TARGETS, type Target, translate } from "../../testing/translate-sample.ts";
import type { JsonObject } from "../base/json.ts";
import type { DialectName, UpstreamDialectName } from "../canon/dialect-name.ts";
import type { FieldNote } from "../canon/receipt.ts";
import { DIALECTS } from "./index.ts";
import { quirksOf } from "./quirks.ts";

/** Sessions that use features of one protocol and continue at hosts of the others. */

const told = (notes: readonly FieldNote[]) => notes.map(({ path, action }) => `${path} ${action}`);

async function sent(client: DialectName, body: JsonObject, target: Target) {
  const made = await translate(client, checkedRequest(client, JSON.stringify(body), "dropin"), target);
  return { ...made, text: JSON.stringify(made.body), told: told(made.notes) };
}

const others = (client: DialectName): readonly Target[] => EVERY_TARGET.filter(({ dialect }) => dialect !== client);
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const PDF = "JVBERi0xLjQKJSVFT0YK";

describe("H50: a system message in mid-conversation", () => {
  const NOTE = "The shop closes soon.";
  const CLIENTS: Partial<Record<DialectName, (between: boolean) => JsonObject>> = {
    chat: (between) => {
      const call = {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "call_1", type: "function", function: { name: "f", arguments: "{}" } }],
      };
      const note = { role: "system", content: NOTE };
      const result = { role: "tool", tool_call_id: "call_1", content: "r1" };
      const messages = [{ role: "user", content: "u1" }, call, ...(between ? [note, result] : [result, note])];
      return { model: "m", messages, tools: [{ type: "function", function: { name: "f" } }] };
    },
    messages: (between) => {
      const call = { role: "assistant", content: [{ type: "tool_use", id: "call_1", name: "f", input: {} }] };
      const note = { role: "system", content: NOTE };
      const result = { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: "r1" }] };
      const messages = [{ role: "user", content: "u1" }, call, ...(between ? [note, result] : [result, note])];
      return { model: "m", max_tokens: 100, messages, tools: [{ name: "f", input_schema: { type: "object" } }] };
    },
    responses: (between) => {
      const call = { type: "function_call", call_id: "call_1", name: "f", arguments: "{}" };
      const note = { role: "system", content: NOTE };
      const result = { type: "function_call_output", call_id: "call_1", output: "r1" };
      const input = [{ role: "user", content: "u1" }, call, ...(between ? [note, result] : [result, note])];
      return {
        model: "m",
        input,
        tools: [{ type: "function", name: "f", parameters: { type: "object", properties: {} } }],
      };
    },
  };

  for (const [client, bodyOf] of Object.entries(CLIENTS) as [DialectName, (between: boolean) => JsonObject][]) {
    test.each(others(client).map((target) => [target.name, target] as const))(
      `${client} to %s: it stays after the result, and is noted if it is no longer a system message`,
      async (name, target) => {
        for (const between of [false, true]) {
          const { text, told: notes } = await sent(client, bodyOf(between), target);
          const [call, result, note] = ["call_1", "r1", NOTE].map((word) => text.indexOf(word)) as [
            number,
            number,
            number,
          ];
          const keepsPlace = name === "responses" && between;
          expect([call < result, keepsPlace || result < note, note > call]).toEqual([true, true, true]);
          const isSystem = /"role":"system"[^{}]*The shop closes soon/.test(text);
          expect(isSystem).toBe(name === "chat" || name === "responses");
          // The path identifies the message.
          const path = client === "responses" ? "input" : "messages";
          const noted = notes.some((one) => one.startsWith(`${path}[`) && one.endsWith("approximated"));
          expect(noted).toBe(!isSystem || (between && name === "chat"));
        }
      },
    );
  }

  test("a model that accepts system messages gets it as one where allowed", async () => {
    const { context, ...target } = TARGETS.messages;
    const quirks = { ...context.quirks, systemMessages: true };
    const taking = { ...target, context: { ...context, quirks, traits: { ...context.traits, systemMessages: true } } };
    const { body, told: notes } = await sent("chat", CLIENTS.chat?.(false) ?? {}, taking);
    expect((body["messages"] as JsonObject[]).at(-1)).toMatchObject({ role: "system" });
    expect(notes).toEqual([]);
  });
});

describe("H51: tools that are searched for, deferred or added", () => {
  const SEARCHED: JsonObject = {
    model: "m",
    max_tokens: 100,
    tools: [
      { type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex" },
      { name: "weather", input_schema: { type: "object" }, defer_loading: true },
    ],
    messages: [
      { role: "user", content: "What is the weather?" },
      {
        role: "assistant",
        content: [
          { type: "server_tool_use", id: "srvtoolu_1", name: "tool_search_tool_regex", input: { query: "weather" } },
          {
            type: "tool_search_tool_result",
            tool_use_id: "srvtoolu_1",
            content: {
              type: "tool_search_tool_search_result",
              tool_references: [{ type: "tool_reference", tool_name: "weather" }],
            },
          },
          { type: "tool_use", id: "toolu_1", name: "find_tools", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "toolu_1", content: [{ type: "tool_reference", tool_name: "weather" }] },
          {
            type: "tool_addition",
            tool: { type: "tool_definition", definition: { name: "added", input_schema: { type: "object" } } },
          },
        ],
      },
    ],
  };

  test.each(others("messages").map((target) => [target.name, target] as const))(
    "messages to %s: every tool is sent, and search results become text",
    async (_, target) => {
      const { text, told: notes } = await sent("messages", SEARCHED, target);
      expect(text).toContain("The tool weather is available.");
      expect(text).toContain('"added"');
      expect(text).not.toMatch(/defer_loading|tool_search|tool_addition/);
      expect(notes).toEqual(
        expect.arrayContaining([
          "messages[2].content[0].content[0] approximated",
          "messages[2].content[1] approximated",
          "tools[0] approximated",
          "tools[1].defer_loading approximated",
        ]),
      );
    },
  );

  test("in their own protocol they are sent back unchanged", async () => {
    const { body, told: notes } = await sent("messages", SEARCHED, TARGETS.messages);
    expect(body["tools"]).toEqual(SEARCHED["tools"]);
    const last = (body["messages"] as { content: unknown }[]).at(-1);
    expect(last?.content).toEqual((SEARCHED["messages"] as { content: unknown }[]).at(-1)?.content);
    expect(notes).toEqual([]);
  });

  const LOADED: JsonObject = {
    model: "m",
    tools: [
      { type: "tool_search" },
      { type: "function", name: "listed", parameters: { type: "object" }, defer_loading: true },
    ],
    input: [
      { role: "user", content: "What is the weather?" },
      { type: "tool_search_call", call_id: "call_s", execution: "client", arguments: {} },
      {
        type: "tool_search_output",
        call_id: "call_s",
        execution: "client",
        tools: [
          { type: "function", name: "weather", parameters: { type: "object" } },
          { type: "function", name: "listed", parameters: { type: "object" } },
        ],
      },
      {
        type: "additional_tools",
        role: "developer",
        tools: [{ type: "function", name: "added", parameters: { type: "object" } }],
      },
      { type: "function_call", call_id: "call_1", name: "weather", arguments: "{}" },
      { type: "function_call_output", call_id: "call_1", output: "Rain." },
    ],
  };

  test.each(others("responses").map((target) => [target.name, target] as const))(
    "responses to %s: tools that items define are sent from the start",
    async (_, target) => {
      const { text, told: notes } = await sent("responses", LOADED, target);
      for (const name of ["weather", "listed", "added"]) expect(text).toContain(`"name":"${name}"`);
      expect(text.match(/"name":"listed"/g)).toHaveLength(1);
      expect(notes).toEqual(
        expect.arrayContaining(["input[2] approximated", "input[3] approximated", "tools[0] approximated"]),
      );
    },
  );

  test("in Responses they stay in their items", async () => {
    const { body } = await sent("responses", LOADED, TARGETS.responses);
    expect(body["tools"]).toMatchObject(LOADED["tools"] as object);
    expect((body["input"] as { type: string }[]).map(({ type }) => type)).toEqual([
      "message",
      "tool_search_call",
      "tool_search_output",
      "additional_tools",
      "function_call",
      "function_call_output",
    ]);
  });
});

describe("H52: compaction", () => {
  const COMPACTED: JsonObject = {
    model: "m",
    max_tokens: 100,
    context_management: { edits: [{ type: "compact_20260112" }] },
    messages: [
      { role: "user", content: "Go on." },
      {
        role: "assistant",
        content: [
          { type: "compaction", content: "We planned a trip to Oslo.", signature: "c2ln" },
          { type: "text", text: "Where were we?" },
        ],
      },
      { role: "user", content: "What did we plan?" },
    ],
  };

  test.each(others("messages").map((target) => [target.name, target] as const))(
    "messages to %s: the summary is sent as text, and compaction is noted",
    async (_, target) => {
      const { text, told: notes } = await sent("messages", COMPACTED, target);
      expect(text).toContain("We planned a trip to Oslo.");
      expect(text).not.toContain("context_management");
      expect(notes).toContain("messages[1].content[0] approximated");
      expect(notes).toContain("context_management dropped");
    },
  );

  test("blocks and items are sent back to their own protocol unchanged", async () => {
    const { body, told: notes } = await sent("messages", COMPACTED, TARGETS.messages);
    expect(body).toMatchObject({ context_management: COMPACTED["context_management"] });
    expect(JSON.stringify(body["messages"])).toContain(
      '{"type":"compaction","content":"We planned a trip to Oslo.","signature":"c2ln"}',
    );
    expect(notes).toEqual([]);
    const items = [
      { type: "compaction", id: "cmp_1", encrypted_content: "c2VhbGVk" },
      { type: "message", role: "user", content: "Go on." },
    ];
    const responses = {
      model: "m",
      input: items,
      context_management: [{ type: "compaction", compact_threshold: 9000 }],
    };
    const own = await sent("responses", responses, TARGETS.responses);
    expect(own.body).toMatchObject({ input: items, context_management: responses.context_management });
    for (const target of others("responses")) {
      const { told: elsewhere, text } = await sent("responses", responses, target);
      expect(text).not.toContain("c2VhbGVk");
      expect(elsewhere).toEqual(expect.arrayContaining(["input[0] dropped", "context_management dropped"]));
    }
  });

  test("it is not requested from a host without betas on the native lane, with a note in the receipt", () => {
    const native = (forwardBetas: boolean) =>
      DIALECTS.messages.native.prepareRequest(
        { text: JSON.stringify(COMPACTED), body: COMPACTED },
        {
          upstreamModel: "m",
          stream: false,
          door: "dropin",
          maxOutputTokens: undefined,
          reasons: true,
          quirks: quirksOf("messages", { messages: { forwardBetas } }),
          knownEfforts: undefined,
        },
      );
    const [known, unknown] = [native(true), native(false)];
    expect([String(known.payload).includes("context_management"), told(known.notes)]).toEqual([true, []]);
    expect(String(unknown.payload)).not.toContain("context_management");
    expect(told(unknown.notes)).toEqual(["context_management dropped"]);
  });
});

describe("H53: images and files in a tool result", () => {
  const CLIENTS: Record<DialectName, JsonObject> = {
    interactions: {
      model: "m",
      input: [
        { type: "user_input", content: [{ type: "text", text: "u" }] },
        { type: "function_call", id: "call_1", name: "f", arguments: {} },
        {
          type: "function_result",
          call_id: "call_1",
          result: [
            { type: "image", data: PIXEL, mime_type: "image/png" },
            { type: "document", data: PDF, mime_type: "application/pdf" },
          ],
        },
      ],
    },
    chat: {
      model: "m",
      messages: [
        { role: "user", content: "u" },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "call_1", type: "function", function: { name: "f", arguments: "{}" } }],
        },
        {
          role: "tool",
          tool_call_id: "call_1",
          content: [
            { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } },
            { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${PDF}` } },
          ],
        },
      ],
    },
    messages: {
      model: "m",
      max_tokens: 100,
      messages: [
        { role: "user", content: "u" },
        { role: "assistant", content: [{ type: "tool_use", id: "call_1", name: "f", input: {} }] },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "call_1",
              content: [
                { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } },
                { type: "document", source: { type: "base64", media_type: "application/pdf", data: PDF } },
              ],
            },
          ],
        },
      ],
    },
    genai: {
      contents: [
        { role: "user", parts: [{ text: "u" }] },
        { role: "model", parts: [{ functionCall: { name: "f", args: {} } }] },
        {
          role: "user",
          parts: [
            {
              functionResponse: {
                name: "f",
                response: {},
                parts: [
                  { inlineData: { mimeType: "image/png", data: PIXEL } },
                  { inlineData: { mimeType: "application/pdf", data: PDF } },
                ],
              },
            },
          ],
        },
      ],
    },
    responses: {
      model: "m",
      input: [
        { role: "user", content: "u" },
        { type: "function_call", call_id: "call_1", name: "f", arguments: "{}" },
        {
          type: "function_call_output",
          call_id: "call_1",
          output: [
            { type: "input_image", image_url: `data:image/png;base64,${PIXEL}` },
            { type: "input_file", filename: "a.pdf", file_data: `data:application/pdf;base64,${PDF}` },
          ],
        },
      ],
    },
  };
  /** Dialects whose results hold no media at usual hosts: the media follow the result, with a note in the receipt. */
  const MOVES: readonly UpstreamDialectName[] = ["chat", "genai"];

  for (const [client, body] of Object.entries(CLIENTS) as [DialectName, JsonObject][]) {
    test.each(others(client).map((target) => [target.name, target] as const))(
      `${client} to %s`,
      async (name, target) => {
        const takesAll = {
          ...target.context,
          quirks: { ...target.context.quirks, media: ["image", "document"] as const },
        };
        const { text, told: notes } = await sent(client, body, { ...target, context: takesAll });
        expect([text.includes(PIXEL), text.includes(PDF)]).toEqual([true, true]);
        const moved = notes.some((note) => note.endsWith("approximated"));
        if (MOVES.includes(name as UpstreamDialectName)) expect(moved).toBe(true);
        expect(notes.filter((note) => note.endsWith("dropped"))).toEqual([]);
      },
    );

    test.each(others(client).map((target) => [target.name, target] as const))(
      `${client} to %s: media that the host does not accept are noted`,
      async (_, target) => {
        const takesNone = { ...target.context, quirks: { ...target.context.quirks, media: [] } };
        const { text, told: notes } = await sent(client, body, { ...target, context: takesNone });
        const isNoted = notes.some((note) => note.endsWith("dropped"));
        expect([text.includes(PIXEL), isNoted]).toContain(true);
      },
    );
  }
});
