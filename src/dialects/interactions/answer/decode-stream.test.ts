import { describe, expect, test } from "bun:test";
import {
  interactionsEvent,
  interactionsUsage,
  interactionsWire as wire,
} from "../../../../testing/wires/interactions-wire.ts";
import type { FieldNote } from "../../../canon/receipt.ts";
import { readFrames } from "../../../wire/sse.ts";
import type { DecodeAnswerContext } from "../../codec.ts";
import { DEFAULT_INTERACTIONS_QUIRKS } from "../quirks.ts";
import { InteractionsStreamDecoder } from "./decode-stream.ts";

const notes: FieldNote[] = [];
const context = (): DecodeAnswerContext => ({
  origin: "interactions",
  quirks: DEFAULT_INTERACTIONS_QUIRKS,
  reading: {},
  makeId: () => "made",
  note: (note) => notes.push(note),
});

function decode(text: string) {
  const decoder = new InteractionsStreamDecoder(context());
  const events = readFrames(text).flatMap((frame) => decoder.push(frame));
  return [...events, ...decoder.end()];
}

const END = wire.completed({ usage: interactionsUsage(10, 5, 3) });
const FINISH = { type: "finish", stop: { unified: "stop", raw: "completed" } };

describe("providers 1.4: the events of an Interactions stream", () => {
  test("a thought with only a signature, then text", () => {
    const thought =
      wire.start(0, { type: "thought" }) +
      wire.delta(0, { type: "thought_signature", signature: "c2ln" }) +
      wire.stop(0);
    expect(decode(wire.begin() + thought + wire.text(1, "a", "b") + END)).toEqual([
      { type: "metadata" },
      { type: "reasoning-start", block: 0, summary: true },
      { type: "reasoning-end", block: 0, signature: { origin: "interactions", kind: "signature", value: "c2ln" } },
      { type: "text-start", block: 1 },
      { type: "text-delta", block: 1, text: "a" },
      { type: "text-delta", block: 1, text: "b" },
      { type: "text-end", block: 1 },
      { type: "usage", usage: expect.objectContaining({ input: 10, output: 5, reasoning: 3 }) },
      FINISH,
    ] as never);
  });

  test("a call has its arguments in a delta; a repeated or missing id is replaced (H03)", () => {
    const call = (index: number, id: string) =>
      wire.start(index, { type: "function_call", id, name: "f", arguments: {}, signature: "" }) +
      wire.delta(index, { type: "arguments_delta", arguments: '{"a":1}' }) +
      wire.stop(index);
    const events = decode(
      wire.begin() + call(0, "x") + call(1, "x") + wire.completed({ usage: undefined, status: "requires_action" }),
    );
    const starts = events.filter(({ type }) => type === "tool-input-start");
    expect(starts).toEqual([
      { type: "tool-input-start", block: 0, id: "x", name: "f" },
      { type: "tool-input-start", block: 1, id: "call_made", name: "f" },
    ]);
    expect(events.at(-1)).toEqual({ type: "finish", stop: { unified: "tool", raw: "requires_action" } });
  });

  test("citations count bytes of the text, and come after it", () => {
    const annotations = [{ type: "url_citation", url: "https://a.test", title: "A", start_index: 3, end_index: 5 }];
    const step =
      wire.start(0, { type: "model_output" }) +
      wire.delta(0, { type: "text", text: "é: ok" }) +
      wire.delta(0, { type: "text_annotation_delta", annotations }) +
      wire.stop(0);
    expect(decode(wire.begin() + step + END)).toContainEqual({
      type: "citation",
      block: 0,
      citation: { type: "web", url: "https://a.test", title: "A", start: 2, end: 4 },
    });
  });

  test("a search is a call and a result; a signed one stays as it is", () => {
    const search = (signature: string) =>
      wire.start(0, { type: "google_search_call", id: "s", signature }) +
      wire.delta(0, { type: "google_search_call", arguments: { queries: ["q"] } }) +
      wire.stop(0);
    const partOf = (text: string) => decode(wire.begin() + text + END).find(({ type }) => type === "whole");
    expect(partOf(search(""))).toMatchObject({ part: { type: "server-tool-call", name: "web_search" } });
    expect(partOf(search("c2ln"))).toMatchObject({
      part: { type: "native", raw: { type: "google_search_call", signature: "c2ln", arguments: { queries: ["q"] } } },
    });
  });

  test("an image in a summary is kept", () => {
    const content = { type: "image", data: "AAAA", mime_type: "image/png" };
    const step =
      wire.start(0, { type: "thought" }) + wire.delta(0, { type: "thought_summary", content }) + wire.stop(0);
    expect(decode(wire.begin() + step + END)).toContainEqual({
      type: "whole",
      block: 0,
      part: {
        type: "native",
        dialect: "interactions",
        name: "thought",
        raw: { type: "thought", summary: [content] },
      },
    });
  });

  test.each([
    ["a limit", "incomplete", [], "length"],
    ["a limit of the host", "requires_continuation", [], "length"],
    ["a filter", "incomplete", [{ code: "safety", message: "No." }], "filter"],
    ["an unknown status", "dreaming", [], "other"],
  ])("ends with %s", (_name, status, errors, unified) => {
    const event = interactionsEvent("interaction.completed", { interaction: { id: "", status, errors } });
    expect(decode(wire.begin() + wire.text(0, "a") + event).at(-1)).toMatchObject({ stop: { unified, raw: status } });
  });

  test.each([
    ["resource_exhausted", "rate_limited"],
    ["content_blocked", "content_blocked"],
    ["https://errors.example/not_found", "not_found"],
    ["strange", "upstream_failed"],
  ])("an error event with the code %s", (code, kind) => {
    const events = decode(wire.begin() + interactionsEvent("error", { error: { code, message: "m" } }));
    expect(events.at(-1)).toMatchObject({ type: "error", error: { kind } });
  });

  test("usage in earlier events is kept for a stream that breaks off", () => {
    const decoder = new InteractionsStreamDecoder(context());
    const early = interactionsEvent("step.stop", { index: 0, usage: interactionsUsage(10, 2) });
    for (const frame of readFrames(wire.begin() + early)) decoder.push(frame);
    expect(decoder.usage).toMatchObject({ input: 10, output: 2 });
  });
});
