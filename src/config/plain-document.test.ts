// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the references of the configuration file
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { stringify } from "yaml";
import { readPlainDocument } from "./plain-document.ts";
import { hideReferences } from "./variables.ts";
import { readYamlDocument } from "./yaml-document.ts";

const ROOT = join(import.meta.dir, "../..");

function readBoth(source: string) {
  const hidden = hideReferences(source);
  const reports: string[] = [];
  const careful = readYamlDocument(hidden, (_, message) => reports.push(message));
  return { plain: readPlainDocument(hidden), careful, reports };
}

/** What is read plainly is what the package reads, positions and all, and it has nothing to say of it. */
function expectSame(source: string): boolean {
  const { plain, careful, reports } = readBoth(source);
  if (plain === undefined) return false;
  expect<unknown>({ source, node: plain, reports }).toEqual({ source, node: careful, reports: [] });
  return true;
}

const example = readFileSync(join(ROOT, "trivium.example.yaml"), "utf8");

const blocks = ["README.md", ...readdirSync(join(ROOT, "docs")).map((name) => join("docs", name))]
  .filter((name) => name.endsWith(".md"))
  .flatMap((name) => [...readFileSync(join(ROOT, name), "utf8").matchAll(/```yaml[^\n]*\n(.*?)```/gs)])
  .map(([, text = ""]) => text);

test("the example, and nearly every configuration in the documents, is read plainly, and as the package reads it", () => {
  expect(expectSame(example)).toBe(true);
  const read = blocks.filter(expectSame).length;
  expect(blocks.length).toBeGreaterThan(20);
  expect(read / blocks.length).toBeGreaterThan(0.8);
});

test("a configuration that a program has written is read plainly", () => {
  const models = [
    { id: "acme/one", pricings: { prompt: [{ value: 0.25, unit: "perMTokens" }] }, offers: ["a", "b c"] },
  ];
  expect(expectSame(stringify({ server: { host: "127.0.0.1", port: 0 }, simulator: false, models }))).toBe(true);
});

const SCALARS = [
  ...[
    "a",
    "1",
    "0",
    "-1",
    "007",
    "1.50",
    "1.",
    ".5",
    "1e3",
    "0x1F",
    "0o17",
    "true",
    "True",
    "no",
    "null",
    "~",
    ".inf",
    "",
    "x1",
  ],
  ...[
    "127.0.0.1",
    "10.0.0.0/8",
    "2026-01-01",
    "30d",
    "1_000",
    "a b",
    "a: b",
    "a:b",
    "a:",
    ":a",
    "a #c",
    "a#c",
    "#c",
    "a,b",
  ],
  ...[
    '"a"',
    '"a # b"',
    '"\\n"',
    "'a'",
    "'it''s'",
    '"a" b',
    '"a',
    "${A}",
    "${A:-b: c, {d} # e}",
    "$$",
    "x${A}y",
    '"${A}"',
  ],
  ...[
    "[a, b]",
    "[]",
    "[a, [1, {b: c}]]",
    "[a,b]",
    "[a, ]",
    "[,]",
    "[a b, c: d]",
    "[a",
    "{}",
    "{a: 1}",
    "{ a: 1, b: [x] }",
  ],
  ...[
    "{a:1}",
    "{a: 1, a: 2}",
    "{a}",
    "{a: }",
    "{ a: ${B}, c: d#e }",
    '{ "a": 1 }',
    "{a: 1} # c",
    "[a] b",
    "http://a/b?c=d&e",
  ],
  ...[
    "*a",
    "&a b",
    "!t a",
    "|",
    ">",
    "- a",
    "? a",
    "@a",
    "`a`",
    "%a",
    "é",
    "日本",
    "a é",
    "a\u00a0b",
    "a\u0085b",
    "a\tb",
    "\ufeff",
  ],
  ...["a  # c", "a ", "a [b]", "a {b}", "a]", "a'b", 'a"b', "<<", "a\\b", "...", "---", "1 2", "+1", "- ", "-"],
];
const KEYS = [
  "a",
  "b",
  "c_d",
  "e-f",
  "g/h.i",
  "a ",
  "null",
  "true",
  "1",
  "<<",
  '"q"',
  "é",
  "a b",
  "? k",
  "- a",
  "- b",
  "-  c",
];

const line = fc
  .tuple(
    fc.constantFrom(0, 0, 2, 2, 4, 4, 1, 3, 6),
    fc.constantFrom("", "", "", "- ", "- ", "-  ", "- - ", "-"),
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc.tuple(fc.constantFrom(...KEYS), fc.constantFrom(...SCALARS)).map((pair) => pair.join(": ")),
      },
      { weight: 3, arbitrary: fc.constantFrom(...KEYS).map((key) => `${key}:`) },
      { weight: 2, arbitrary: fc.constantFrom(...SCALARS) },
      { weight: 1, arbitrary: fc.constantFrom("# comment", "", "  ", "a:  # comment", "\r") },
    ),
  )
  .map(([indent, dash, text]) => " ".repeat(indent) + dash + text);

test("any lines are read as the package reads them, or left to it", () => {
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 5 }), (lines) => void expectSame(lines.join("\n"))),
    { numRuns: 1500 },
  );
});

/** What becomes of one line of a configuration. */
const slip = fc.oneof(
  line.map((other) => () => [other]),
  line.map((other) => (text: string) => [text, other]),
  fc.constantFrom(...SCALARS).map((scalar) => (text: string) => [text + scalar]),
  fc.constantFrom(...SCALARS).map((scalar) => (text: string) => [text.replace(/:.*/, `: ${scalar}`)]),
  fc.constantFrom<(text: string) => string[]>(
    () => [],
    (text) => [text, text],
    (text) => [` ${text}`],
    (text) => [`  ${text}`],
    (text) => [text.slice(1)],
    (text) => [text.slice(2)],
    (text) => [text.slice(0, -1)],
  ),
);

test("a configuration with a slip in one line is read as the package reads it, or left to it", () => {
  let plain = 0;
  fc.assert(
    fc.property(fc.constantFrom(example, ...blocks), fc.nat(), slip, (source, at, change) => {
      const lines = source.split("\n");
      const index = at % lines.length;
      lines.splice(index, 1, ...change(lines[index] ?? ""));
      if (expectSame(lines.join("\n"))) plain++;
    }),
    { numRuns: 1500 },
  );
  expect(plain).toBeGreaterThan(150);
});

test("every text behind a key, in a list and in brackets", () => {
  for (const scalar of SCALARS)
    for (const around of [
      `a: ${scalar}`,
      `a:\n  - ${scalar}\n`,
      `a: [${scalar}, b]`,
      `a: { b: ${scalar} }\nc: 1`,
      `a:\n  ${scalar}`,
    ])
      expectSame(around);
});

test("what is written twice, or is wrong, is left to the package, which says where", () => {
  for (const source of [
    "a: 1\na: 2",
    "a: 1\n  b: 2",
    "a:\n    b: 1\n  c: 2",
    "a: [1, 2",
    "\ta: 1",
    "a: 'b",
    "- a\nb: 1",
  ])
    expect(readPlainDocument(source)).toBeUndefined();
});
