import { describe, expect, test } from "bun:test";
import { type JsonObject, parseObject } from "../../../base/json.ts";
import { unfold } from "../../../canon/fold.ts";
import type { CanonReply, ReplyPart } from "../../../canon/reply.ts";
import { readFrames } from "../../../wire/sse.ts";
import { encodeContext } from "../../request/encode-context.sample.ts";
import { decodeInput } from "../request/decode-steps.ts";
import { encodeResponse } from "./encode-response.ts";
import { InteractionsStreamEncoder } from "./encode-stream.ts";

const stop = { unified: "stop", raw: "stop" } as const;
const reply = (...parts: ReplyPart[]): CanonReply => ({ parts, stop });

function whole(answer: CanonReply, request: JsonObject = {}): JsonObject {
  return parseObject(encodeResponse(answer, { ...encodeContext(), request })) ?? {};
}

function streamed(answer: CanonReply, request: JsonObject = {}): JsonObject[] {
  const encoder = new InteractionsStreamEncoder({ ...encodeContext(), request });
  const text = [...unfold(answer)].map((event) => encoder.push(event)).join("");
  return readFrames(text).flatMap<JsonObject>(({ data }) => parseObject(data ?? "") ?? []);
}

const signature = (origin: string) => ({ origin, kind: "signature", value: "c2ln" }) as const;
const thought = (text: string, origin: string): ReplyPart => ({
  type: "reasoning",
  text,
  signature: signature(origin),
});

/** The parts that a client's next request has, if it sends the steps back. */
const sentBack = (answer: CanonReply, request: JsonObject = {}) =>
  decodeInput(whole(answer, request)["steps"]).flatMap(({ parts }) => parts.map(({ path: _path, ...part }) => part));

describe("the steps of a response", () => {
  test("texts share a step, unless they are separate", () => {
    const text = (words: string, apart?: true): ReplyPart => ({ type: "text", text: words, ...(apart && { apart }) });
    expect(whole(reply(text("a"), text("b"), text("c", true)))["steps"]).toEqual([
      { type: "model_output", content: [{ type: "text", text: "ab" }] },
      { type: "model_output", content: [{ type: "text", text: "c" }] },
    ]);
  });

  test("offsets of citations are bytes", () => {
    const citations = [{ type: "web", url: "https://a.test", start: 1, end: 2 }] as const;
    expect(whole(reply({ type: "text", text: "éa", citations }))["steps"]).toEqual([
      {
        type: "model_output",
        content: [
          {
            type: "text",
            text: "éa",
            annotations: [{ type: "url_citation", url: "https://a.test", start_index: 2, end_index: 3 }],
          },
        ],
      },
    ]);
  });

  test("a filtered response is incomplete, and says why", () => {
    const filtered = { parts: [], stop: { unified: "filter", raw: "SAFETY" }, stopDetail: "No." } as const;
    expect(whole(filtered)).toMatchObject({
      status: "incomplete",
      errors: [{ code: "content_blocked", message: "No." }],
    });
  });

  test("a background stream numbers its events", () => {
    const events = streamed(reply({ type: "text", text: "a" }), { background: true });
    expect(events.map((event) => event["event_id"])).toEqual(events.map((_event, index) => String(index)));
    expect(streamed(reply({ type: "text", text: "a" }))[0]).not.toHaveProperty("event_id");
  });
});

describe("H01, H02: opaque values come back", () => {
  const hidden = { generation_config: { thinking_summaries: "none" } };

  test.each(["interactions", "messages", "genai"])("of %s, on a thought, a text and a call", (origin) => {
    const parts: ReplyPart[] = [
      thought("t", origin),
      { type: "text", text: "a", signature: signature(origin) },
      { type: "tool-call", id: "c", name: "f", input: "{}", signature: signature(origin) },
    ];
    expect(sentBack(reply(...parts))).toEqual(parts as never);
  });

  test("thoughts that the client does not want to see come back whole", () => {
    expect(JSON.stringify(whole(reply(thought("secret", "messages")), hidden))).not.toContain("secret");
    expect(sentBack(reply(thought("secret", "messages")), hidden)).toEqual([thought("secret", "messages")] as never);
    const unsigned: ReplyPart = { type: "reasoning", text: "secret" };
    expect(sentBack(reply(unsigned), hidden)).toEqual([unsigned] as never);
  });

  test("a block of another protocol comes back as it was", () => {
    const part: ReplyPart = { type: "native", dialect: "messages", name: "odd", raw: { type: "odd", a: 1 } };
    expect(sentBack(reply(part))).toEqual([part] as never);
  });
});
