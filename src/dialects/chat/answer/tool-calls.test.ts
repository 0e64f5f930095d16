import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../base/json.ts";
import { chunk, decodeChunks } from "../contexts.sample.ts";
import { ToolCallIndexer } from "./tool-calls.ts";

interface Chunk {
  index?: number | null;
  id?: string;
  name?: string;
  input?: string;
}

const fragment = ({ index, id, name, input = "" }: Chunk): JsonObject => ({
  ...(index === undefined ? {} : { index }),
  ...(id === undefined ? {} : { id, type: "function" }),
  function: { ...(name === undefined ? {} : { name }), arguments: input },
});

/** Calls as a client of the same protocol assembles them: by index. */
function nativeCalls(parts: readonly Chunk[]): { id: string; name: string; input: string }[] {
  let made = 0;
  const indexer = new ToolCallIndexer(() => `made${made++}`);
  const calls: { id: string; name: string; input: string }[] = [];
  for (const part of parts) {
    const sent = [fragment(part)];
    for (const call of (indexer.repair({ tool_calls: sent }) ?? sent) as {
      index: number;
      id?: string;
      function: { name?: string; arguments: string };
    }[]) {
      const known = calls[call.index] ?? { id: "", name: "", input: "" };
      calls[call.index] = {
        id: known.id + (call.id ?? ""),
        name: known.name + (call.function.name ?? ""),
        input: known.input + call.function.arguments,
      };
    }
  }
  return calls;
}

/** Calls as clients of other protocols get them. */
const translatedCalls = (parts: readonly Chunk[]) =>
  decodeChunks([...parts.map((part) => chunk({ tool_calls: [fragment(part)] })), chunk({}, "tool_calls")]).parts.map(
    (part) => (part.type === "tool-call" ? { id: part.id, name: part.name, input: part.input } : part),
  );

const one = { id: "a", name: "f", input: '{"x":1}' };

describe("H03: streamed calls are distinguished and assembled, natively and translated", () => {
  const cases: [string, Chunk[], { id: string; name: string; input: string }[]][] = [
    [
      "two calls of one function under one id",
      [
        { index: 0, id: "a", name: "f", input: '{"x":1}' },
        { index: 1, id: "a", name: "f", input: '{"x":2}' },
      ],
      [one, { id: "call_made0", name: "f", input: '{"x":2}' }],
    ],
    [
      "two calls under one id whose arguments come later, by index",
      [
        { index: 0, id: "a", name: "f" },
        { index: 1, id: "a", name: "f" },
        { index: 0, input: '{"x":1}' },
        { index: 1, id: "a", input: '{"x":2}' },
      ],
      [one, { id: "call_made0", name: "f", input: '{"x":2}' }],
    ],
    [
      "two functions under one id and index",
      [
        { index: 0, id: "a", name: "f", input: '{"x":1}' },
        { index: 0, id: "a", name: "g", input: "{}" },
      ],
      [one, { id: "call_made0", name: "g", input: "{}" }],
    ],
    [
      "id and name repeated on each fragment of one call",
      [
        { index: 0, id: "a", name: "f" },
        { index: 0, id: "a", name: "f", input: '{"x"' },
        { index: 0, id: "a", name: "f", input: ":1}" },
        { index: 0, id: "a", name: "f" },
      ],
      [one],
    ],
    [
      "the same under indexes that count fragments",
      [
        { index: 0, id: "a", name: "f", input: '{"x"' },
        { index: 1, id: "a", name: "f", input: ":1" },
        { index: 2, id: "a", name: "f", input: "}" },
      ],
      [one],
    ],
    [
      "the same under an index that is null",
      [
        { index: null, id: "a", name: "f", input: '{"x"' },
        { index: null, id: "a", name: "f", input: ":1}" },
      ],
      [one],
    ],
    [
      "the id first, then the name",
      [
        { index: 0, id: "a" },
        { index: 0, name: "f", input: '{"x":1}' },
      ],
      [one],
    ],
    [
      "the name after the id and some of the arguments, with the id repeated and a second call in between",
      [
        { index: 0, id: "a", input: '{"x"' },
        { index: 1, id: "b", name: "", input: "" },
        { index: 0, id: "a", name: "f", input: ":1" },
        { index: 1, name: "g", input: "{}" },
        { index: 0, name: "f", input: "}" },
      ],
      [one, { id: "b", name: "g", input: "{}" }],
    ],
    [
      "two functions without ids and arguments under one index",
      [
        { index: 0, name: "f" },
        { index: 0, name: "g" },
      ],
      [
        { id: "call_made0", name: "f", input: "" },
        { id: "call_made1", name: "g", input: "" },
      ],
    ],
  ];

  test.each(cases)("%s", (_name, parts, calls) => {
    expect(nativeCalls(parts)).toEqual(calls);
    expect(translatedCalls(parts)).toEqual(calls);
  });

  test("well-formed deltas pass unchanged, even with the name after the id", () => {
    const indexer = new ToolCallIndexer(() => "made");
    for (const part of [
      { index: 0, id: "a", name: "f" },
      { index: 0, input: "{}" },
      { index: 1, id: "b" },
      { index: 1, name: "g", input: "{}" },
    ]) {
      expect(indexer.repair({ tool_calls: [fragment(part)] })).toBeUndefined();
    }
  });

  test("H20: arguments that wait for a name are bounded", () => {
    const endless = [{ index: 0, id: "a" }, ...Array(3).fill({ index: 0, input: "x".repeat(512 * 1024) })];
    expect(() => translatedCalls(endless)).toThrow("without its name");
  });
});
