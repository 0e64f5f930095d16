import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { testsOfChange } from "./changed-tests.ts";
import { importGraph, reachedFrom } from "./import-graph.ts";
import { FULL_TESTS, isFullTest, SLOW_TESTS } from "./test-files.ts";

const root = new URL("..", import.meta.url).pathname;

describe("the lists of tests", () => {
  test("every listed file exists", () => {
    const listed = [...Object.keys(FULL_TESTS), ...Object.keys(SLOW_TESTS)];
    expect(listed.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  test("a folder stands for the files in it, and a file for itself alone", () => {
    const cases = ["conformance/crashes/run.test.ts", "conformance/migrate.test.ts", "conformance/migrate.test.tsx"];
    expect(cases.map(isFullTest)).toEqual([true, true, false]);
  });
});

describe("the tests of a change", () => {
  test("reach through imports, with the length of the shortest way", () => {
    const graph = new Map([
      ["a.test.ts", ["b.ts"]],
      ["b.ts", ["c.ts", "d.ts"]],
      ["c.ts", ["d.ts"]],
      ["e.test.ts", []],
    ]);
    expect([...reachedFrom(["d.ts"], graph)]).toEqual([
      ["d.ts", 0],
      ["b.ts", 1],
      ["c.ts", 1],
      ["a.test.ts", 2],
    ]);
  });

  test("an import of types leads to no test", () => {
    const count = (graph: Map<string, string[]>) => [...graph.values()].flat().length;
    expect(count(importGraph("values"))).toBeWithin(1, count(importGraph("all")));
  });

  test("start with the nearest, and say how many do not fit", () => {
    const change = ["src/wire/sse.ts"];
    const everything = testsOfChange(change, () => 0, 1);
    expect(everything.left).toBe(0);
    expect(everything.tests).toContain("src/wire/sse.test.ts");
    const few = testsOfChange(change, () => 1, 10);
    expect(few.tests).toContain("src/wire/sse.test.ts");
    expect(few.tests.length + few.left).toBe(everything.tests.length);
    expect(few.left).toBeGreaterThan(0);
  });

  test("of a document are those that name it", () => {
    expect(testsOfChange(["docs/reference/hazards.md"], () => 0, 1).tests).toContain("scripts/hazards.test.ts");
  });
});
