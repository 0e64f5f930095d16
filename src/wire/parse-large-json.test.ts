import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseLargeJson } from "./parse-large-json.ts";

const LONG = "QUJD".repeat(80_000);

test("H20: long values are parsed as JSON.parse does, wherever they occur", () => {
  const word = fc.oneof(
    fc.constantFrom(LONG, `${LONG}\\`, `\\${LONG}`, `"${LONG}"`, `${LONG}\n`, "\\", '"', '\\"', ":", ""),
    fc.string(),
  );
  const value = fc.oneof(word, fc.array(word, { maxLength: 4 }), fc.dictionary(word, word, { maxKeys: 4 }));
  fc.assert(
    fc.property(fc.array(value, { maxLength: 4 }), fc.boolean(), (values, spaced) => {
      const text = JSON.stringify([LONG, ...values], null, spaced ? 2 : 0);
      expect(parseLargeJson(text)).toEqual(JSON.parse(text));
    }),
    { numRuns: 60 },
  );
});

test("H07: invalid JSON is rejected, also with long values in it", () => {
  const broken = [
    `{"a":"${LONG}"`,
    `{"a":"${LONG}`,
    `{"a" "${LONG}"}`,
    `["${LONG}",]`,
    `"${LONG}" "${LONG}"`,
    `{"a":"${LONG}\\`,
    LONG,
  ];
  for (const text of broken) expect(() => parseLargeJson(text)).toThrow();
});
