import { describe, expect, test } from "bun:test";
import { arrayAt, objectAt } from "../../../base/json.ts";
import { readFrames } from "../../../wire/sse.ts";
import { encodeContext } from "../../request/encode-context.sample.ts";
import { readEvents, STOPPED } from "../stream.sample.ts";
import { ResponsesStreamEncoder } from "./encode-stream.ts";

const PLACE = { item_id: "msg_host", output_index: 0, content_index: 0 };

/** An encoder that has followed another's stream past its first words. */
function following() {
  const encoder = new ResponsesStreamEncoder(encodeContext());
  const follow = (type: string, number: number, more: object) => {
    const data = JSON.stringify({ type: `response.${type}`, sequence_number: number, ...more });
    for (const frame of readFrames(`event: response.${type}\ndata: ${data}\n\n`)) encoder.follow(frame);
  };
  encoder.push({ type: "metadata", id: "host-1", created: 1 });
  follow("created", 0, { response: { id: "host-1" } });
  follow("queued", 1, { response: { id: "host-1" } });
  follow("in_progress", 2, { response: { id: "host-1" } });
  follow("output_item.added", 3, { output_index: 0, item: { id: "msg_host", type: "message" } });
  follow("content_part.added", 4, PLACE);
  encoder.push({ type: "text-start", block: 0 });
  encoder.push({ type: "text-delta", block: 0, text: "The Seine" });
  follow("output_text.delta", 5, { ...PLACE, delta: "The Seine" });
  return { encoder, follow };
}

describe("H17: an encoder that continues another's stream", () => {
  test("continues its numbers and names", () => {
    const { encoder, follow } = following();
    follow("output_text.delta", 6, { ...PLACE, delta: "" });
    expect(encoder.inStep).toBe(true);
    const text =
      encoder.push({ type: "text-delta", block: 0, text: " rises." }) + encoder.push({ type: "finish", stop: STOPPED });
    const events = readEvents(text);
    expect(events.map((event) => event["sequence_number"])).toEqual([7, 8, 9, 10, 11]);
    expect(events[0]).toMatchObject(PLACE);
    const response = objectAt(events.at(-1), "response");
    expect(response).toMatchObject({ id: "host-1" });
    expect(arrayAt(response, "output")).toMatchObject([{ id: "msg_host", content: [{ text: "The Seine rises." }] }]);
  });

  test.each([
    ["after the end of the text", "output_text.done", PLACE],
    ["after the end of its part", "content_part.done", PLACE],
    ["after the end of its message", "output_item.done", { output_index: 0 }],
    ["in another message", "output_text.delta", { ...PLACE, item_id: "msg_2", output_index: 1 }],
    ["in another part", "output_text.delta", { ...PLACE, content_index: 1 }],
    ["after a citation", "output_text.annotation.added", PLACE],
  ])("is out of step %s", (_where, type, more) => {
    const { encoder, follow } = following();
    follow(type, 6, more);
    expect(encoder.inStep).toBe(false);
  });

  test("continues in another message, and leaves the finished one unchanged", () => {
    const { encoder, follow } = following();
    const told = { id: "msg_host", type: "message", phase: "commentary", content: [] };
    follow("output_item.done", 6, { output_index: 0, item: told });
    encoder.push({ type: "text-end", block: 0 });
    follow("output_item.added", 7, { output_index: 1, item: { id: "msg_2", type: "message" } });
    encoder.push({ type: "text-start", block: 1 });
    encoder.push({ type: "text-delta", block: 1, text: "It" });
    follow("output_text.delta", 8, { item_id: "msg_2", output_index: 1, content_index: 0, delta: "It" });
    expect(encoder.inStep).toBe(true);
    const [done] = readEvents(encoder.push({ type: "finish", stop: STOPPED })).slice(-1);
    expect(objectAt(done, "response")?.["output"]).toMatchObject([told, { id: "msg_2", content: [{ text: "It" }] }]);
  });

  test("stays out of step after a citation, which it does not know", () => {
    const { encoder, follow } = following();
    follow("output_text.annotation.added", 6, PLACE);
    follow("output_text.delta", 7, { ...PLACE, delta: " rises." });
    expect(encoder.inStep).toBe(false);
  });
});
