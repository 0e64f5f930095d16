import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../base/json.ts";
import type { Part } from "../../../canon/part.ts";
import { assistant, encode, TOOL, user } from "../call.sample.ts";

describe("tools and response formats", () => {
  const format = {
    type: "schema",
    schema: { type: "object", properties: { n: { type: "integer", minimum: 1 } } },
  } as const;
  const paths = { format: "response_format" };

  test("H08: a schema is sent where the host enforces it, without the keywords it rejects", () => {
    const { body, notes, reading } = encode({ format, paths });
    expect(body["output_config"]).toEqual({
      format: {
        type: "json_schema",
        schema: {
          type: "object",
          properties: { n: { type: "integer", description: "(minimum: 1)" } },
          additionalProperties: false,
        },
      },
    });
    expect(reading).toEqual({});
    expect(notes).toEqual(["approximated response_format"]);
  });

  test("a schema whose root is not an object is wrapped, and the response is unwrapped", () => {
    const list = { type: "schema", schema: { type: "array", items: { type: "string" } } } as const;
    expect(encode({ format: list }).reading).toEqual({ unwrapMember: "answer" });
  });

  test("a host without schemas gets a tool that it must call, without thinking", () => {
    const taken = { ...TOOL, name: "answer" };
    const alone = encode({ format, paths, reasoning: { amount: "low", path: "r" } }, {}, { structuredOutput: false });
    expect(alone.body).toMatchObject({
      tools: [{ name: "answer", input_schema: format.schema }],
      tool_choice: { type: "tool", name: "answer" },
    });
    expect(alone.body["thinking"]).toBeUndefined();
    expect(alone.notes).toEqual(["approximated response_format", "dropped r"]);
    const unasked = encode({ format, paths }, { reasoningForm: "adaptive", structuredOutput: false });
    expect(unasked.body["thinking"]).toEqual({ type: "disabled" });
    const beside = encode({ format, paths, tools: [taken] }, { structuredOutput: false });
    expect(beside.reading).toEqual({ structuredTool: "answer_2" });
    expect(beside.body["tool_choice"]).toEqual({ type: "any" });
  });

  test("H72: a model that rejects forced calls is asked in words to make one, and may think", () => {
    const tools = [TOOL, { ...TOOL, name: "other" }];
    const named = {
      tools,
      toolChoice: { type: "tool", name: TOOL.name },
      paths: { toolChoice: "tool_choice" },
    } as const;
    const traits = { rejectsForcedTools: true, reasoningForm: "adaptive" } as const;
    const one = encode({ ...named, reasoning: { amount: "high", path: "r" } }, traits);
    expect(one.body["tool_choice"]).toEqual({ type: "auto" });
    expect(one.body["tools"]).toHaveLength(2);
    expect(one.body["system"]).toEqual([{ type: "text", text: `Call the tool "${TOOL.name}" before you answer.` }]);
    expect(one.body["thinking"]).toMatchObject({ type: "adaptive" });
    expect(one.notes).toEqual(["approximated tool_choice"]);
    const any = encode({ ...named, toolChoice: { type: "allowed", mode: "any", names: ["other"] } }, traits);
    expect(any.body).toMatchObject({ tool_choice: { type: "auto" }, tools: [{ name: "other" }] });
    const other = encode(named, { reasoningForm: "adaptive" });
    expect(other.body["tool_choice"]).toEqual({ type: "tool", name: TOOL.name });
    expect(encode({ ...named, toolChoice: { type: "auto" } }, traits).notes).toEqual([]);
  });

  test("JSON without a schema is requested in the prompt", () => {
    const { body, notes } = encode({ format: { type: "json" }, paths });
    expect(body["system"]).toEqual([{ type: "text", text: "Answer with JSON only." }]);
    expect(notes).toEqual(["approximated response_format"]);
  });

  test("encodes every kind of tool", () => {
    const { body, notes } = encode({
      tools: [
        { type: "function", name: "bare", path: "tools[0]" },
        { type: "custom", name: "free", format: { type: "grammar" }, path: "tools[1]" },
        {
          type: "web-search",
          contextSize: "low",
          allowedDomains: ["a"],
          blockedDomains: ["b"],
          path: "web_search_options",
        },
        { type: "native", dialect: "genai", name: "codeExecution", raw: {}, path: "tools[2]" },
      ],
    });
    expect(body["tools"]).toEqual([
      { name: "bare", input_schema: { type: "object", properties: {} } },
      {
        name: "free",
        input_schema: { type: "object", properties: { input: { type: "string" } }, required: ["input"] },
      },
      { type: "web_search_20250305", name: "web_search", allowed_domains: ["a"] },
    ]);
    expect(notes).toEqual([
      "approximated tools[1]",
      "dropped tools[1].custom.format",
      "dropped web_search_options.blockedDomains",
      "dropped web_search_options.search_context_size",
      "dropped tools[2]",
    ]);
  });

  test("encodes tool choices: one call at a time, only some tools, and no tools", () => {
    expect(encode({ tools: [TOOL], parallelTools: false }).body["tool_choice"]).toEqual({
      type: "auto",
      disable_parallel_tool_use: true,
    });
    const allowed = encode({
      tools: [TOOL, { ...TOOL, name: "g" }],
      toolChoice: { type: "allowed", mode: "any", names: ["g"] },
      paths: { toolChoice: "tool_choice" },
    });
    expect(allowed.body).toMatchObject({ tool_choice: { type: "any" }, tools: [{ name: "g" }] });
    expect(allowed.notes).toEqual(["approximated tool_choice"]);
    const none = encode({ toolChoice: { type: "any" }, paths: { toolChoice: "tool_choice" } });
    expect(none.body["tool_choice"]).toBeUndefined();
    expect(none.notes).toEqual(["dropped tool_choice"]);
  });

  test("H04: sends at most the last four cache marks, and none on thinking or on parts that are not sent", () => {
    const marked = (text: string, path: string): Part => ({ type: "text", text, path, cache: { ttl: "1h" } });
    const signature = { origin: "messages", kind: "signature", value: "s" } as const;
    const { body, notes } = encode({
      dialect: "messages",
      tools: [{ ...TOOL, cache: {} }],
      turns: [
        user(marked("a", "a"), marked("b", "b"), marked("c", "c"), marked("", "e")),
        assistant({ type: "reasoning", text: "x", signature, cache: {}, path: "t" }, marked("d", "d")),
      ],
    });
    expect(JSON.stringify(body).match(/cache_control/g)).toHaveLength(4);
    expect((body["tools"] as JsonObject[])[0]?.["cache_control"]).toBeUndefined();
    expect(notes).toEqual(["dropped e.cache_control", "dropped t.cache_control", "dropped tools[0].cache_control"]);
  });
});
