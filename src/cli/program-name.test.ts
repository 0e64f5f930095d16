import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programName } from "./program-name.ts";

const checkout = new URL("../..", import.meta.url).pathname;
const own = join(checkout, "bin/trivium");
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "trivium-name-"));
});

afterAll(() => rmSync(folder, { recursive: true }));

test("in a checkout, the program is called by its path", () => {
  expect(programName(checkout, "")).toBe("bin/trivium");
});

test("where the path finds this program, its name is enough", () => {
  const bin = join(folder, "on-path");
  mkdirSync(bin);
  symlinkSync(own, join(bin, "trivium"));
  expect(programName(folder, bin)).toBe("trivium");
});

test("where it is installed as a package, npx finds it", () => {
  const bin = join(folder, "project/node_modules/.bin");
  mkdirSync(bin, { recursive: true });
  symlinkSync(own, join(bin, "trivium"));
  expect(programName(join(folder, "project"), "")).toBe("npx trivium");
});

test("anywhere else, a command that is shown can be pasted", () => {
  expect(programName(folder, "")).toBe(own);
});
