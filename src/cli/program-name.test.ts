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

test("on the PATH, the program is called by its name", () => {
  const bin = join(folder, "on-path");
  mkdirSync(bin);
  symlinkSync(own, join(bin, "trivium"));
  expect(programName(folder, bin)).toBe("trivium");
});

test("in an installed package, the program is called with npx", () => {
  const bin = join(folder, "project/node_modules/.bin");
  mkdirSync(bin, { recursive: true });
  symlinkSync(own, join(bin, "trivium"));
  expect(programName(join(folder, "project"), "")).toBe("npx trivium");
});

test("anywhere else, the program is called by its full path", () => {
  expect(programName(folder, "")).toBe(own);
});
