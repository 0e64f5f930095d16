import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installInto } from "./install.ts";

const parent = mkdtempSync(join(tmpdir(), "trivium-install-"));
afterAll(() => rmSync(parent, { recursive: true, force: true }));

const shell = (script: string) => ["sh", "-c", script];
let folders = 0;
const newFolder = () => join(parent, `${folders++}`);

describe("an installation", () => {
  test("continues after it broke off, and does not start again once it is complete", async () => {
    const folder = newFolder();
    const download = shell("echo x >> downloads; test $(wc -l < downloads) -ge 2");
    await installInto(folder, [download], { attempts: 3, timeoutMs: 60_000 });
    await installInto(folder, [shell("echo again > again")], { attempts: 3, timeoutMs: 60_000 });
    expect(await Bun.file(join(folder, "downloads")).text()).toBe("x\nx\n");
    expect(existsSync(join(folder, "again"))).toBe(false);
  });

  test("starts with an empty folder at its last attempt", async () => {
    const folder = newFolder();
    const needsEmpty = shell(
      "test ! -e broken && touch broken && echo x >> ../begun && test $(wc -l < ../begun) -ge 2",
    );
    await installInto(folder, [needsEmpty], { attempts: 3, timeoutMs: 60_000 });
    expect(existsSync(join(folder, "installed"))).toBe(true);
  });

  test("ends with all its processes if it hangs, and says so", async () => {
    const folder = newFolder();
    const hangs = installInto(folder, [shell("sleep 600 & sleep 600; true")], { attempts: 1, timeoutMs: 200 });
    await expect(hangs).rejects.toThrow("not installed in 1 attempts: sh took more than 0.2 s");
  });

  test("prints the installer's output if it fails", async () => {
    const fails = installInto(newFolder(), [shell("echo no such package >&2; exit 3")], {
      attempts: 2,
      timeoutMs: 60_000,
    });
    await expect(fails).rejects.toThrow(/sh ended with code 3\nno such package/);
  });
});
