import { describe, expect, test } from "bun:test";
import { isObject } from "../src/base/json.ts";
import type { DialectName } from "../src/canon/dialect-name.ts";
import type { ModelFacts } from "../src/catalogue/model.ts";
import { BUILT_IN } from "../src/providers/index.ts";
import { type AnswerCircumstances, answerDigest } from "../src/relay/cached/answer-digest.ts";
import { DEFAULT_ROUTING } from "../src/routing/call-routing.ts";
import { sampleRequests } from "../testing/sample-requests.ts";
import { REQUEST_SCHEMAS } from "./field-outcomes.ts";
import { membersOf } from "./schema-paths.ts";

const MODEL: ModelFacts = {
  id: "acme/one",
  displayName: "One",
  inputModalities: ["text"],
  outputModalities: ["text"],
  reasoning: false,
  kind: "text",
  pricings: {},
};
const CIRCUMSTANCES: AnswerCircumstances = {
  project: "default",
  key: undefined,
  dialect: "chat",
  door: "contract",
  strict: false,
  options: undefined,
  stream: false,
  model: MODEL,
  calledAs: "acme/one",
  offers: [{ provider: "acme", upstreamModel: "one", pricings: {} }],
  fallback: undefined,
  routing: DEFAULT_ROUTING,
  guards: undefined,
};

const ignoredBy = (dialect: DialectName) => BUILT_IN.dialects.get(dialect).cached?.ignored ?? {};
const digestOf = (dialect: DialectName, body: unknown) =>
  answerDigest(JSON.stringify(body), ignoredBy(dialect), CIRCUMSTANCES);

type Keys = readonly (string | number)[];

/** A copy with another value at the place; `undefined` removes it. */
function changed(value: unknown, [key, ...rest]: Keys, next: unknown): unknown {
  if (key === undefined) return next;
  if (Array.isArray(value)) return value.map((each, index) => (index === key ? changed(each, rest, next) : each));
  return Object.fromEntries(
    Object.entries(value as object).map(([name, child]) => [name, name === key ? changed(child, rest, next) : child]),
  );
}

function otherThan(value: unknown): unknown {
  if (typeof value === "string") return `${value}x`;
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  if (Array.isArray(value)) return [...value, null];
  return isObject(value) ? { ...value, another: 1 } : "other";
}

describe("decision 0128: every field that can change a response causes a miss", () => {
  // scripts/mapping.test.ts checks that these samples fill every field of every schema.
  for (const { dialect, name, text } of sampleRequests("every-field")) {
    test(`${dialect}, ${name}: each field, changed or removed`, () => {
      const body: unknown = JSON.parse(text);
      const digest = digestOf(dialect, body);
      const ignored = Object.keys(ignoredBy(dialect));
      for (const { keys, path, value } of membersOf(REQUEST_SCHEMAS[dialect], body)) {
        for (const next of [otherThan(value), undefined]) {
          const isSame = digestOf(dialect, changed(body, keys, next)) === digest;
          expect([path, isSame]).toEqual([path, ignored.includes(String(keys[0]))]);
        }
      }
    });
  }

  test("unknown fields count, wherever they are", () => {
    for (const dialect of ["chat", "messages", "genai", "responses", "interactions"] as const) {
      const plain = digestOf(dialect, { a: { b: [1] } });
      expect(digestOf(dialect, { a: { b: [1] }, later_invented: true })).not.toBe(plain);
      expect(digestOf(dialect, { a: { b: [1], user: "x" } })).not.toBe(plain);
    }
  });

  test.each<[string, Partial<AnswerCircumstances>]>([
    ["project", { project: "other" }],
    ["key", { key: "key_1" }],
    ["protocol", { dialect: "messages" }],
    ["base URL", { door: "dropin" }],
    ["strictness", { strict: true }],
    ["options", { options: { betas: ["x"] } }],
    ["stream", { stream: true }],
    ["model", { model: { ...MODEL, id: "acme/two" } }],
    ["output limit of the model", { model: { ...MODEL, maxOutputTokens: 100 } }],
    ["context of the model", { model: { ...MODEL, contextLength: 100 } }],
    ["reasoning of the model", { model: { ...MODEL, reasoning: true } }],
    ["traits of the model", { model: { ...MODEL, traits: { noSampling: true } as never } }],
    ["name of the model", { calledAs: "one" }],
    ["offers", { offers: [{ provider: "acme", upstreamModel: "two", pricings: {} }] }],
    [
      "traits of an offer",
      { offers: [{ provider: "acme", upstreamModel: "one", pricings: {}, traits: { region: "eu" } as never }] },
    ],
    ["routing", { routing: { ...DEFAULT_ROUTING, survive: !DEFAULT_ROUTING.survive } }],
    ["required traits", { routing: { ...DEFAULT_ROUTING, require: [{ trait: "region", value: "eu" }] as never } }],
    ["guards", { guards: "digest" }],
  ])("the %s counts", (_name, change) => {
    const text = '{"model":"acme/one"}';
    expect(answerDigest(text, {}, { ...CIRCUMSTANCES, ...change })).not.toBe(answerDigest(text, {}, CIRCUMSTANCES));
  });

  test("prices and descriptions do not", () => {
    const offers = [{ provider: "acme", upstreamModel: "one", pricings: { prompt: [] }, weight: 2 }];
    const model = { ...MODEL, displayName: "The One", pricings: { prompt: [] } };
    expect(answerDigest("{}", {}, { ...CIRCUMSTANCES, model, offers })).toBe(answerDigest("{}", {}, CIRCUMSTANCES));
  });
});
