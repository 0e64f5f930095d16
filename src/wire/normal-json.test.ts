import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { normalJson } from "./normal-json.ts";

const NONE = new Set<string>();
const same = (one: string, other: string) => normalJson(one, NONE) === normalJson(other, NONE);

describe("decision 0128: the normal form of a request", () => {
  test("ignores white space and the spelling of strings and numbers", () => {
    expect(same('{"a":[1,2],"b":"x"}', '\n{ "a" : [ 1 , 2 ] ,\t"b":"x" }\r\n')).toBe(true);
    expect(same('{"a":"A/é"}', '{"\\u0061":"\\u0041\\/\\u00e9"}')).toBe(true);
    expect(same('{"a":[1,0.5,100]}', '{"a":[1.0,5e-1,1E2]}')).toBe(true);
  });

  test("keeps order, repeated members, and digits that a number loses", () => {
    expect(same('{"a":1,"b":2}', '{"b":2,"a":1}')).toBe(false);
    expect(same('{"1":1,"0":2}', '{"0":2,"1":1}')).toBe(false);
    expect(same('{"a":1,"a":2}', '{"a":2}')).toBe(false);
    expect(same('{"a":12345678901234567890}', '{"a":12345678901234567891}')).toBe(false);
    expect(same('{"a":0.1}', '{"a":0.10000000000000001}')).toBe(false);
    expect(same('{"a":-0}', '{"a":0}')).toBe(false);
    expect(same('{"a":[1,2]}', '{"a":[12]}')).toBe(false);
    expect(same('{"a":"1"}', '{"a":1}')).toBe(false);
  });

  test("leaves out ignored members of the object itself, however they are spelled", () => {
    const ignored = new Set(["user", "metadata"]);
    const plain = normalJson('{"a":{"user":1}}', ignored);
    for (const text of [
      '{"user":"x","a":{"user":1}}',
      '{"a":{"user":1},"metadata":{"k":["},{"]}}',
      '{"\\u0075ser":[1,{"a":"\\""}], "a":{"user":1} , "metadata":null}',
    ]) {
      expect(normalJson(text, ignored)).toBe(plain);
    }
    expect(normalJson('{"a":{"user":2}}', ignored)).not.toBe(plain);
    expect(normalJson('{"a":"user","b":1}', ignored)).not.toBe(normalJson('{"a":"metadata","b":1}', ignored));
  });

  test("is equal for equal values, and differs for others", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.dictionary(fc.string(), fc.jsonValue()),
        (one, other) => {
          const [text, another] = [JSON.stringify(one), JSON.stringify(other)];
          expect(same(text, JSON.stringify(one, null, 2))).toBe(true);
          // Negative zero is written as 0.
          expect(same(text, another)).toBe(text === another);
        },
      ),
      { numRuns: 300 },
    );
  });
});
