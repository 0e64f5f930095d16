import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { SCENARIOS } from "../bench/scenarios/index.ts";

const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), "utf8");
/** The names in the first column of a page's tables. */
const listed = (page: string) => [...page.matchAll(/^\| `([a-z0-9-]+)` *\|/gm)].map(([, name = ""]) => name);
const ids = SCENARIOS.map(({ id }) => id);

describe("the benchmark's scenarios", () => {
  test("bench/README.md describes each of them", () => {
    expect(listed(read("bench/README.md")).sort()).toEqual([...ids].sort());
  });

  test("docs/benchmarks.md has figures of scenarios that exist, and names those that it has none of", () => {
    const page = read("docs/benchmarks.md");
    const without = [...(/^Not in this table: (.*)$/m.exec(page)?.[1] ?? "").matchAll(/`([a-z0-9-]+)`/g)];
    expect([...new Set([...listed(page), ...without.map(([, name = ""]) => name)])].sort()).toEqual([...ids].sort());
  });
});
