import { describe, expect, test } from "bun:test";
import { CollectedCompletion, completionOf } from "./collected-completion.ts";

function collect(...choices: object[]): unknown {
  const collected = new CollectedCompletion();
  for (const choice of choices) collected.take([choice], JSON.stringify(choice).length);
  return collected.choices;
}

describe("a completion assembled from its chunks", () => {
  test("joins text and reasoning, and keeps the last finish reason", () => {
    expect(
      collect(
        { index: 0, delta: { role: "assistant", content: "" }, finish_reason: null },
        { index: 0, delta: { reasoning: "Hm", reasoning_content: "Hm" } },
        { index: 0, delta: { content: "Hello, " } },
        { index: 0, delta: { content: "Ada." }, finish_reason: null },
        { index: 0, delta: {}, finish_reason: "stop" },
      ),
    ).toEqual([
      {
        index: 0,
        message: { role: "assistant", content: "Hello, Ada.", refusal: null, reasoning: "Hm", reasoning_content: "Hm" },
        logprobs: null,
        finish_reason: "stop",
      },
    ]);
  });

  test("joins the arguments of calls that interleave, and orders choices", () => {
    const call = (index: number, more: object) => ({ index: 1, delta: { tool_calls: [{ index, ...more }] } });
    expect(
      collect(
        call(1, { id: "b", type: "function", function: { name: "look", arguments: "" } }),
        call(0, { id: "a", type: "function", function: { name: "look", arguments: '{"at"' } }),
        call(1, { function: { arguments: "{}" } }),
        call(0, { function: { arguments: ":1}" } }),
        { index: 0, delta: { content: "x" } },
      ),
    ).toMatchObject([
      { index: 0, message: { content: "x" } },
      {
        index: 1,
        message: {
          content: null,
          tool_calls: [
            { id: "a", type: "function", function: { name: "look", arguments: '{"at":1}' } },
            { id: "b", type: "function", function: { name: "look", arguments: "{}" } },
          ],
        },
      },
    ]);
  });

  test("extends lists and log probabilities without changing the chunks", () => {
    const image = { delta: { images: [{ index: 0 }] }, logprobs: { content: [{ token: "a" }], refusal: null } };
    const chunk = { index: 0, ...image };
    const before = JSON.stringify(chunk);
    expect(
      collect(chunk, { index: 0, delta: { images: [{ index: 1 }] }, logprobs: { content: [{ token: "b" }] } }),
    ).toEqual([
      {
        index: 0,
        message: { role: "assistant", content: null, refusal: null, images: [{ index: 0 }, { index: 1 }] },
        logprobs: { content: [{ token: "a" }, { token: "b" }], refusal: null },
        finish_reason: null,
      },
    ]);
    expect(JSON.stringify(chunk)).toBe(before);
  });

  test("S23: more than 16 MB is not collected", () => {
    const collected = new CollectedCompletion();
    for (let megabyte = 0; megabyte < 17; megabyte++) {
      collected.take([{ index: 0, delta: { content: "x" } }], 1024 * 1024);
    }
    expect(collected.choices).toBeUndefined();
  });

  test("has what the chunks say of it", () => {
    const chunk = {
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [],
      usage: null,
    };
    expect(completionOf({ ...chunk, service_tier: "default" }, [], { total_tokens: 3 })).toEqual({
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1,
      model: "m",
      service_tier: "default",
      choices: [],
      usage: { total_tokens: 3 },
    });
  });
});
