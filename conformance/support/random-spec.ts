import fc from "fast-check";
import { THINKING_PURPOSE } from "../../simulator/hosts/anthropic/text/read-blocks.ts";
import { TEXT_PURPOSE } from "../../simulator/hosts/google/text/read-contents.ts";
import { Seed } from "../../simulator/seed.ts";
import { sign } from "../../simulator/text/signature.ts";
import type { JsonObject } from "../../src/base/json.ts";
import type { Opaque } from "../../src/canon/opaque.ts";

/**
 * The content of random requests, independent of any dialect. They keep only the rules that hold for every client of
 * every protocol: each call is followed by its result, and names and ids are unique. No generator is recursive.
 */

export const SEED = new Seed("random requests");
export const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
export const PDF = "JVBERi0xLjQKJSVFT0YK";

const WORDS = ["", " ", "\n", "hello", "Guten Tag ", "naïve ✓ 日本語", "use get_weather", '{"json": true}', "😀"];
const words = fc.constantFrom(...WORDS);
const spoken = fc.constantFrom(...WORDS.filter((one) => one.trim() !== ""));
const mark = fc.option(fc.constantFrom({}, { ttl: "5m" }, { ttl: "1h" }), { nil: undefined, freq: 4 });

export type Media = "image" | "image-url" | "pdf" | "text-file";
const media = fc.constantFrom<Media>("image", "image-url", "pdf", "text-file");

const TOOL_NAMES = ["get_weather", "get-time", "files.read", "2nd_tool", "日本", "mcp__".padEnd(90, "x"), "answer"];
const SCHEMAS: readonly (JsonObject | undefined)[] = [
  undefined,
  {},
  { type: "object" },
  { properties: { city: { type: "string" } } },
  { type: "object", properties: { city: { type: "string" }, 1: { type: "number", minimum: 0 } }, required: ["city"] },
  {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { kind: { enum: ["a", "b"] }, list: { type: "array", items: { $ref: "#/$defs/item" } } },
    required: ["kind", "list"],
    additionalProperties: false,
    $defs: { item: { type: ["string", "null"] } },
  },
];

export interface Call {
  id: string;
  tool: number;
  input: string;
  result: { text: string; media?: Media; failed: boolean };
}

export interface Step {
  kind: "user" | "assistant" | "calls" | "system";
  texts: { text: string; cache?: JsonObject }[];
  media: Media[];
  thought?: { text: string; origin: "messages" | "genai" | "none" };
  calls: Call[];
  /** Results in another order than their calls. */
  reversed: boolean;
  /** Which of the dialect's rarer parts is there, too. */
  odd?: number;
}

const call = fc.record({
  id: fc.constantFrom("call", "toolu_01", "id with spaces", "x".repeat(60)),
  tool: fc.nat(6),
  input: fc.constantFrom("{}", "", '{"city":"Oslo","2":1}', "{broken", "[1]"),
  result: fc.record({ text: words, media, failed: fc.boolean() }, { requiredKeys: ["text", "failed"] }) as fc.Arbitrary<
    Call["result"]
  >,
});

const step = fc.record(
  {
    kind: fc.constantFrom("user" as const, "user" as const, "assistant" as const, "calls" as const, "system" as const),
    texts: fc.array(fc.record({ text: words, cache: mark }), { maxLength: 3 }),
    media: fc.array(media, { maxLength: 2 }),
    thought: fc.record({
      text: spoken,
      origin: fc.constantFrom("messages" as const, "genai" as const, "none" as const),
    }),
    calls: fc.array(call, { minLength: 1, maxLength: 3 }),
    reversed: fc.boolean(),
    odd: fc.nat(11),
  },
  { requiredKeys: ["kind", "texts", "media", "calls", "reversed"] },
) as unknown as fc.Arbitrary<Step>;

