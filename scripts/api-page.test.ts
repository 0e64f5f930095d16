import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { ENDPOINTS } from "../src/server/endpoints/index.ts";
import { openApiDocument } from "../src/server/openapi.ts";

type Json = Record<string, unknown>;
interface Document {
  paths: Record<string, Json>;
  components: {
    schemas: Record<string, Json>;
    headers: Json;
    parameters: Record<string, { in: string; name: string }>;
  };
}

const page = readFileSync(new URL("../docs/reference/api.md", import.meta.url), "utf8");
const { paths, components } = openApiDocument({
  publicUrl: "",
  version: "",
  endpoints: ENDPOINTS,
}) as unknown as Document;

/** The text below a heading, up to the next of any level. */
function section(number: string): string {
  const [, text] = page.split(new RegExp(`^#+ ${number.replace(".", "\\.")} .*$`, "m"));
  expect(text).toBeDefined();
  return (text ?? "").split(/^#+ /m)[0] ?? "";
}

/** Names of fields, at every depth, in the schema and in those that it refers to. */
function fieldsOf(node: unknown, seen = new Set<string>()): Set<string> {
  const found = new Set<string>();
  const walk = (value: unknown, isMap: boolean): void => {
    if (Array.isArray(value)) for (const item of value) walk(item, false);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return;
    for (const [key, child] of Object.entries(value)) {
      if (isMap) found.add(key);
      if (key === "$ref" && typeof child === "string") {
        const name = child.split("/").at(-1) ?? "";
        if (!seen.has(name)) for (const field of fieldsOf(components.schemas[name], seen.add(name))) found.add(field);
      } else walk(child, !isMap && key === "properties");
    }
  };
  walk(node, false);
  return found;
}

const names = (text: string, word: string) =>
  new RegExp(`(?<![\\w-])${word.replaceAll(/[$@.]/g, "\\$&")}(?![\\w-])`).test(text);

describe("docs/reference/api.md", () => {
  /** Which sections describe each schema. Content that a client sends back is described with requests. */
  const SECTIONS: [schema: string, ...sections: string[]][] = [
    ["PredictLongRunningRequest", "2.1"],
    ["VideoOperation", "2.2"],
    ["FetchPredictOperationRequest", "2.3"],
    ["PredictRequest", "2.4"],
    ["PredictAnswer", "2.5"],
    ["GenerateContentRequest", "2.6", "2.8"],
    ["GenerateContentAnswer", "2.7", "2.8", "2.6"],
    ["ChatModelList", "2.9"],
    ["GenaiModelList", "2.9"],
    ["MessagesModelList", "2.9"],
    ["MessagesRequest", "2.10"],
    ["MessagesCountTokensRequest", "2.10"],
    ["MessageAnswer", "2.11", "2.10"],
    ["ChatRequest", "2.12"],
    ["ChatCompletion", "2.13", "2.12"],
    ["ChatCompletionChunk", "2.13", "2.12", "6"],
    ["ImageGenerationEvent", "2.14"],
    ["ImageEditEvent", "2.14"],
    ["ImageGenerationRequest", "4"],
    ["ImageEditRequest", "4"],
    ["ImagesAnswer", "4", "2.14"],
    ["MessageStreamEvent", "6.1", "2.11", "2.10"],
  ];

  test.each(SECTIONS)("%s: its section names every field", (schema, ...sections) => {
    const text = sections.map(section).join("\n");
    const fields = fieldsOf(components.schemas[schema]);
    expect(fields.size).toBeGreaterThan(0);
    expect([...fields].filter((field) => !names(text, field))).toEqual([]);
  });

  test("section 4 names every endpoint", () => {
    const text = section("4");
    const parts = Object.keys(paths)
      .flatMap((path) => path.split("/"))
      .map((part) => part.split(":").at(-1) ?? "");
    expect([...new Set(parts)].filter((part) => part !== "" && !names(text, part))).toEqual([]);
  });

  test("section 5 names every header", () => {
    const text = section("5").replace(/`x-ratelimit-\{(.+?)\}-\{(.+?)\}`/, (_, kinds: string, whats: string) =>
      kinds
        .split(",")
        .flatMap((kind) => whats.split(",").map((what) => `x-ratelimit-${kind}-${what}`))
        .join(" "),
    );
    const sent = Object.values(components.parameters).flatMap((one) => (one.in === "header" ? [one.name] : []));
    const headers = [...Object.keys(components.headers), ...sent].filter((name) => name !== "range");
    expect(headers.filter((name) => !names(text, name))).toEqual([]);
  });
});
