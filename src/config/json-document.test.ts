// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the references of the configuration file
import { expect, test } from "bun:test";
import fc from "fast-check";
import { readJsonDocument } from "./json-document.ts";
import { hideReferences } from "./variables.ts";
import { readYamlDocument } from "./yaml-document.ts";

/** What is read here is what the package reads, positions and all, and it has nothing to say of it. */
function expectSame(source: string): boolean {
  const hidden = hideReferences(source);
  const node = readJsonDocument(hidden);
  if (node === undefined) return false;
  const reports: string[] = [];
  const careful = readYamlDocument(hidden, (_, message) => reports.push(message));
  expect<unknown>({ source, node, reports }).toEqual({ source, node: careful, reports: [] });
  return true;
}

const LAYOUTS = [undefined, 1, 2, 4];

const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    tie("scalar"),
    tie("scalar"),
    fc.array(tie("any"), { maxLength: 4 }),
    tie("map"),
  ),
  map: fc.dictionary(
    fc.oneof(fc.constantFrom("a", "b", "acme/*", "<<", "1", "null", "é", "a: b # c", "${A}", ""), fc.string()),
    tie("any"),
    { maxKeys: 4 },
  ),
  scalar: fc.oneof(
    fc.constantFrom<unknown>(
      true,
      false,
      null,
      0,
      -0,
      1e-7,
      1e21,
      "",
      "${A}",
      '${A:-b: "c", {d} # e}',
      "$$",
      "- a",
      "#",
    ),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.string({ unit: "grapheme" }),
    fc.string({ unit: "binary" }),
  ),
})).map;

test("any JSON is read as the package reads it, or left to it", () => {
  let [read, all] = [0, 0];
  fc.assert(
    fc.property(value, fc.constantFrom(...LAYOUTS), (document, layout) => {
      all++;
      if (expectSame(JSON.stringify(document, null, layout))) read++;
    }),
    { numRuns: 200 },
  );
  expect(read / all).toBeGreaterThan(0.5);
});

const CONFIG = {
  server: { host: "127.0.0.1", port: 8787, public_url: "https://a.example/?b=c#d" },
  keys: [{ name: "tests", key: "${KEY:-sk-trv-0}", limits: { budget_usd_total: 0.016, concurrent: 500 } }],
  providers: {
    acme: { kind: "openai-compatible", api_key: "${file:secret}", headers: { "x-a": 'b "c" \\ \n\u0001' } },
  },
  models: [{ id: "acme/*", pricings: {}, offers: [], tags: ["é", "日本"] }],
  simulator: false,
  redis: null,
};

/** What becomes of one place of a configuration. */
const slip = fc.oneof(
  fc.constantFrom(..."{}[],:\"\\ \n\t#-&*!|>%@`'0e.$".split("")).map((added) => ({ removed: 0, added })),
  fc.constantFrom(1, 2, 5).map((removed) => ({ removed, added: "" })),
  fc
    .constantFrom(
      "null",
      "01",
      "1.",
      "tru",
      "'a'",
      '"a":1,',
      '"a"\n:1,',
      ",]",
      "# c\n",
      "\n---\n",
      "${A}",
      '"\\x41"',
      '"\\u00e9"',
    )
    .map((added) => ({ removed: 0, added })),
);

test("a configuration with a slip is read as the package reads it, or left to it", () => {
  let read = 0;
  fc.assert(
    fc.property(fc.constantFrom(...LAYOUTS), fc.nat(), slip, (layout, place, { removed, added }) => {
      const source = JSON.stringify(CONFIG, null, layout);
      const at = place % (source.length + 1);
      if (expectSame(source.slice(0, at) + added + source.slice(at + removed))) read++;
    }),
    { numRuns: 300 },
  );
  expect(read).toBeGreaterThan(15);
});

test("a configuration that a program has written is read without the package", () => {
  for (const layout of LAYOUTS) expect(expectSame(`${JSON.stringify(CONFIG, null, layout)}\n`)).toBe(true);
});

test("what is written twice, is wrong, or is no JSON is left to the package, which says where", () => {
  for (const source of ['{"a":1,"a":2}', '{"a":1', '{"a":1}}', '{"a" 1}', "{a: 1}", "a: 1", '{"a":1,}', "[]", ""])
    expect(readJsonDocument(source)).toBeUndefined();
});
