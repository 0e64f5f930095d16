import { expect, test } from "bun:test";
import fc from "fast-check";
import type { JsonObject } from "../base/json.ts";
import { outlineJson, type TextPlaces } from "./long-texts.ts";

const LONG = "A sentence of some length, to be repeated. ".repeat(20);
const outlineOf = (json: string, long?: number) => outlineJson(Buffer.from(json), long);

/** The body of a request with these places, as its readers see it. */
function read(json: string, places: TextPlaces): JsonObject {
  const outline = outlineOf(json);
  if (outline === undefined) throw new Error("it has no outline");
  const body = JSON.parse(outline.text) as JsonObject;
  outline.texts.restore(body, places);
  return body;
}

const string = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 20 }).map((text) => JSON.stringify(text).slice(1, -1)),
      fc.constantFrom("plain", " ", "\\n", "\\u00e9", "\\ud800", "\\/", "\\\\", '\\"', "\\\\d", "é", "👍", "{", "["),
    ),
    { maxLength: 12 },
  )
  .map((pieces) => `"${pieces.join("")}"`);
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { arbitrary: string, weight: 4 },
    fc.constantFrom("1", "null", "true", "-0.5e1"),
    fc.array(tie("value"), { maxLength: 5 }).map((items) => `[ ${items.join(" ,\n")}]`),
    fc
      .array(fc.tuple(string, tie("value")), { maxLength: 5 })
      .map((members) => `{${members.map(([key, item], index) => `"a${index}${key.slice(1)} : ${item}`).join(",")}}`),
  ),
}));

test("an outline has the meaning of its JSON, whichever texts are restored", () => {
  let stubs = 0;
  fc.assert(
    fc.property(value, fc.integer({ min: 1, max: 30 }), (json, long) => {
      const outline = outlineOf(`{"root":${json}}`, long);
      if (outline === undefined) return;
      const { text, texts } = outline;
      if (text.includes("\x7f")) stubs++;
      const expected = JSON.parse(`{"root":${json}}`) as unknown;
      const body = JSON.parse(text) as JsonObject;
      expect(JSON.parse(texts.fill(JSON.stringify(body)).toString())).toEqual(expected);
      texts.restore(body, {});
      expect(body).toEqual(expected as JsonObject);
    }),
    { numRuns: 2000 },
  );
  expect(stubs).toBeGreaterThan(100);
});

test("long texts stay bytes and are written as they came", () => {
  const json = `{"a":"${LONG}\\u00e9\\/ ${LONG}"}`;
  const body = read(json, { texts: ["a"] });
  expect(String(body["a"]).length).toBeLessThan(20);
  expect(outlineOf(json)?.texts.fill(JSON.stringify(body)).toString()).toBe(json);
});

test("texts are restored where the places do not allow stubs", () => {
  const item = { type: "text", text: LONG };
  const json = (value: unknown) => JSON.stringify(value);
  const places: TextPlaces = {
    within: { list: { keys: new Set(["type", "text"]), types: new Set(["text"]), texts: ["text"] } },
  };
  const isStub = (body: JsonObject) => !json(body).includes(LONG);
  expect(isStub(read(json({ list: [item] }), places))).toBe(true);
  expect(isStub(read(json({ list: item }), places))).toBe(true);
  expect(read(json({ list: [{ ...item, type: "other" }] }), places)).toEqual({ list: [{ ...item, type: "other" }] });
  expect(read(json({ list: [{ ...item, more: 1 }] }), places)).toEqual({ list: [{ ...item, more: 1 }] });
  expect(read(json({ list: [[item]] }), places)).toEqual({ list: [[item]] });
  expect(read(json({ list: [LONG] }), places)).toEqual({ list: [LONG] });
  expect(read(json({ other: [item], text: LONG }), places)).toEqual({ other: [item], text: LONG });
  expect(read(json({ list: [{ type: "text", text: { text: LONG } }] }), places)).toEqual({
    list: [{ type: "text", text: { text: LONG } }],
  });
  const alone: TextPlaces = { within: { one: { alone: true, texts: ["a", "b"] } } };
  expect(isStub(read(json({ one: { a: LONG } }), alone))).toBe(true);
  expect(read(json({ one: { a: LONG, b: LONG } }), alone)).toEqual({ one: { a: LONG, b: LONG } });
});

test("white space at the edges of a text and the beginning of JSON are seen", () => {
  const places: TextPlaces = { texts: ["a"] };
  const edges = String(read(JSON.stringify({ a: `\n\u3000 ${LONG}\u00a0\t\n` }), places)["a"]);
  expect(edges.trim()).not.toBe(edges);
  expect(edges).toStartWith("\n\u3000 ");
  expect(edges).toEndWith("\u00a0\t\n");
  for (const json of [`{"a": "${LONG}`, `[${LONG}`, `  {${LONG}`, " ".repeat(1000)]) {
    const rest = { b: LONG, c: LONG, d: LONG };
    expect(read(JSON.stringify({ a: json, ...rest }), places)["a"]).toBe(json);
  }
});

test("a body that is unusual, wrong or loses something when parsed has no outline", () => {
  const text = `{"a":"${LONG}"}`;
  const at = text.length - 10;
  const withBytes = (...bytes: number[]) =>
    Buffer.concat([Buffer.from(text.slice(0, at)), Buffer.from(bytes), Buffer.from(text.slice(at))]);
  const withText = (inserted: string) => withBytes(...Buffer.from(inserted));
  expect(outlineJson(withText("x"))).toBeDefined();
  for (const bytes of [withBytes(0xff), withBytes(0xed, 0xa0, 0x80), withText("\x7f"), withText("\\u007F")])
    expect(outlineJson(bytes)).toBeUndefined();
  for (const wrong of ["\n", "\t", "\\x", "\\u12g4", "\\'"]) expect(() => outlineJson(withText(wrong))).toThrow();
  expect(outlineOf(`{"10":1,"2":2,"a":"${LONG}"}`)).toBeUndefined();
  expect(outlineOf(`{"n":12345678901234567890,"a":"${LONG}"}`)).toBeUndefined();
  expect(outlineOf(`{"a":"${LONG}","b":[${"1,".repeat(5000)}1]}`)).toBeUndefined();
  expect(outlineOf(`{"${LONG}":"${LONG}"}`)).toBeUndefined();
});
