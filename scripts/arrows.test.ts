import { describe, expect, test } from "bun:test";
import { Glob } from "bun";

/** Which folder of `src` may import which. A line is added when the architecture changes, never to get a file past. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  canon: ["base"],
  wire: ["base"],
  observe: ["base"],
  config: ["base", "canon"],
  dialects: ["base", "canon", "wire"],
  media: ["base", "canon", "wire", "dialects"],
  providers: ["base", "canon", "wire", "dialects", "media", "config"],
  storage: ["base", "canon"],
  catalogue: ["base", "canon"],
  routing: ["base", "canon", "catalogue"],
  ledger: ["base", "canon", "storage"],
  access: ["base", "canon", "storage"],
  files: ["base", "canon", "storage"],
  operations: ["base", "canon", "media", "storage", "catalogue"],
  relay: [
    "base",
    "canon",
    "wire",
    "dialects",
    "media",
    "providers",
    "catalogue",
    "routing",
    "access",
    "ledger",
    "storage",
    "files",
    "operations",
    "observe",
  ],
  server: [
    "base",
    "canon",
    "dialects",
    "catalogue",
    "access",
    "ledger",
    "storage",
    "files",
    "operations",
    "media",
    "relay",
  ],
  sim: ["base", "canon", "wire"],
  cli: ["*"],
  app: ["*"],
  main: ["cli"],
  version: [],
};

/** Vendors' names stay where design says they live; a comment may mention one to say why code is odd. */
const VENDORS = /openai|anthropic|gemini|bedrock|azure|deepseek|vertex/i;
const NAMELESS = [
  "base",
  "canon",
  "wire",
  "dialects",
  "relay",
  "routing",
  "access",
  "ledger",
  "storage",
  "observe",
  "config",
];

const root = new URL("../src/", import.meta.url).pathname;
const files = [...new Glob("**/*.ts").scanSync(root)].filter((file) => !file.endsWith(".test.ts"));
const folderOf = (file: string) => (file.includes("/") ? file.slice(0, file.indexOf("/")) : file.replace(/\.ts$/, ""));

async function importsOf(file: string): Promise<string[]> {
  const source = await Bun.file(root + file).text();
  const found = [...source.matchAll(/(?:from|import)\s*\(?\s*"(\.{1,2}\/[^"]+)"/g)];
  return found.map((match) => {
    const target = new URL(match[1] ?? "", `file:///src/${file}`).pathname.replace(/^\/src\//, "");
    return folderOf(target);
  });
}

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
      for (const target of await importsOf(file)) {
        if (target !== own && !allowed.includes("*") && !allowed.includes(target)) wrong.push(`${file} → ${target}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test("no vendor's name in the core, outside comments", async () => {
    const wrong: string[] = [];
    for (const file of files.filter((one) => NAMELESS.includes(folderOf(one)))) {
      const source = (await Bun.file(root + file).text()).replace(/\/\*[\s\S]*?\*\//g, "").replace(/\/\/.*$/gm, "");
      const line = source.split("\n").find((text) => VENDORS.test(text));
      if (line !== undefined) wrong.push(`${file}: ${line.trim()}`);
    }
    expect(wrong).toEqual([]);
  });
});
