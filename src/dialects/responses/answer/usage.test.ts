import { describe, expect, test } from "bun:test";
import { HostedToolUses } from "./hosted-tool-uses.ts";
import { decodeUsage, encodeUsage } from "./usage.ts";

const told = (input: number, output: number, reasoning: number, total?: number) => ({
  input_tokens: input,
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: reasoning },
  ...(total === undefined ? {} : { total_tokens: total }),
});

describe("H27: a reported usage is never taken for less than the host bills", () => {
  test("reasoning is included in the output", () => {
    expect(decodeUsage(told(9, 284, 232, 293))).toEqual({ input: 9, output: 52, reasoning: 232 });
  });

  test("reasoning is added to the output if the total says so", () => {
    expect(decodeUsage(told(9, 52, 232, 293))).toEqual({ input: 9, output: 52, reasoning: 232 });
  });

  test("reasoning that exceeds the output is added, even if the total omits it", () => {
    expect(decodeUsage(told(9, 52, 232, 61))).toEqual({ input: 9, output: 52, reasoning: 232 });
    expect(decodeUsage(told(9, 52, 232))).toEqual({ input: 9, output: 52, reasoning: 232 });
  });

  test("reasoning slightly above the output is a miscount", () => {
    expect(decodeUsage(told(9, 128, 132, 137))).toEqual({ input: 9, output: 0, reasoning: 128 });
  });

  test("a total beyond its parts counts as output", () => {
    expect(decodeUsage({ input_tokens: 10, output_tokens: 5, total_tokens: 40 })).toEqual({
      input: 10,
      output: 5,
      reasoning: 25,
    });
  });

  test("a missing output is not zero", () => {
    expect(decodeUsage({ input_tokens: 10 })).toEqual({ input: 10 });
    expect(decodeUsage({ input_tokens: 10, total_tokens: 30 })).toEqual({ input: 10, output: 20 });
  });

  test("R31, H38: cached tokens are part of the input, and count in full where they exceed it", () => {
    const cached = (tokens: number) => ({ input_tokens: 10, input_tokens_details: { cached_tokens: tokens } });
    expect(decodeUsage(cached(4))).toEqual({ input: 6, cacheRead: 4 });
    expect(decodeUsage(cached(11))).toEqual({ input: 0, cacheRead: 11 });
  });
});

describe("H26: started uses of hosted tools are billed", () => {
  test("even if their end was not received", () => {
    const work = new HostedToolUses();
    work.begin({ type: "web_search_call", status: "in_progress" });
    work.begin({ type: "code_interpreter_call" });
    work.begin({ type: "message" });
    work.begin({ type: "function_call" });
    expect(work.addTo({ input: 1 })).toEqual({ input: 1, searches: 1, tools: { code_interpreter: 1 } });
  });

  test("only once if it was", () => {
    const work = new HostedToolUses();
    work.begin({ type: "web_search_call" });
    work.begin({ type: "web_search_call" });
    work.count({ type: "web_search_call", status: "completed" });
    expect(work.addTo({})).toEqual({ rounds: 2, searches: 2 });
    work.count({ type: "web_search_call", status: "failed" });
    expect(work.addTo({})).toEqual({ rounds: 3, searches: 1 });
  });

  test("only once if progress events announced them", () => {
    const work = new HostedToolUses();
    work.follow("response.file_search_call.searching");
    work.follow("response.file_search_call.completed");
    work.follow("response.output_text.done");
    expect(work.addTo({})).toEqual({ tools: { file_search: 1 } });
    work.begin({ type: "web_search_call" });
    work.follow("response.web_search_call.searching");
    expect(work.addTo({})).toEqual({ searches: 1, tools: { file_search: 1 } });
  });
});

