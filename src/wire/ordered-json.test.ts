import { expect, test } from "bun:test";
import fc from "fast-check";
import { bodyInOrder, parseInOrder, stringifyInOrder } from "./ordered-json.ts";

test("H05: keys that look like array indices keep their order", () => {
  const text = '{"b":1,"10":{"2":[],"a":0,"1":"3"},"9":null,"c":{"x\\"7":1,"7":2}}';
  expect(stringifyInOrder(parseInOrder(text))).toBe(text);
  expect(JSON.stringify(JSON.parse(text))).not.toBe(text);
});

test("H05: text inside strings stays unchanged, including quotes and colons", () => {
  const text = JSON.stringify({ "5": 'say "7": "8"', note: '{"1":2}', "3\\": '"4": ' });
  expect(parseInOrder(stringifyInOrder(parseInOrder(text)))).toEqual(parseInOrder(text));
  expect(JSON.parse(stringifyInOrder(parseInOrder(text)))).toEqual(JSON.parse(text));
});

test("H05: any JSON has the same meaning after a round trip", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(JSON.parse(stringifyInOrder(parseInOrder(text)))).toEqual(JSON.parse(JSON.stringify(JSON.parse(text))));
    }),
  );
});

/** The result, and whether it is the given object or a newly parsed one. */
const looked = (text: string) => {
  const parsed: unknown = JSON.parse(text);
  const byText = parseInOrder(text, parsed);
  const byBytes = bodyInOrder({ text, bytes: Buffer.from(text) }, parsed);
  return { parsed, byText, byBytes };
};

const hard = fc.constantFrom("é", "👍", "1", "９", "\u2028", '"7": 12345678901234567', "\\", "ï»¿", "\uffff");
const value = fc.jsonValue({ noUnicodeString: false, maxDepth: 3 });

test("H05: a body scanned as bytes gives the same result as its text, whatever characters it has", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.oneof(hard, fc.string({ unit: "grapheme" })), fc.oneof(hard, value)), (object) => {
      const { parsed, byText, byBytes } = looked(JSON.stringify(object));
      expect(stringifyInOrder(byBytes)).toBe(stringifyInOrder(byText));
      expect(byBytes === parsed).toBe(byText === parsed);
    }),
    { numRuns: 1000 },
  );
});

test("H05: the text of a body is made only if it must be parsed again", () => {
  const asked: string[] = [];
  const source = (text: string) => ({
    get text() {
      asked.push(text);
      return text;
    },
    bytes: Buffer.from(text),
  });
  const plain = '{"b":"é 12345678901234567890","a":1}';
  const parsed: unknown = JSON.parse(plain);
  expect(bodyInOrder(source(plain), parsed)).toBe(parsed);
  expect(asked).toEqual([]);
  const inDanger = '{"b":"é","7":12345678901234567890}';
  expect(stringifyInOrder(bodyInOrder(source(inDanger), JSON.parse(inDanger)))).toBe(inDanger);
  expect(asked).toEqual([inDanger]);
});
