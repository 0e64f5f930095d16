import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";

test("S10: what `trivium init` and a start write, secrets among it, is not committed", () => {
  const ignored = readFileSync(new URL("../.gitignore", import.meta.url), "utf8").split("\n");
  expect(ignored).toEqual(expect.arrayContaining([".env", "trivium.yaml", "data/"]));
});
