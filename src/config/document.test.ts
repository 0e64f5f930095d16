// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the references of the configuration file
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { stringify } from "yaml";
import { NOWHERE, readDocument } from "./document.ts";
import type { DocumentNode } from "./document-node.ts";
import { readPlacedDocument } from "./placed-document.ts";

const ROOT = join(import.meta.dir, "../..");
const EXAMPLE = readFileSync(join(ROOT, "trivium.example.yaml"), "utf8");
const BLOCKS = ["README.md", ...readdirSync(join(ROOT, "docs")).map((name) => join("docs", name))]
  .filter((name) => name.endsWith(".md"))
  .flatMap((name) => [...readFileSync(join(ROOT, name), "utf8").matchAll(/```yaml[^\n]*\n(.*?)```/gs)])
  .map(([, text = ""]) => text);

/** The values of a document in order, with the positions that `known` has. */
function valuesOf(node: DocumentNode | undefined, known: DocumentNode | undefined): unknown {
  if (node?.kind === "map") {
    const entries = known?.kind === "map" ? known.entries : undefined;
    return [...node.entries].map(([name, entry]) => [name, valuesOf(entry.node, entries?.get(name)?.node)]);
  }
  if (node?.kind === "list") {
    const items = known?.kind === "list" ? known.items : [];
    return { items: node.items.map((item, index) => valuesOf(item, items[index])) };
  }
  return { value: node?.value, position: known?.position === NOWHERE ? NOWHERE : node?.position };
}

/** Whether the runtime's parser accepts this text. If so, the package must read the same and report nothing. */
function decides(source: string): boolean {
  const node = readDocument(source);
  if (node === undefined) return false;
  const reports: string[] = [];
  const placed = readPlacedDocument(source, (_, message) => reports.push(message));
  expect({ source, values: valuesOf(node, node), reports }).toEqual({
    source,
    values: valuesOf(placed, node),
    reports: [],
  });
  return true;
}

const CONFIG = {
  server: { host: "127.0.0.1", port: 8787, public_url: "https://a.example/?b=c#d" },
  keys: [{ name: "tests", key: "${KEY:-sk-trv-0}", limits: { budget_usd_total: 0.016, concurrent: 500 } }],
  providers: { acme: { kind: "openai-compatible", api_key: "${file:secret}", headers: { "x-a": 'b "c" \\ \u0001' } } },
  models: [{ id: "acme/*", pricings: {}, offers: [], tags: ["é", "日本", "a: b", "- c"] }],
  simulator: false,
  redis: null,
};
const JSON_TEXTS = [undefined, 1, 2, 4].map((indent) => JSON.stringify(CONFIG, null, indent));
const DOCUMENTS = [EXAMPLE, ...BLOCKS, ...JSON_TEXTS, stringify(CONFIG)];

test("the example, the configurations in the documentation, and what programs write need no package", () => {
  expect(BLOCKS.length).toBeGreaterThan(20);
  for (const source of DOCUMENTS) {
    expect({ source, decided: decides(source) }).toEqual({ source, decided: true });
    expect(decides(source.replaceAll("\n", "\r\n"))).toBe(true);
  }
});

const SCALARS =
  String.raw`a|1|0|-1|-0|007|08|1.50|1.|.5|+.5|1e3|1.e3|1e400|0x1F|-0x1F|0o17|+0o7|0b1|1_000|12345678901234567890|true|True|tRue|yes|on|no
null|NULL|~|.inf|-.Inf|.iNF|.nan|NaN|127.0.0.1|10.0.0.0/8|2026-01-01|2001-12-14t21:59:43.10-05:00|1:30|30d|a b|a: b|a : b|a:b|a:|:a|:|::|a:: b|a #c|a#c
#c|a,b|,a|"a"|"a # b"|"a: b"|"\n"|"\x41\u00e9"|"a\": b"|"a\\"|'a'|'it''s'|'a'': b'|"a" b|"a|\${A}|\${A:-b: c, {d} # e}|$$|x\${A}y|"\${A}"|[a, b]|[]|[a, [1, {b: c}]]
[a, ]|[,]|[a b, c: d]|["a":b]|[a|[a , b]|{}|{a: 1}|{ a: 1, b: [x] }|{a:1}|{a: 1, a: 2}|{a}|{a: }|{ : a}|{? a : b}|{ a: \${B}, c: d#e }|{"x": "y:z","x" :1}|[a] b
http://a/b?c=d&e|*a|&a b|!t a|!!str 1|>|- a|- :{}|? a|@a|%a|é|日本|😀|a [b]|a]|a'b|a"b|<<|a\b|a\|...|---|1 2|-|=`
    .replaceAll("\\$", "$")
    .split(/[|\n]/);
const LINES = [
  "|\n    x: y\n    : z",
  ">-\n    x\n\n    y",
  "> -",
  "a\n  b",
  '"a\n  : b"',
  '"a\\\n\n  b"',
  "[a\n  ,b]",
  "[\n  a\n]",
  "[{\n}]",
  "{\n    a: 1\n  }",
  "# c\n    a",
];
const TEXTS = [...SCALARS, ...LINES, "", "a ", "a  # c", "a\tb", "a\u00a0b", "a\u0085b", "\ufeff", "\ue1000\ue100"];
const KEYS = [
  ..."a|b|b|c_d|e-|g/h.i|a |null|~|true|1|08|<<|é|a b|'a'|*k|&k k|[k]|a:b|x#y|x #y|?|-|acme/*".split("|"),
  '"a"',
  '"a" ',
  "${A}",
  "",
];

