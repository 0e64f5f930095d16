import { describe, expect, test } from "bun:test";
import { Glob } from "bun";
import { importGraph, importsOf } from "./import-graph.ts";

/** Which folder of `src` may import which. A line is added when the architecture changes, never to get a file past. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  canon: ["base"],
  wire: ["base"],
  audio: ["base", "canon"],
  observe: ["base"],
  telemetry: ["base", "canon"],
  config: ["base", "canon"],
  dialects: ["base", "canon", "wire", "audio"],
  media: ["base", "canon", "wire", "dialects"],
  services: ["base", "canon", "wire", "dialects", "media"],
  providers: ["base", "canon", "wire", "dialects", "media", "services", "config"],
  storage: ["base", "canon"],
  leases: ["base"],
  instances: ["base", "storage"],
  catalogue: ["base", "canon"],
  routing: ["base", "canon", "dialects", "media", "services", "providers", "catalogue"],
  ledger: ["base", "canon", "storage"],
  access: ["base", "canon", "storage", "leases"],
  identity: ["base", "canon", "storage", "access", "observe"],
  files: ["base", "canon", "storage"],
  answers: ["base", "canon", "storage", "objects"],
  objects: ["base", "canon", "storage", "files"],
  batches: ["base", "canon", "storage", "files", "objects"],
  capture: ["base", "storage"],
  operations: ["base", "canon", "media", "storage", "catalogue"],
  alerts: ["base", "canon", "config", "storage", "access", "objects"],
  exports: ["base", "canon", "config", "storage", "ledger", "files"],
  secrets: ["base", "providers"],
  guards: ["base", "canon", "wire", "dialects", "access"],
  relay: [
    "base",
    "canon",
    "wire",
    "dialects",
    "media",
    "services",
    "providers",
    "catalogue",
    "routing",
    "access",
    "ledger",
    "storage",
    "files",
    "answers",
    "objects",
    "batches",
    "capture",
    "operations",
    "guards",
    "observe",
    "telemetry",
  ],
  server: [
    "base",
    "canon",
    "dialects",
    "catalogue",
    "routing",
    "access",
    "identity",
    "ledger",
    "storage",
    "files",
    "answers",
    "objects",
    "batches",
    "capture",
    "operations",
    "alerts",
    "exports",
    "media",
    "services",
    "relay",
    "instances",
    "observe",
    "telemetry",
  ],
  cli: ["*"],
  app: ["*"],
  main: ["cli", "app"],
  version: [],
};

/**
 * What the simulator may import from `src`: framing of bytes, and the list of its own models; no code of a dialect or
 * provider.
 */
const OF_THE_SIMULATOR = ["wire", "catalogue"];
/** The one file of `src` that names the simulator, and how: loaded when it is called, not before. */
const SIMULATOR_DOOR = "src/app/load-simulator.ts";

/** Vendors' names stay where design says they live; a comment may mention one to say why code is odd. */
const VENDORS = /openai|anthropic|gemini|bedrock|azure|deepseek|vertex/i;
/** Words that the protocols themselves have on the wire: a dialect's endpoints, headers and formats. */
const WIRE_WORDS =
  /anthropic[-_](?:version|beta|ratelimit)|(?:anthropic-claude|openai-responses|google-gemini)-v1|(?:\/api\/|msg\|)anthropic\b|vertex-ai/g;
const NAMELESS = [
  "base",
  "canon",
  "wire",
  "audio",
  "dialects",
  "relay",
  "routing",
  "access",
  "ledger",
  "leases",
  "storage",
  "capture",
  "observe",
  "telemetry",
  "config",
];

const root = new URL("..", import.meta.url).pathname;
/** Without what only tests use: that may import the libraries of tests. */
const filesIn = (folder: string) =>
  [...new Glob(`${folder}/**/*.ts`).scanSync(root)].filter((file) => !/\.(test|sample|child|contract)\.ts$/.test(file));
