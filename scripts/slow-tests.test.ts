import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { SLOW_TESTS } from "./slow-tests.ts";

test("every file that is started first is there", () => {
  const root = new URL("..", import.meta.url).pathname;
  expect(Object.keys(SLOW_TESTS).filter((file) => !existsSync(join(root, file)))).toEqual([]);
});
