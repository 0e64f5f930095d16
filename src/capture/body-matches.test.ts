import { describe, expect, test } from "bun:test";
import { bodyMatches } from "./body-matches.ts";
import type { CapturedBodies } from "./captured-bodies.ts";

const body = (text: string) => ({ text, bytes: text.length, cut: false });
const NONE: CapturedBodies = {
  client_request: null,
  provider_request: null,
  provider_answer: null,
  client_answer: null,
};
const inRequest = (text: string, wanted: string) => bodyMatches({ ...NONE, client_request: body(text) }, wanted);

describe("0130: a text in captured bodies", () => {
  test("is found on both sides of a call", () => {
    for (const side of ["client_request", "provider_request", "provider_answer", "client_answer"])
      expect(bodyMatches({ ...NONE, [side]: body('{"text":"order 4711-A"}') }, "4711-A")).toBe(true);
    expect(bodyMatches(NONE, "4711-A")).toBe(false);
  });

  test("is found whatever its escapes, also in JSON within JSON and in a body that is cut", () => {
    expect(inRequest('{"content":"order 47\\u00311-A"}', "4711-A")).toBe(true);
    expect(inRequest('{"content":"a\\/b"}', "a/b")).toBe(true);
    expect(inRequest(JSON.stringify({ arguments: JSON.stringify({ order: "M\u00fcller 1" }) }), "M\u00fcller 1")).toBe(
      true,
    );
    expect(inRequest(String.raw`{"arguments":"{\"order\":\"47\\u00311-A\"}"}`, "4711-A")).toBe(true);
    expect(inRequest('{"content":"order 47\\u00311-A and then', "4711-A")).toBe(true);
    expect(inRequest('{"content":"say \\"yes\\" now"}', 'say "yes" now')).toBe(true);
  });

  test("is found across the events of a stream", () => {
    const chat = ["order 47", "11", "-A"].map(
      (content) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`,
    );
    expect(inRequest(chat.join(""), "4711-A")).toBe(true);
    const messages = ["order 47", "11-A"].map(
      (text) => `event: content_block_delta\ndata: ${JSON.stringify({ delta: { type: "text_delta", text } })}\n\n`,
    );
    expect(inRequest(messages.join(""), "order 4711-A")).toBe(true);
  });

  test("is exact: no pattern, no other case, and nothing across strings that are not of a stream", () => {
    expect(inRequest('{"text":"4711-A"}', "4711-a")).toBe(false);
    expect(inRequest('{"text":"4711-A"}', "47.1")).toBe(false);
    expect(inRequest('[{"text":"47"},{"text":"11-A"}]', "4711-A")).toBe(false);
  });

  test("hostile bodies are read in linear time: at these sizes, anything else would take hours", () => {
    for (const hostile of [
      '"text":"'.repeat(1_000_000),
      `data: ${'"text":"\\'.repeat(1_000_000)}`,
      "\\".repeat(10_000_000),
    ])
      expect(inRequest(hostile, "4711-A")).toBe(false);
  });
});
