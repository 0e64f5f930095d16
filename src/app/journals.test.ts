import { expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openMemoryStorage } from "../../testing/memory-storage.ts";
import { system } from "../base/system.ts";
import { createLog } from "../observe/log.ts";
import { Journals } from "./journals.ts";

test("all processes that share a journal folder agree on its name, and another folder has another name", async () => {
  const folder = mkdtempSync(join(tmpdir(), "trivium-journals-"));
  const storage = await openMemoryStorage(system.clock);
  try {
    const log = createLog({ clock: system.clock, level: "silent" });
    const at = (dataDir: string, journalBytes = 1_000) =>
      new Journals({ config: { dataDir, ledger: { journalBytes } }, storage, sources: system, log });
    const one = join(folder, "one");
    const names = await Promise.all(Array.from({ length: 10 }, () => at(one).folderName()));
    expect(new Set(names).size).toBe(1);
    expect(names[0]).toMatch(/^[\w-]{22}$/);
    expect(readdirSync(join(one, "journal"))).toEqual(["name"]);
    expect(statSync(join(one, "journal", "name")).mode & 0o777).toBe(0o600);
    expect(await at(join(folder, "two")).folderName()).not.toBe(names[0] ?? "");
    expect(await at(one, 0).folderName()).toBe("");
    // A full disk does not prevent a gateway from starting.
    const file = join(folder, "file");
    writeFileSync(file, "");
    expect(await at(file).folderName()).toBe("");
  } finally {
    await storage.close();
    rmSync(folder, { recursive: true });
  }
});