test("every text after a key, in a list and in brackets, and every key, twice too", () => {
  for (const text of TEXTS) {
    for (const source of [
      `a: ${text}`,
      `a:\n  - ${text}\n`,
      `a: [${text}, b]`,
      `a: { b: ${text} }\nc: 1`,
      `a:\n  ${text}`,
    ])
      decides(source);
    for (const key of KEYS) {
      for (const source of [`${key}: ${text}`, `{${key}: ${text}}`, `x: 1\n${key}: ${text}\n${key}: 2`])
        decides(source);
    }
  }
});

const someKey = fc.constantFrom(...KEYS);
const someText = fc.constantFrom(...TEXTS);
const line = fc
  .tuple(
    fc.constantFrom(0, 0, 2, 2, 4, 4, 1, 3, 6),
    fc.constantFrom("", "", "", "- ", "- ", "-  ", "- - ", "-", "? ", ": "),
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc
          .tuple(someKey, fc.constantFrom(": ", ": ", ":  ", " : ", ":"), someText)
          .map((parts) => parts.join("")),
      },
      { weight: 3, arbitrary: someKey.map((key) => `${key}:`) },
      { weight: 2, arbitrary: someText },
      { weight: 1, arbitrary: fc.constantFrom("# a: b", "", "  ", "a:  # comment", "\r", "---", "...", "--- a: b") },
    ),
  )
  .map(([indent, dash, text]) => " ".repeat(indent) + dash + text);

test("any lines", () => {
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 5 }), (lines) => void decides(lines.join("\n"))),
    { numRuns: 1500 },
  );
});

/** Variants of one line. */
const lineSlip = fc.oneof(
  line.map((other) => (text: string) => [text, other]),
  someText.map((added) => (text: string) => [text + added]),
  someText.map((other) => (text: string) => [text.replace(/:.*/, `: ${other}`)]),
  fc.constantFrom(
    (text: string) => [text, text],
    (text: string) => [` ${text}`],
    (text: string) => [text.slice(1)],
  ),
);
const PIECES = [
  ..."{}[],:\"\\ \n\t#-&*!|>%@`'0e.$?~",
  ": ",
  "\n  ",
  "\n- ",
  "01",
  "tru",
  '"a":1,',
  "# c\n",
  "\n---\n",
  "${A}",
];

test("a configuration with a typo", () => {
  let decided = 0;
  const slips = fc.oneof(
    fc.tuple(fc.constantFrom(...DOCUMENTS), fc.nat(), lineSlip).map(([source, place, change]) => {
      const lines = source.split("\n");
      const index = place % lines.length;
      return lines.toSpliced(index, 1, ...change(lines[index] ?? "")).join("\n");
    }),
    fc
      .tuple(fc.constantFrom(...DOCUMENTS), fc.nat(), fc.constantFrom(0, 1, 2, 5), fc.constantFrom("", ...PIECES))
      .map(([source, place, removed, added]) => {
        const at = place % (source.length + 1);
        return source.slice(0, at) + added + source.slice(at + removed);
      }),
  );
  fc.assert(
    fc.property(slips, (source) => {
      if (decides(source)) decided++;
    }),
    { numRuns: 1500 },
  );
  expect(decided).toBeGreaterThan(150);
});

test("any value that a program writes, as JSON and as YAML", () => {
  const value = fc.dictionary(fc.oneof(someKey, fc.string()), fc.jsonValue({ maxDepth: 3, stringUnit: "binary" }), {
    maxKeys: 4,
  });
  fc.assert(
    fc.property(value, (object) =>
      [JSON.stringify(object), JSON.stringify(object, null, 2), stringify(object)].forEach(decides),
    ),
    { numRuns: 100 },
  );
});

test("repeated keys, errors, and anything this parser may read differently are left to the package", () => {
  const left = [
    "a: 1\na: 2",
    "a: {b: 1, b: 2}",
    '{"a":1,"a":2}',
    '{"a":1, "\\u0061":2}',
    "a: 1\nb: 2\n'a': 3",
    "? a\n: 1",
    "a: {b}",
    `${"k".repeat(1100)}: 1`,
    `a: ${"[".repeat(40)}${"]".repeat(40)}`,
    "a: -0x1F",
    '{\n "a": [\n  1\n ]\n# c\n}',
  ];
  const wrong = [
    "a: 1\n  b: 2",
    "a: [1, 2",
    "\ta: 1",
    "a: 'b",
    "- a\nb: 1",
    "a: ,b",
    "x: [{\n}]",
    "%YAML 1.1\n---\na: yes",
    "a: 1\n---\nb: 2",
    "- a",
    "",
  ];
  for (const source of [...left, ...wrong])
    expect({ source, node: readDocument(source) }).toEqual({ source, node: undefined });
});