describe("H26: work besides generating is counted by its items", () => {
  const work = (...items: object[]) => HostedToolUses.in({ output: items }).addTo({ input: 1 });

  test("searches and images count unless they failed, but the model was called again either way", () => {
    const items = [
      { type: "web_search_call", status: "completed" },
      { type: "web_search_call", status: "failed" },
      { type: "image_generation_call", status: "completed" },
      { type: "image_generation_call", status: "generating" },
      { type: "image_generation_call", status: "failed" },
    ];
    expect(work(...items)).toEqual({ input: 1, rounds: 6, searches: 1, tools: { image_generation: 2 } });
  });

  test("decision 0083: other hosted tools count, with their variants and the host's own counts", () => {
    expect(
      work(
        { type: "image_generation_call", quality: "low" },
        { type: "file_search_call" },
        { type: "hologram_call" },
        { type: "program" },
      )?.tools,
    ).toEqual({ "image_generation:low": 1, file_search: 1, hologram: 1, programmatic_tool_calling: 1 });
    const usage = { server_side_tool_usage_details: { web_search_calls: 4, x_search_calls: 2 } };
    const answer = { output: [{ type: "web_search_call" }], usage };
    expect(HostedToolUses.in(answer).addTo({})).toEqual({ rounds: 2, searches: 4, tools: { x_search: 2 } });
    expect(HostedToolUses.in({ output: [], tool_usage: { web_search: { num_requests: 3 } } }).addTo({})).toEqual({
      searches: 3,
    });
  });

  test("H33: tokens of another model that a tool called are a pass of that model", () => {
    const svg_usage = { model: "m", input_tokens: 5, output_tokens: 7, reasoning_tokens: 3, total_tokens: 12 };
    const drawn = { type: "image_generation_call", status: "completed", svg_usage };
    const usage = { input: 10, output: 8, reasoning: 6 };
    expect(work(drawn, drawn)).toMatchObject({ passes: [{ kind: "svg_usage", model: "m", usage }] });
    expect(work(drawn)?.unknown).toBeUndefined();
    const more = { ...drawn, svg_usage: { ...svg_usage, audio_tokens: 9 } };
    expect(work(more)?.unknown).toEqual(["svg_usage.audio_tokens"]);
    const many = Array.from({ length: 20 }, (_, index) => ({
      ...drawn,
      svg_usage: { ...svg_usage, model: `m${index}` },
    }));
    expect(work(...many)?.passes?.map((pass) => pass.usage.input)).toEqual([5, 5, 5, 5, 5, 5, 5, 65]);
  });

  test("decision 0083: tokens of a model without a name are unknown counters", () => {
    const svg_usage = { input_tokens: 5, output_tokens: 7, reasoning_tokens: 0, total_tokens: 12 };
    const drawn = { type: "image_generation_call", status: "completed", svg_usage };
    expect(work(drawn, drawn)?.unknown).toEqual([
      "svg_usage.input_tokens",
      "svg_usage.output_tokens",
      "svg_usage.total_tokens",
    ]);
    expect(work({ ...drawn, svg_usage: null })?.unknown).toBeUndefined();
    expect(work({ type: "function_call", svg_usage })?.unknown).toBeUndefined();
  });

  test("tools that the client runs do not count", () => {
    expect(work({ type: "function_call" }, { type: "computer_call" }, { type: "apply_patch_call" })).toEqual({
      input: 1,
    });
  });

  test("nothing else counts", () => {
    expect(work({ type: "message" })).toEqual({ input: 1 });
    // A call of the client's own tools does not count.
    expect(work({ type: "function_call" }, { type: "custom_tool_call" })).toEqual({ input: 1 });
    expect(work({ type: "image_generation_call" })).toEqual({ input: 1, rounds: 2, tools: { image_generation: 1 } });
    expect(new HostedToolUses().addTo(undefined)).toBeUndefined();
  });
});

describe("R2: clients get all five counts", () => {
  test("even if nothing was cached or thought", () => {
    expect(encodeUsage({ input: 3, output: 2 })).toEqual({
      input_tokens: 3,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 2,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 5,
    });
  });

  test.each([
    [{ cacheWrite5m: 4 }, 4],
    [{ cacheWrite1h: 5 }, 5],
    [{ cacheWrite5m: 4, cacheWrite1h: 5 }, 9],
    [{ cacheWrite5m: 0 }, 0],
  ])("cache writes of all lifetimes are one number: %j", (written, tokens) => {
    expect(encodeUsage({ input: 3, output: 2, reasoning: 1, cacheRead: 7, ...written })).toEqual({
      input_tokens: 10 + tokens,
      input_tokens_details: { cached_tokens: 7, cache_write_tokens: tokens },
      output_tokens: 3,
      output_tokens_details: { reasoning_tokens: 1 },
      total_tokens: 13 + tokens,
    });
  });
});
