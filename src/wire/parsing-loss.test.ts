import { expect, test } from "bun:test";
import fc from "fast-check";
import { parsingLoss } from "./parsing-loss.ts";

/** A slow reference: removes every string, then searches the rest. */
function carefulLoss(text: string) {
  const bare = text.replace(/"(?:[^"\\]|\\.)*"/gs, (string) => (/^"\d+"$/.test(string) ? '"1"' : '""'));
  return {
    order: /"1"\s*:/.test(bare),
    digits: /\d[\d.]{15}/.test(bare) || /\d[eE][+-]?\d{3,}/.test(bare),
  };
}

const number = fc.oneof(
  fc.double({ noDefaultInfinity: true, noNaN: true }).map((value) => JSON.stringify(value)),
  fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }).map(String),
  fc.constantFrom("1e400", "-1E-400", "1e+99", "0.1000000000000000055", "123456789012345", "1234567890123456", "-0"),
);
const string = fc
  .oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom('"1": 12345678901234567', "\\", '\\"', "\ud800", "é👍\u0000\n", "12", "9007199254740993", "1e400"),
  )
  .map((text) => JSON.stringify(text));
const space = fc.constantFrom("", " ", "\n\t");
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    number,
    string,
    fc.array(tie("value"), { maxLength: 4 }).map((items) => `[${items.join(",")}]`),
    fc
      .array(fc.tuple(string, space, tie("value"), space), { maxLength: 4 })
      .map((members) => `{${members.map(([key, gap, item, after]) => `${key}${gap}:${item}${after}`).join(",")}}`),
  ),
}));

test("H05: the scan agrees with the slow reference for any JSON", () => {
  fc.assert(
    fc.property(value, (text) => {
      expect(parsingLoss(text)).toEqual(carefulLoss(text));
    }),
    { numRuns: 2000 },
  );
});

test("H05: keys and numbers inside strings do not count", () => {
  const inside = JSON.stringify({ text: '{"1": 12345678901234567890, "2": 1e400}', id: "call_00000000000000000000" });
  expect(parsingLoss(inside)).toEqual({ order: false, digits: false });
});

test("truncated text gives a result", () => {
  for (const text of ["", '{"1', '{"1"', "12345678901234567", "1e", '"\\']) expect(parsingLoss(text)).toBeDefined();
});
