import { describe, expect, test } from "bun:test";
import { GatewayError } from "./error.ts";
import type { CanonEvent } from "./event.ts";
import { fold, unfold } from "./fold.ts";
import { InSequence } from "./in-sequence.ts";
import type { CanonReply } from "./reply.ts";

const signature = { origin: "genai", kind: "signature", value: "c2ln" } as const;

const reply: CanonReply = {
  id: "answer_1",
  created: 5,
  parts: [
    { type: "reasoning", text: "", signature: { origin: "messages", kind: "redacted", value: "x" } },
    { type: "reasoning", text: "hm", summary: true, signature },
    { type: "text", text: "Twelve", citations: [{ type: "web", url: "https://a.example" }], signature },
    { type: "text", text: "" },
    { type: "tool-call", id: "call_1", name: "look", input: '{"a":1}', signature },
    { type: "refusal", text: "No." },
    { type: "media", kind: "image", source: { type: "data", mimeType: "image/png", data: "AA==" } },
  ],
  stop: { unified: "tool", raw: "tool_use" },
  stopDetail: "because",
  stopCategory: "cyber",
  usage: { input: 1, output: 2 },
  logprobs: [{ token: "T", logprob: -1 }],
};

describe("fold and unfold", () => {
  test("choices 12: a whole answer is the fold of its stream", () => {
    expect(fold(unfold(reply))).toEqual(reply);
  });

  test("throws on an error event and on a stream without an end", () => {
    const error = new GatewayError("overloaded", "later");
    expect(() =>
      fold([
        { type: "text-start", block: 0 },
        { type: "error", error },
      ]),
    ).toThrow("later");
    expect(() => fold([{ type: "text-start", block: 0 }])).toThrow("incomplete");
  });
});

describe("in sequence", () => {
  const say = (block: number, text: string): CanonEvent => ({ type: "text-delta", block, text });
  const start = (block: number): CanonEvent => ({ type: "text-start", block });
  const end = (block: number): CanonEvent => ({ type: "text-end", block });
  const put = (events: readonly CanonEvent[]) => {
    const sequence = new InSequence();
    return events.map((event) => sequence.push(event));
  };

  test("events of the open block pass at once, others wait for their turn", () => {
    const steps = put([
      start(1),
      say(1, "a"),
      start(2),
      say(2, "b"),
      say(1, "c"),
      end(2),
      start(3),
      end(1),
      say(3, "d"),
      end(3),
    ]);
    expect(steps.map((step) => step.length)).toEqual([1, 1, 0, 0, 1, 0, 0, 5, 1, 1]);
    const flat = steps.flat();
    const blocks = flat.map((event) => ("block" in event ? event.block : 0));
    expect(blocks).toEqual([1, 1, 1, 1, 2, 2, 2, 3, 3, 3]);
  });

  test("H20: the queue is bounded", () => {
    const sequence = new InSequence();
    sequence.push(start(1));
    sequence.push(start(2));
    const megabyte = "x".repeat(1024 * 1024);
    expect(() => {
      for (let count = 0; count < 17; count++) sequence.push(say(2, megabyte));
    }).toThrow("interleaved more");
  });
});
