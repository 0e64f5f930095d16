import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";

const root = new URL("..", import.meta.url).pathname;
const read = (file: string) => readFileSync(join(root, file), "utf8");
const page = read("docs/reference/providers.md");

/** The simulator's API is our own, and compatible.ts has a link for each host. */
const declarations = [...new Glob("src/providers/**/*.ts").scanSync(root)].filter(
  (file) => /^export const \w+: ProviderDeclaration = /m.test(read(file)) && !file.endsWith("/simulator.ts"),
);
/** A dialect that no client speaks has a codec alone. */
const dialects = [...new Glob("src/dialects/*/codec.ts").scanSync(root)].map((codec) => {
  const index = codec.replace("codec.ts", "index.ts");
  return existsSync(join(root, index)) ? index : codec;
});

describe("the vendor's page", () => {
  test.each([...declarations, ...dialects])("opens %s, and is among those of the reference", (file) => {
    const link = /^\/\/ (https:\/\/\S+)\n/.exec(read(file))?.[1] ?? "";
    expect(link).not.toBe("");
    expect(page).toContain(`<${link}>`);
  });

  test("stands above every compatible host", () => {
    const source = read("src/providers/compatible.ts");
    const links = [...source.matchAll(/^ {2}\/\/ (https:\/\/\S+)\n {2}declare\(/gm)].map(([, link]) => link);
    expect(links.length).toBe(source.match(/^ {2}declare\(/gm)?.length ?? -1);
    expect(links.filter((link) => !page.includes(`<${link}>`))).toEqual([]);
  });

  test("is looked for in every provider and dialect", () => {
    expect(declarations.length).toBeGreaterThan(10);
    expect(dialects.length).toBeGreaterThan(3);
  });
});
