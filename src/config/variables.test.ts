// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the references of the configuration file
import { expect, test } from "bun:test";
import fc from "fast-check";
import { expandVariables, hideReferences, restoreReferences } from "./variables.ts";

const segments = fc.array(
  fc.oneof(
    fc.constantFrom("$", "$$", "${", "}", "${A}", "${A:-b, c}", "${A:-#: [x]\\\"'&*}", "${ü:-ß}", "\n", "{ k: ", " }"),
    fc.string(),
  ),
);

test("hiding references from the parser keeps every line and column, and restoring brings the text back", () => {
  fc.assert(
    fc.property(segments, (parts) => {
      const source = parts.join("");
      const hidden = hideReferences(source);
      expect(hidden.length).toBe(source.length);
      expect(hidden.split("\n").map((line) => line.length)).toEqual(source.split("\n").map((line) => line.length));
      expect(restoreReferences(hidden)).toBe(source);
    }),
  );
});

test("a value goes in as it is, whatever it holds", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), (value) => {
      expect(expandVariables("<${A}>", { A: value }).text).toBe(`<${value}>`);
      expect(expandVariables("${A:-x}", { A: value }).text).toBe(value);
    }),
  );
});

test("dollar signs that open nothing stay", () => {
  expect(expandVariables("$5 $A $$ $${A} $", { A: "x" })).toEqual({
    text: "$5 $A $ ${A} $",
    used: false,
    unset: [],
    whole: false,
    malformed: false,
  });
});
