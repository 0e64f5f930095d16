import { describe, expect, test } from "bun:test";
import { eventWeight } from "../base/text-weight.ts";
import { FrameTemplate } from "./frame-template.ts";
import { readFrames } from "./sse.ts";

const PLACES = { texts: [["delta"]], numbers: [["n"]], padding: [["pad"]] };

function learn(raw: string, text: string): FrameTemplate {
  const [frame] = readFrames(raw);
  const template = frame && FrameTemplate.learn(frame, PLACES, text);
  if (template === undefined) throw new Error("nothing was learnt");
  return template;
}

const viewOf = (text: string): DataView => {
  const bytes = new TextEncoder().encode(text);
  return new DataView(bytes.buffer);
};

const event = (json: string): string => `event: delta\ndata: ${json}\n\n`;
const LESSON = event('{"type":"delta","n":7,"delta":"Hi","pad":"abc"}');

describe("FrameTemplate", () => {
  test("matches events that differ in text, number, padding and space before the last brace", () => {
    const template = learn(LESSON, "Hi");
    for (const text of ["a", 'quote \\" and \\\\', "line\\nbreak", "中文 👋🏽", "}", "data: "]) {
      const raw = event(`{"type":"delta","n":1234,"delta":"${text}","pad":""   }`);
      const view = viewOf(`before${raw}after`);
      expect(template.match(view, 6)).toBe(6 + Buffer.byteLength(raw));
      const bytes = Buffer.from(view.buffer);
      expect(bytes.toString("utf8", template.textStart, template.textEnd)).toBe(text);
      expect(template.weight).toBe(eventWeight(JSON.parse(`"${text}"`)));
    }
  });

  test.each([
    ["another type", '{"type":"other","n":7,"delta":"Hi","pad":"abc"}'],
    ["one more member", '{"type":"delta","n":7,"delta":"Hi","more":1,"pad":"abc"}'],
    ["no text", '{"type":"delta","n":7,"delta":"","pad":"abc"}'],
    ["an escape that writers differ in", '{"type":"delta","n":7,"delta":"\\u0041","pad":"abc"}'],
    ["an escaped slash", '{"type":"delta","n":7,"delta":"\\/","pad":"abc"}'],
    ["an invalid number", '{"type":"delta","n":07,"delta":"Hi","pad":"abc"}'],
    ["a number with a fraction", '{"type":"delta","n":7.5,"delta":"Hi","pad":"abc"}'],
    ["padding with an escape", '{"type":"delta","n":7,"delta":"Hi","pad":"\\n"}'],
    ["a text that is a number", '{"type":"delta","n":7,"delta":1,"pad":"abc"}'],
  ])("does not match an event with %s", (_, json) => {
    expect(learn(LESSON, "Hi").match(viewOf(event(json)), 0)).toBe(-1);
  });

  test.each(["", "\\u4e2d\\u6587", "\\ud83d\\udc4b", "caf\\u00e9 \\u0041\\/b", "plain \\n"])(
    "matches %j when texts are passed on verbatim, and weighs it as parsed",
    (text) => {
      const [frame] = readFrames(LESSON);
      const template = frame && FrameTemplate.learn(frame, { ...PLACES, verbatim: true }, "Hi");
      const raw = event(`{"type":"delta","n":8,"delta":"${text}","pad":"abc"}`);
      expect(template?.match(viewOf(raw), 0)).toBe(raw.length);
      expect(template?.weight).toBe(eventWeight(JSON.parse(`"${text}"`)));
    },
  );

  test.each(["\\x", "\\u12", "\\u12g4", "\\"])("does not match the invalid escape %j, even verbatim", (text) => {
    const [frame] = readFrames(LESSON);
    const template = frame && FrameTemplate.learn(frame, { ...PLACES, verbatim: true }, "Hi");
    expect(template?.match(viewOf(event(`{"type":"delta","n":8,"delta":"${text}","pad":"abc"}`)), 0)).toBe(-1);
  });

  test("does not match an event that is cut anywhere", () => {
    const template = learn(LESSON, "Hi");
    for (let length = 0; length < LESSON.length; length++)
      expect(template.match(viewOf(LESSON.slice(0, length)), 0)).toBe(-1);
    expect(template.match(viewOf(LESSON), 0)).toBe(LESSON.length);
  });

  test("learns nothing from an event that has another text, or several lines of data", () => {
    const [frame] = readFrames(LESSON);
    expect(frame && FrameTemplate.learn(frame, PLACES, "Ho")).toBeUndefined();
    const [lines] = readFrames('data: {"delta":\ndata: "Hi"}\n\n');
    expect(lines && FrameTemplate.learn(lines, PLACES, "Hi")).toBeUndefined();
  });
});
