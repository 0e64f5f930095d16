import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";

const root = new URL("..", import.meta.url).pathname;
const read = (file: string) => readFileSync(join(root, file), "utf8");

const ids = [...read("docs/reference/responses.md").matchAll(/^### (R\d{1,2}) /gm)].map(([, id = ""]) => id);

/** The ids in the names of tests. */
const cited = new Set(
  [...new Glob("{src,simulator,conformance}/**/*.test.ts").scanSync(root)]
    .filter((file) => !file.includes("node_modules"))
    .flatMap((file) => [...read(file).matchAll(/["'`(, ](R\d{1,2})(?=[:,)])/g)].map(([, id = ""]) => id)),
);

describe("docs/reference/responses.md", () => {
  test("its requirements are numbered without a gap", () => {
    expect(ids).toEqual(ids.map((_, index) => `R${index + 1}`));
    expect(ids.length).toBe(35);
  });

  test.each(ids)("%s is held by a test that cites it", (id) => {
    expect(cited.has(id)).toBe(true);
  });
});
