// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the references of the configuration file
import { expect, test } from "bun:test";
import fc from "fast-check";
import { expandReferences, hideReferences, restoreReferences, secretReferences } from "./variables.ts";

const noFile = () => undefined;
const expandWith = (text: string, environment: Record<string, string>) =>
  expandReferences(text, { environment, readFile: noFile });

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

test("a value is inserted unchanged, whatever it contains", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), (value) => {
      expect(expandWith("<${A}>", { A: value }).text).toBe(`<${value}>`);
      expect(expandWith("${A:-x}", { A: value }).text).toBe(value);
    }),
  );
});

test("dollar signs that do not start a reference stay", () => {
  expect(expandWith("$5 $A $$ $${A} $", { A: "x" })).toEqual({
    text: "$5 $A $ ${A} $",
    used: false,
    unset: [],
    unread: [],
    missing: [],
    hasSecret: false,
    whole: false,
    malformed: false,
  });
});

test("the content of a file is inserted unchanged; an unreadable file is reported", () => {
  const readFile = (path: string) => (path === "/run/secrets/key" ? "s3cret ${A} $$" : undefined);
  const expanded = expandReferences("<${file:/run/secrets/key}>", { environment: { A: "x" }, readFile });
  expect(expanded).toMatchObject({ text: "<s3cret ${A} $$>", used: true, unread: [], malformed: false });
  expect(expandReferences("${file:nowhere}", { environment: {}, readFile }).unread).toEqual(["nowhere"]);
  expect(expandReferences("${file:}", { environment: {}, readFile }).malformed).toBe(true);
});

test("choices 18: a secret of a store is inserted unchanged; one that cannot be read is reported with the reason", () => {
  const readSecret = (reference: string) =>
    reference === "vault:secret/data/x#key" ? { value: "s3cret ${A}" } : { problem: "the store has no such secret" };
  const source = { environment: { A: "x" }, readFile: noFile, readSecret };
  expect(expandReferences("<${vault:secret/data/x#key}>", source)).toMatchObject({
    text: "<s3cret ${A}>",
    missing: [],
    hasSecret: true,
  });
  expect(expandReferences("${aws-sm:prod/key}", source)).toMatchObject({
    missing: ["aws-sm:prod/key, which cannot be read: the store has no such secret"],
  });
  // A default is not a store.
  expect(expandReferences("${a:-vault:x}", { ...source, environment: {} })).toMatchObject({
    text: "vault:x",
    hasSecret: false,
  });
  expect(
    secretReferences("a: ${vault:x#y}\nb: [ ${aws-sm:z}, ${vault:x#y}, $${gcp-sm:no}, ${file:f}, ${A:-b} ]"),
  ).toEqual(["vault:x#y", "aws-sm:z"]);
});
