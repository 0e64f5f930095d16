import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { system } from "../base/system.ts";
import { readKeyFile } from "./key-file.ts";

const folder = mkdtempSync(join(tmpdir(), "trivium-key-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("S09: the first start creates a key that only this user can read, and later starts read the same one", () => {
  const data = join(folder, "made", "data");
  const key = readKeyFile(data, system.random);
  expect(key.length).toBe(32);
  expect(readdirSync(data)).toEqual(["responses.key"]);
  expect(statSync(join(data, "responses.key")).mode & 0o777).toBe(0o600);
  expect(statSync(data).mode & 0o777).toBe(0o700);
  expect(readKeyFile(data, system.random)).toEqual(key);
  expect(readKeyFile(join(folder, "other"), system.random)).not.toEqual(key);
});

test("a file that contains no key is left alone, and the error names it", () => {
  const path = join(folder, "responses.key");
  for (const content of ["", "c2hvcnQ=\n"]) {
    writeFileSync(path, content);
    expect(() => readKeyFile(folder, system.random)).toThrow(
      `${path} is not a key: it must contain 32 bytes in base64`,
    );
    expect(readFileSync(path, "utf8")).toBe(content);
  }
});
