import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../base/json.ts";
import type { DialectName } from "../canon/dialect-name.ts";
import { DIALECTS, UPSTREAM_CODECS } from "./index.ts";
import { DEFAULT_QUIRKS } from "./quirks.ts";

/** A history in each protocol: `f` and `g` were called with one id, and `h` with the same id in the next response. */
const HISTORIES: Readonly<Record<DialectName, JsonObject>> = {
  chat: {
    messages: [
      { role: "user", content: "q" },
      {
        role: "assistant",
        content: null,
        tool_calls: ["f", "g"].map((name) => ({ id: "x", type: "function", function: { name, arguments: "{}" } })),
      },
      { role: "tool", tool_call_id: "x", content: "of f" },
      { role: "tool", tool_call_id: "x", content: "of g" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "x", type: "function", function: { name: "h", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "x", content: "of h" },
    ],
  },
  messages: {
    max_tokens: 10,
    messages: [
      { role: "user", content: "q" },
      { role: "assistant", content: ["f", "g"].map((name) => ({ type: "tool_use", id: "x", name, input: {} })) },
      {
        role: "user",
        content: ["of f", "of g"].map((content) => ({ type: "tool_result", tool_use_id: "x", content })),
      },
      { role: "assistant", content: [{ type: "tool_use", id: "x", name: "h", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "x", content: "of h" }] },
    ],
  },
  responses: {
    input: [
      { role: "user", content: "q" },
      ...["f", "g"].map((name) => ({ type: "function_call", call_id: "x", name, arguments: "{}" })),
      ...["of f", "of g"].map((output) => ({ type: "function_call_output", call_id: "x", output })),
      { type: "function_call", call_id: "x", name: "h", arguments: "{}" },
      { type: "function_call_output", call_id: "x", output: "of h" },
    ],
  },
  interactions: {
    input: [
      { type: "user_input", content: [{ type: "text", text: "q" }] },
      ...["f", "g"].map((name) => ({ type: "function_call", id: "x", name, arguments: {} })),
      ...["of f", "of g"].map((result) => ({ type: "function_result", call_id: "x", result })),
      { type: "function_call", id: "x", name: "h", arguments: {} },
      { type: "function_result", call_id: "x", result: "of h" },
    ],
  },
  genai: {
    contents: [
      { role: "user", parts: [{ text: "q" }] },
      { role: "model", parts: ["f", "g"].map((name) => ({ functionCall: { id: "x", name, args: {} } })) },
      {
        role: "user",
        parts: ["f", "g"].map((name) => ({
          functionResponse: { id: "x", name, response: { output: `of ${name}` } },
        })),
      },
      { role: "model", parts: [{ functionCall: { id: "x", name: "h", args: {} } }] },
      { role: "user", parts: [{ functionResponse: { id: "x", name: "h", response: { output: "of h" } } }] },
    ],
  },
};

const encode = (client: DialectName, target: DialectName): string => {
  const { body } = UPSTREAM_CODECS[target].encodeRequest(DIALECTS[client].codec.decodeRequest(HISTORIES[client]), {
    upstreamModel: "m",
    stream: false,
    traits: { reasoning: false },
    quirks: DEFAULT_QUIRKS[target],
    origin: target,
  });
  return JSON.stringify(body);
};

describe("mapping 4: a repeated id, on calls and results", () => {
  test.each(Object.keys(HISTORIES) as DialectName[])("from a client of %s", (client) => {
    const ids = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, id]) => id);
    const messages = encode(client, "messages");
    expect(ids(messages, /"type":"tool_use","id":"(\w+)"/g)).toEqual(["x", "x_2", "x_3"]);
    expect(ids(messages, /"tool_use_id":"(\w+)"/g)).toEqual(["x", "x_2", "x_3"]);
    const chat = encode(client, "chat");
    expect(ids(chat, /"id":"(\w+)","type":"function"/g)).toEqual(["x", "x_2", "x_3"]);
    expect(ids(chat, /"tool_call_id":"(\w+)"/g)).toEqual(["x", "x_2", "x_3"]);
    // H10: a result has the name of its own call.
    const genai = encode(client, "genai");
    for (const name of ["f", "g", "h"]) expect(genai).toContain(`"name":"${name}","response":{"output":"of ${name}"}`);
  });
});