const files = filesIn("src");
/** `canon` for `src/canon/event.ts`, `main` for `src/main.ts`, and the first folder of what is not in `src`. */
const folderOf = (file: string) => (file.replace(/^src\//, "").split("/")[0] ?? "").replace(/\.ts$/, "");

describe("choices 11: the import arrows", () => {
  test("every folder has its line, and the test sees files", () => {
    expect(files.length).toBeGreaterThan(50);
    expect([...new Set(files.map(folderOf))].sort()).toEqual(Object.keys(ARROWS).sort());
  });

  test("no file imports against an arrow", async () => {
    const wrong: string[] = [];
    for (const file of files) {
      const own = folderOf(file);
      const allowed = ARROWS[own] ?? [];
      for (const target of importsOf(file).map(folderOf)) {
        if (target !== own && !allowed.includes("*") && !allowed.includes(target)) wrong.push(`${file} → ${target}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test("decision 0071: src imports only types from TypeBox, which cost nothing at runtime", async () => {
    const statements: string[] = [];
    for (const file of files) {
      const found = (await Bun.file(root + file).text()).match(/^import .*from "typebox.*$/gm) ?? [];
      statements.push(...found.map((statement) => `${file}: ${statement}`));
    }
    expect(statements.length).toBeGreaterThan(20);
    expect(statements.filter((statement) => !statement.includes(": import type "))).toEqual([]);
  });

  test("only one file in src names the simulator, and loads it on demand", async () => {
    const naming: string[] = [];
    for (const file of files) if (importsOf(file).map(folderOf).includes("simulator")) naming.push(file);
    expect(naming).toEqual([SIMULATOR_DOOR]);
    const statements = (await Bun.file(root + SIMULATOR_DOOR).text()).match(/^.*"(?:\.\.\/)+simulator\/.*$/gm) ?? [];
    expect(statements.length).toBeGreaterThan(0);
    for (const statement of statements) expect(statement).toMatch(/=> import\("[^"]+"\);$/);
  });

  test("the simulator shares no dialect's code with the gateway", async () => {
    const simulator = filesIn("simulator");
    expect(simulator.length).toBeGreaterThan(150);
    const wrong: string[] = [];
    for (const file of simulator) {
      for (const target of importsOf(file).map(folderOf)) {
        if (target !== "simulator" && !OF_THE_SIMULATOR.includes(target)) wrong.push(`${file} → ${target}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test("the console imports only types of Admin API responses from src", async () => {
    const files = [...new Glob("console/**/*.{ts,tsx}").scanSync(root)];
    expect(files.length).toBeGreaterThan(20);
    const wrong: string[] = [];
    for (const file of files) {
      const source = await Bun.file(root + file).text();
      for (const [statement, target = ""] of source.matchAll(/^(?:import|export)\s[^;]*?from\s+"(\.[^"]+)"/gm)) {
        const path = new URL(target, `file:///${file}`).pathname.slice(1);
        if (path.startsWith("console/")) continue;
        const isType = /^(?:import|export) type /.test(statement);
        if (!isType || !path.startsWith("src/server/admin/schemas/")) wrong.push(`${file} → ${path}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test("no vendor's name in the core, outside comments", async () => {
    const wrong: string[] = [];
    for (const file of files.filter((one) => NAMELESS.includes(folderOf(one)))) {
      const source = (await Bun.file(root + file).text()).replace(/\/\*[\s\S]*?\*\//g, "").replace(/\/\/.*$/gm, "");
      const own = folderOf(file) === "dialects" ? source.replace(WIRE_WORDS, "") : source;
      const line = own.split("\n").find((text) => VENDORS.test(text));
      if (line !== undefined) wrong.push(`${file}: ${line.trim()}`);
    }
    expect(wrong).toEqual([]);
  });
});

test("no circle of imports, not even of types or of what is loaded later", async () => {
  const graph = importGraph();
  const finished = new Set<string>();
  const circles: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(" → "));
    if (finished.has(file) || path.includes(file)) return;
    for (const imported of graph.get(file) ?? []) visit(imported, [...path, file]);
    finished.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  expect(graph.size).toBeGreaterThan(1000);
  expect(circles).toEqual([]);
});

/** More than this and a reader no longer finds a file by looking at its folder. Migrations are read in their order instead. */
const MAX_FILES = 40;

test("no folder has more than 40 files side by side, tests aside", () => {
  const counts = new Map<string, number>();
  for (const file of new Glob("{src,testing,scripts,bench}/**/*.ts").scanSync(root)) {
    if (/\.(?:test|sample|child|contract)\.ts$/.test(file)) continue;
    const folder = file.slice(0, file.lastIndexOf("/"));
    if (!folder.endsWith("/migrations")) counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  expect(counts.size).toBeGreaterThan(50);
  expect([...counts].filter(([, count]) => count > MAX_FILES)).toEqual([]);
});
