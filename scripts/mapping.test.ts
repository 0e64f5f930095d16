import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { DIALECT_NAMES, UPSTREAM_DIALECT_NAMES } from "../src/canon/dialect-name.ts";
import { sampleRequests } from "../testing/sample-requests.ts";
import { checkedRequest } from "../testing/translate-sample.ts";
import { type FieldOutcome, outcomesOf, REQUEST_SCHEMAS } from "./field-outcomes.ts";
import { MAPPING_FILE, mappingDocument } from "./mapping.ts";
import { fieldsIn, fieldsOf } from "./schema-paths.ts";

const samples = sampleRequests("every-field");
const outcomes = (await Promise.all(samples.map(outcomesOf))).flat();

describe("fixtures/every-field", () => {
  test.each(samples.map((sample) => [`${sample.dialect}/${sample.name}`, sample] as const))(
    "%s is sound",
    (_, sample) => {
      expect(() => checkedRequest(sample.dialect, sample.text, "dropin")).not.toThrow();
    },
  );

  test.each([...DIALECT_NAMES])("together the samples of %s hold every field of its request schema", (dialect) => {
    const schema = REQUEST_SCHEMAS[dialect];
    const filled = samples
      .filter((sample) => sample.dialect === dialect)
      .map(({ text }) => fieldsIn(schema, JSON.parse(text) as unknown));
    const missing = [...fieldsOf(schema)].filter((field) => !filled.some((fields) => fields.has(field)));
    expect(missing).toEqual([]);
  });
});

describe("H09: no field of a request is lost without a word", () => {
  test.each(samples.map((sample) => [`${sample.dialect}/${sample.name}`, sample] as const))(
    "%s",
    (_, { dialect, name }) => {
      const own = outcomes.filter((outcome) => outcome.dialect === dialect && outcome.sample === name);
      expect(own.length).toBeGreaterThan(0);
      expect(own.flatMap(lost)).toEqual([]);
    },
  );
});

function lost({ member, at }: FieldOutcome): string[] {
  const targets = UPSTREAM_DIALECT_NAMES.filter((target) => at[target].outcome === "lost");
  return targets.length === 0 ? [] : [`${member.path} at ${targets.join(", ")}`];
}

test("docs/mapping.md is what the code does: bin/bun scripts/mapping.ts --write", () => {
  expect(readFileSync(MAPPING_FILE, "utf8")).toBe(mappingDocument(outcomes));
});
