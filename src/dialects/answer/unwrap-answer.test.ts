import { describe, expect, test } from "bun:test";
import { ByteBuffer } from "../../base/byte-buffer.ts";
import { GatewayError } from "../../canon/error.ts";
import type { CanonEvent } from "../../canon/event.ts";
import { unfold } from "../../canon/fold.ts";
import type { CanonReply, ReplyPart } from "../../canon/reply.ts";
import { TranslatingTap } from "./translating-tap.ts";
import { AnswerUnwrapper, unwrapReply } from "./unwrap-answer.ts";

/** Mapping 7: a forced call replaces a schema, and is unwrapped from the response. */

const reading = { structuredTool: "answer" };
const signature = { origin: "genai", kind: "signature", value: "c2ln" } as const;
const talk: ReplyPart = { type: "text", text: "<thinking>I shall answer.</thinking>\n", signature };
const thought: ReplyPart = { type: "reasoning", text: talk.text };
const standIn: ReplyPart = { type: "tool-call", id: "c1", name: "answer", input: '{"a":"v"}' };
const ownCall: ReplyPart = { type: "tool-call", id: "c2", name: "look", input: "{}" };
const json: ReplyPart = { type: "text", text: '{"a":"v"}' };

const replyOf = (parts: readonly ReplyPart[], unified: "stop" | "tool" = "tool"): CanonReply => ({
  parts,
  stop: { unified, raw: unified },
});

describe("structured output: text next to the forced call is not part of the JSON", () => {
  test.each([
    ["before it", [talk, standIn], [thought, json], "stop"],
    ["after it", [standIn, talk], [json, thought], "stop"],
    ["next to a call of a client tool", [talk, ownCall], [thought, ownCall], "tool"],
    ["before both", [talk, ownCall, standIn], [thought, ownCall, json], "tool"],
  ] as const)("%s", (_name, parts, expected, stop) => {
    expect(unwrapReply(replyOf(parts), reading)).toEqual({
      parts: [...expected],
      stop: { unified: stop, raw: "tool" },
    });
  });

  test("text without a call is the response, unchanged", () => {
    const parts = [talk, { type: "reasoning", text: "so" }, json] satisfies ReplyPart[];
    expect(unwrapReply(replyOf(parts, "stop"), reading)).toEqual(replyOf(parts, "stop"));
  });

  test("without a forced call, text next to a call stays text", () => {
    expect(unwrapReply(replyOf([talk, ownCall]), { unquoteMember: true })).toEqual(replyOf([talk, ownCall]));
  });
});

describe("structured output in a stream", () => {
  const events = [...unfold(replyOf([talk, standIn]))];
  const callAt = events.findIndex(({ type }) => type === "tool-input-start");

  test("text is held until the call starts; the call's chunks are not held", () => {
    const unwrapper = new AnswerUnwrapper(reading);
    expect(events.slice(0, callAt).flatMap((event) => unwrapper.push(event))).toEqual([{ type: "metadata" }]);
    expect(events.slice(callAt, callAt + 2).flatMap((event) => unwrapper.push(event))).toEqual([
      { type: "reasoning-start", block: 0 },
      { type: "reasoning-delta", block: 0, text: talk.text },
      { type: "reasoning-end", block: 0 },
      { type: "text-start", block: 1 },
      { type: "text-delta", block: 1, text: '{"a":"v"}' },
    ]);
  });

  test("a break releases the held text", () => {
    const unwrapper = new AnswerUnwrapper(reading);
    const error: CanonEvent = { type: "error", error: new GatewayError("upstream_failed", "broken") };
    const heard = [...events.slice(0, callAt), error].flatMap((event) => unwrapper.push(event));
    expect(heard).toEqual([...events.slice(0, callAt), error]);
  });

  test("H14, H20: held text is counted and limited, and commits nothing", () => {
    const said: CanonEvent[] = [{ type: "text-start", block: 0 }];
    const megabyte: CanonEvent = { type: "text-delta", block: 0, text: "x".repeat(1024 * 1024) };
    const decoder = { push: () => said.splice(0, 1, megabyte), complete: false, end: () => [] };
    const tap = new TranslatingTap(decoder, { push: () => "" }, reading);
    const output = new ByteBuffer();
    for (let count = 0; count < 9; count++) tap.push(Buffer.from("data: {}\n\n"), output);
    expect(tap).toMatchObject({ contentSeen: false, failure: undefined, generatedCharacters: 8 * 1024 * 1024 });
    tap.push(Buffer.from("data: {}\n\n"), output);
    expect(tap.failure?.kind).toBe("upstream_failed");
  });
});
