import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { ENDPOINTS } from "../../src/server/endpoints/index.ts";
import { openApiDocument } from "../../src/server/openapi.ts";
import type { Facts, Vendor } from "./fact.ts";
import { vocabularyOf } from "./vocabulary.ts";

export type Language = "TypeScript" | "Python";

/** Where the code of each SDK is, below a `node_modules` or a folder of unpacked wheels. */
const SOURCES: Readonly<Record<Language, Readonly<Record<Vendor, readonly string[]>>>> = {
  TypeScript: {
    OpenAI: ["openai/*.mjs", "openai/{core,internal,lib,resources}/**/*.mjs"],
    Anthropic: ["@anthropic-ai/sdk/*.mjs", "@anthropic-ai/sdk/{core,internal,lib,resources}/**/*.mjs"],
    Google: ["@google/genai/dist/node/index.mjs"],
  },
  Python: {
    OpenAI: ["openai/*.py", "openai/{lib,resources}/**/*.py"],
    Anthropic: ["anthropic/*.py", "anthropic/{lib,resources}/**/*.py"],
    Google: ["google/genai/*.py", "google/genai/{_gaos,_interactions}/**/*.py"],
  },
};

/** How the SDKs write the method and path of a request. Google's have the method elsewhere, and their paths are known without. */
const STAINLESS: readonly RegExp[] = [
  /_client\s*\.(get|post|put|patch|delete|getAPIList)\(\s*(?:path ?)?[`'"](\/[^`'"]+)[`'"]/g,
  /self\._(get|post|put|patch|delete|get_api_list)\(\s*(?:path_template\()?f?"(\/[^"]+)"/g,
];
const CALLS: Readonly<Record<Vendor, readonly RegExp[]>> = {
  OpenAI: STAINLESS,
  Anthropic: STAINLESS,
  Google: [/()(?:formatMap\(|pathToFunc\(|\bpath = )["']([^"'\s]+)["']/g],
};
/** Helpers and tests call through them. */
const NO_CALLS = /\/lib\/|\/_(?:test|replay)_/;

/** The vendors' own headers, and those that their SDKs read for retries and support. */
const HEADERS =
  /["'`]((?:anthropic|openai|x-goog)-[a-z][a-z-]+|x-(?:request-id|client-request-id|should-retry|server-timeout|api-key)|request-id|retry-after(?:-ms)?|idempotency-key)["'`]/gi;

const HEADER_WORDS = vocabularyOf(["dialects", "server", "relay", "providers", "wire", "media"]);

/** Lists the endpoints that the code of the SDKs calls, and the headers that it sends and reads. */
export function surveySources(folder: string, language: Language, vendor: Vendor, facts: Facts): void {
  for (const pattern of SOURCES[language][vendor]) {
    for (const file of new Glob(pattern).scanSync(folder)) {
      const text = readFileSync(join(folder, file), "utf8");
      for (const [, header = ""] of text.matchAll(HEADERS)) {
        const name = header.toLowerCase();
        facts.add({ vendor, protocol: "HTTP", kind: "header", name, known: HEADER_WORDS.hasValue(name) });
      }
      for (const call of NO_CALLS.test(file) ? [] : CALLS[vendor]) {
        for (const [, method = "", path = ""] of text.matchAll(call)) addEndpoint(vendor, method, path, facts);
      }
    }
  }
}

function addEndpoint(vendor: Vendor, method: string, written: string, facts: Facts): void {
  const path = plainPath(vendor, written);
  // The name of an object, which says nothing about what it is.
  if (/^(?:\{\}|\{\}:cancel)$/.test(path)) return;
  const verb = method === "" ? "" : `${/^get/i.test(method) ? "GET" : method.toUpperCase()} `;
  const isServed = SERVED.has(`${verb}${path}`);
  const unknown = isServed ? undefined : unservedPrefix(path);
  const name = unknown ?? `${verb}${path}`;
  facts.add({ vendor, protocol: "HTTP", kind: "endpoint", name, known: isServed }, `${verb}${path}`);
}

/** As documents write it: with the version, without a query, and without the names of parameters. */
function plainPath(vendor: Vendor, written: string): string {
  const path = written
    .replace(/\?.*$/, "")
    .replace(/^\/\{api_version\}(?=\/)/, "")
    .replace(/\$?\{[^}]*\}/g, "{}");
  if (vendor === "Google") return path.replace(/^\//, "");
  return vendor === "OpenAI" ? `/v1${path}` : path;
}

/** The paths of the drop-in endpoints, with their methods and without. Of protocols with the model in the path, only what follows it. */
const SERVED: ReadonlySet<string> = new Set(
  Object.entries((openApiDocument({ publicUrl: "", version: "", endpoints: ENDPOINTS }) as Document).paths).flatMap(
    ([path, methods]) => {
      const plain = path
        .replace("/{provider}/{model}", "/{}")
        .replace(/^\/v1beta\/models\/\{\}(?=:)/, "{}")
        .replace(/^\/v1beta\//, "")
        .replace(/\{[^}]*\}/g, "{}");
      return [plain, ...Object.keys(methods).map((method) => `${method.toUpperCase()} ${plain}`)];
    },
  ),
);

interface Document {
  paths: Readonly<Record<string, object>>;
}

/** The shortest beginning of a path with which nothing is served: one line for a whole resource. */
function unservedPrefix(path: string): string | undefined {
  const steps = path.split("/");
  const prefixes = steps.map((_, index) => steps.slice(0, index + 1).join("/"));
  return prefixes.find(
    (prefix) =>
      /\w/.test(prefix) && ![...SERVED].some((served) => served === prefix || served.startsWith(`${prefix}/`)),
  );
}
