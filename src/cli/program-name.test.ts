import { expect, test } from "bun:test";
import { tmpdir } from "node:os";
import { programName } from "./program-name.ts";

test("in a checkout the program is called by its path, elsewhere by its name", () => {
  expect(programName(new URL("../..", import.meta.url).pathname)).toBe("bin/trivium");
  expect(programName(tmpdir())).toBe("trivium");
});