export interface RequestSpec {
  system: { text: string; cache?: JsonObject }[];
  steps: Step[];
  last: string;
  tools: { name: string; schema: JsonObject | undefined; strict?: boolean; cache?: JsonObject }[];
  search: boolean;
  choice?: "auto" | "none" | "any" | "tool" | "allowed";
  parallel?: boolean;
  format?: "json" | "object" | "list" | "word";
  reasoning?: { amount: "off" | "low" | "high" | "dynamic" | number; show?: boolean };
  limit: number | undefined;
  temperature?: number;
  topP?: number;
  topK?: number;
  frequencyPenalty?: number;
  presencePenalty?: number;
  seed?: number;
  stop?: string[];
  logprobs?: number;
  userId?: string;
}

const setting = fc.constantFrom(0, 0.5, 1);
export const randomSpec: fc.Arbitrary<RequestSpec> = fc.record(
  {
    system: fc.array(fc.record({ text: words, cache: mark }), { maxLength: 2 }),
    steps: fc.array(step, { maxLength: 6 }),
    last: fc.constantFrom("hello", "hello", "hello", ""),
    tools: fc.uniqueArray(
      fc.record(
        {
          name: fc.constantFrom(...TOOL_NAMES),
          schema: fc.constantFrom(...SCHEMAS),
          strict: fc.boolean(),
          cache: mark,
        },
        { requiredKeys: ["name", "schema"] },
      ),
      { maxLength: 4, selector: ({ name }) => name },
    ),
    search: fc.boolean(),
    choice: fc.constantFrom("auto", "none", "any", "tool", "allowed"),
    parallel: fc.boolean(),
    format: fc.constantFrom("json", "object", "list", "word"),
    reasoning: fc.record(
      { amount: fc.constantFrom("off", "low", "high", "dynamic", 1024, 5000, 100_000), show: fc.boolean() },
      { requiredKeys: ["amount"] },
    ),
    limit: fc.constantFrom(undefined, 1, 500, 2000, 20_000, 500_000),
    temperature: fc.constantFrom(0, 0.7, 1, 1.5, 2),
    topP: setting,
    topK: fc.constantFrom(1, 40),
    frequencyPenalty: fc.constantFrom(-2, 0, 1.5, 2),
    presencePenalty: fc.constantFrom(-2, 0, 2),
    seed: fc.constantFrom(0, -5, 2 ** 40),
    stop: fc.array(fc.constantFrom("END", " ", "\n", "stop"), { maxLength: 4 }),
    logprobs: fc.constantFrom(0, 5, 20),
    userId: fc.constantFrom("u-1", "someone@example.org"),
  },
  { requiredKeys: ["system", "steps", "last", "tools", "search", "limit"] },
) as unknown as fc.Arbitrary<RequestSpec>;

export const FORMATS = {
  object: SCHEMAS[5],
  list: { type: "array", items: { type: "string", minLength: 2 } },
  word: { type: "string", enum: ["yes", "no"] },
} as const;

export const maybe = <T>(key: string, value: T | undefined): JsonObject =>
  value === undefined ? {} : { [key]: value };
export const cacheControl = (cache: JsonObject | undefined) =>
  maybe("cache_control", cache && { type: "ephemeral", ...cache });

/** Calls with unique ids, of the available tools. */
export function numbered(spec: RequestSpec): RequestSpec {
  let count = 0;
  const steps = spec.steps.map((one) => ({
    ...one,
    calls: one.calls.map((each) => ({ ...each, id: `${each.id}${++count}` })),
  }));
  return { ...spec, steps };
}

export const nameOfCall = (spec: RequestSpec, { tool }: Call): string =>
  spec.tools[tool % Math.max(1, spec.tools.length)]?.name ?? TOOL_NAMES[tool % 2] ?? "get_weather";
export const resultsOf = ({ calls, reversed }: Step): Call[] => (reversed ? calls.toReversed() : calls);
export const chosen = (spec: RequestSpec): string | undefined => spec.tools[0]?.name;

export function opaqueOf(thought: NonNullable<Step["thought"]>): Opaque | undefined {
  if (thought.origin === "none") return undefined;
  const value =
    thought.origin === "messages" ? sign(THINKING_PURPOSE, thought.text, SEED) : sign(TEXT_PURPOSE, "", SEED);
  return { origin: thought.origin, kind: "signature", value };
}
