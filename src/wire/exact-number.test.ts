import { expect, test } from "bun:test";
import fc from "fast-check";
import { isObject, numberAt, numberOf } from "../base/json.ts";
import { parseExactly } from "./exact-number.ts";
import { parseInOrder, stringifyInOrder } from "./ordered-json.ts";

/** Decision 0003: text is kept where JavaScript would round a number. Where the text is parsed, the digits are kept as well. */

const whole = fc
  .tuple(fc.constantFrom("", "-"), fc.integer({ min: 1, max: 30 }), fc.stringMatching(/^[1-9]\d{29}$/, { size: "max" }))
  .map(([sign, length, digits]) => sign + digits.slice(0, length));

test("decision 0003: an integer of up to thirty digits is written exactly as it was read", () => {
  fc.assert(
    fc.property(whole, whole, (one, other) => {
      const text = `{"id":${one},"list":[${other},{"10":${one},"2":${other}}]}`;
      expect(stringifyInOrder(parseInOrder(text))).toBe(text);
      expect(stringifyInOrder(parseInOrder(text, JSON.parse(text)))).toBe(text);
    }),
  );
});

test.each([
  "0.1000000000000000055511151231257827",
  "1e400",
  "-1E-400",
  "123456789012345678.5",
  "9.999999999999999e1000",
])("decision 0003: %s is written exactly as it was read", (number) => {
  expect(stringifyInOrder(parseInOrder(`[${number}]`))).toBe(`[${number}]`);
});

test("decision 0003: a number that fits a double stays a number, however it is written", () => {
  fc.assert(
    fc.property(fc.double({ noDefaultInfinity: true, noNaN: true }), (drawn) => {
      const number = drawn + 0;
      const plain = number.toExponential();
      for (const text of [plain, plain.replace("e-", "e-00"), plain.replace("e", ".0e").replace(/(\..*)\./, "$1")]) {
        expect(parseExactly(`[${text}]`)).toEqual([number]);
      }
    }),
  );
});

test("every reader treats a number that is kept as text as a number, not as an object", () => {
  const tree = parseInOrder('{"id":9007199254740993}') as { id: unknown };
  expect(isObject(tree.id)).toBe(false);
  expect(numberOf(tree.id)).toBe(9007199254740992);
  expect(numberAt(tree, "id")).toBe(9007199254740992);
});

test("text without long numbers is not parsed again", () => {
  const parsed = {};
  const text = '{"temperature":0.7,"n":123456789012345,"e":1e30,"text":"3e123of [12345678901234567890, 1e400]"}';
  expect(parseInOrder(text, parsed)).toBe(parsed);
});

test("a number of a million digits is read as fast as other text", () => {
  const text = `[1.${"0".repeat(1_000_000)}1]`;
  const before = process.cpuUsage();
  expect(stringifyInOrder(parseInOrder(text))).toBe(text);
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(1000);
});
