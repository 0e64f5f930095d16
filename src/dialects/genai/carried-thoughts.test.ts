import { describe, expect, test } from "bun:test";
import { unfold } from "../../canon/fold.ts";
import type { CanonReply } from "../../canon/reply.ts";
import { readFrames } from "../../wire/sse.ts";
import { refusalOf } from "../reading/refusal-table.ts";
import { encodeContext } from "../request/encode-context.sample.ts";
import { genaiCodec } from "./codec.ts";
import { checkGenerateContentRequest } from "./schema/check-request.ts";

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

const whole = (said: CanonReply = reply): WirePart[] =>
  JSON.parse(genaiCodec.encodeResponse(said, encodeContext())).candidates[0].content.parts;

function streamed(said: CanonReply = reply): WirePart[] {
  const encoder = genaiCodec.createStreamEncoder(encodeContext());
  const text = [...unfold(said)].map((event) => encoder.push(event)).join("");
  const parts: WirePart[] = readFrames(text).flatMap(
    ({ data }) => JSON.parse(data ?? "{}").candidates[0].content?.parts ?? [],
  );
  // The last chunk may have an empty text next to its finish reason.
  return parts.filter((part) => part.text !== "" || part.thoughtSignature !== undefined);
}

/** The model's turn in the next request, by kind and text. */
function echoed(contents: readonly (readonly WirePart[])[]): string[] {
  const call = genaiCodec.decodeRequest({ contents: contents.map((parts) => ({ role: "model", parts })) });
  return call.turns.flatMap(({ parts }) =>
    parts.map((part) => (part.type === "reasoning" ? part.text : `${part.type}${part.signature ? " signed" : ""}`)),
  );
}

describe.each([
  ["in one piece", () => whole()],
  ["streamed", () => streamed()],
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

  test("are not duplicated by a client that keeps them too", () => {
    expect(echoed([answer()]).join("")).toBe("I need the clock, and the calendar.tool-calltool-call");
    expect(echoed(answer().map((part) => [part])).join("")).toBe(
      "I need the clock, and the calendar.tool-calltool-call",
    );
  });
});

/** Thoughts of a host that signs them but not its calls, with a value bound to the item. */
const sealed = (value: string) => ({ origin: "responses", kind: "encrypted" as const, value, format: `rs_${value}` });
const signedReply: CanonReply = {
  parts: [
    { type: "reasoning", text: "First.", signature: sealed("one") },
    { type: "reasoning", text: "Second.", signature: sealed("two") },
    { type: "tool-call", id: "a", name: "clock", input: "{}" },
    { type: "reasoning", text: "Third.", signature: sealed("three") },
    { type: "tool-call", id: "b", name: "calendar", input: "{}" },
  ],
  stop: { unified: "tool", raw: "completed" },
};

describe.each([
  ["in one piece", () => whole(signedReply)],
  ["streamed", () => streamed(signedReply)],
])("H01: signed thoughts, %s", (_name, answer) => {
  const turnsOf = (contents: readonly (readonly WirePart[])[]) =>
    genaiCodec
      .decodeRequest({ contents: contents.map((parts) => ({ role: "model", parts })) })
      .turns.flatMap(({ parts }) =>
        parts.map((part) => (part.type === "tool-call" ? [part.id, part.signature] : part.signature)),
      );
  const expected = [sealed("one"), sealed("two"), ["a", undefined], sealed("three"), ["b", undefined]];

  test("come back through a client that keeps only calls and their signatures", () => {
    const kept = answer().filter((part) => part.functionCall !== undefined);
    expect(turnsOf([kept])).toEqual(expected);
    expect(turnsOf(kept.map((part) => [part]))).toEqual(expected);
  });

  test("come back through a client that leaves out empty texts, as Google's Go SDK does", () => {
    const sent = answer().map(({ text, ...part }) => (text ? { text, ...part } : part));
    const body = { model: "acme/one", contents: [{ role: "model", parts: sent }] };
    expect(refusalOf(checkGenerateContentRequest, body)?.message).toBeUndefined();
    expect(turnsOf([sent]).filter((part) => part !== undefined)).toEqual(expected);
  });

  test("are not duplicated by a client that keeps them too", () => {
    const once = turnsOf([answer()]).filter((part) => part !== undefined);
    expect(once).toEqual(expected);
  });

  test("get their signature again if a client keeps the thought but loses the signature", () => {
    const kept = answer().map(({ thoughtSignature, ...part }) =>
      part.functionCall === undefined || thoughtSignature === undefined ? part : { ...part, thoughtSignature },
    );
    // A signature is on an empty part after its thought.
    const joined = kept.filter((part) => part.functionCall !== undefined || (part.text ?? "") !== "");
    expect(turnsOf([joined])).toEqual(expected);
  });
});
