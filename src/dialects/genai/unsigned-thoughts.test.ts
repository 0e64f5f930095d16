import { describe, expect, test } from "bun:test";
import type { CanonReply } from "../../canon/reply.ts";
import { unfold } from "../../canon/unfold.ts";
import { readFrames } from "../../wire/sse.ts";
import { encodeContext } from "../encode-context.sample.ts";
import { genaiCodec } from "./codec.ts";

const reply: CanonReply = {
  parts: [
    { type: "reasoning", text: "I need the clock, " },
    { type: "reasoning", text: "and the calendar." },
    { type: "tool-call", id: "a", name: "clock", input: "{}" },
    { type: "tool-call", id: "b", name: "calendar", input: "{}" },
  ],
  stop: { unified: "tool", raw: "tool_calls" },
};

interface WirePart {
  text?: string;
  thought?: boolean;
  functionCall?: object;
  thoughtSignature?: string;
}

const whole = (): WirePart[] =>
  JSON.parse(genaiCodec.encodeResponse(reply, encodeContext())).candidates[0].content.parts;

function streamed(): WirePart[] {
  const encoder = genaiCodec.createStreamEncoder(encodeContext());
  const text = [...unfold(reply)].map((event) => encoder.push(event)).join("");
  const parts: WirePart[] = readFrames(text).flatMap(
    ({ data }) => JSON.parse(data ?? "{}").candidates[0].content?.parts ?? [],
  );
  // The last chunk may have an empty text next to its finish reason.
  return parts.filter((part) => part.text !== "" || part.thoughtSignature !== undefined);
}

/** The model's turn as the next request has it, by kind and text. */
function echoed(contents: readonly (readonly WirePart[])[]): string[] {
  const call = genaiCodec.decodeRequest({ contents: contents.map((parts) => ({ role: "model", parts })) });
  return call.turns.flatMap(({ parts }) =>
    parts.map((part) => (part.type === "reasoning" ? part.text : `${part.type}${part.signature ? " signed" : ""}`)),
  );
}

describe.each([
  ["in one piece", whole],
  ["streamed", streamed],
])("sdks 1: unsigned thoughts, %s", (_name, answer) => {
  test("come back through a client that keeps only calls and their signatures", () => {
    const kept = answer().filter((part) => part.functionCall !== undefined);
    expect(kept).toHaveLength(2);
    expect(echoed([kept])).toEqual(["I need the clock, and the calendar.", "tool-call", "tool-call"]);
    expect(echoed(kept.map((part) => [part]))).toEqual([
      "I need the clock, and the calendar.",
      "tool-call",
      "tool-call",
    ]);
  });

  test("are not doubled by one that keeps them too", () => {
    expect(echoed([answer()]).join("")).toBe("I need the clock, and the calendar.tool-calltool-call");
    expect(echoed(answer().map((part) => [part])).join("")).toBe(
      "I need the clock, and the calendar.tool-calltool-call",
    );
  });
});
