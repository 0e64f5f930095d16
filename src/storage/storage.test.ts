import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { SQL } from "bun";
import { testDatabases } from "../../testing/test-databases.ts";
import { system } from "../base/system.ts";
import { openStorage } from "./open.ts";
import { storageContract } from "./storage.contract.ts";
import { insertProject, selectProjects } from "./tables/projects.ts";

const folder = mkdtempSync(join(tmpdir(), "trivium-storage-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

for (const databases of testDatabases("the storage contract")) storageContract(databases);

describe("openStorage", () => {
  test("memory storages are separate", async () => {
    const [one, two] = [
      await openStorage("sqlite::memory:", system.clock),
      await openStorage("sqlite::memory:", system.clock),
    ];
    await insertProject(one, { id: "only here", createdAtMs: 1 });
    expect(await selectProjects(two)).toEqual([]);
    await Promise.all([one.close(), two.close()]);
  });

  test("the URL may have slashes, and the folder is created", async () => {
    const path = join(folder, "deep", "er", "file.db");
    await (await openStorage(`sqlite://${path}`, system.clock)).close();
    expect(statSync(path).isFile()).toBe(true);
  });

  test("S09: only this user can read the file, its log and the folder created for them, including a file that was readable before", async () => {
    const nested = join(folder, "private", "deep");
    const path = join(nested, "file.db");
    const modes = () => readdirSync(nested).map((name) => [name, statSync(join(nested, name)).mode & 0o777]);
    const closed = ["file.db", "file.db-shm", "file.db-wal"].map((name) => [name, 0o600]);
    const umask = process.umask(0o022);
    try {
      const storage = await openStorage(`sqlite:${path}`, system.clock);
      expect(statSync(dirname(nested)).mode & 0o777).toBe(0o700);
      expect(statSync(nested).mode & 0o777).toBe(0o700);
      expect(modes().toSorted()).toEqual(closed);
      for (const name of readdirSync(nested)) chmodSync(join(nested, name), 0o644);
      const again = await openStorage(`sqlite:${path}`, system.clock);
      expect(modes().toSorted()).toEqual(closed);
      await Promise.all([storage.close(), again.close()]);
    } finally {
      process.umask(umask);
    }
  });

  test("a folder at the path of the file is rejected and left alone", async () => {
    const path = join(folder, "taken");
    mkdirSync(path, { mode: 0o755 });
    await expect(openStorage(`sqlite:${path}`, system.clock)).rejects.toThrow();
    expect(statSync(path).mode & 0o777).toBe(0o755);
  });

  test("S10: the error about a server that does not answer omits its password", async () => {
    const thrown = await openStorage("postgres://user:hunter2@127.0.0.1:1/db", system.clock).catch(
      (error: unknown) => error,
    );
    expect(String(thrown)).toContain("127.0.0.1:1/db");
    expect(Bun.inspect(thrown)).not.toContain("hunter2");
  });

  test("an invalid storage URL is rejected with the valid forms", async () => {
    for (const url of ["", "mysql://host/db", "./data.db", "sqlite:", "postgres"]) {
      await expect(openStorage(url, system.clock)).rejects.toThrow(/sqlite:/);
    }
  });

  test("H21: a file locked by another process does not block the event loop", async () => {
    const path = join(folder, "held.db");
    const storage = await openStorage(`sqlite:${path}`, system.clock);
    const holder = new SQL({ adapter: "sqlite", filename: path });
    await holder.unsafe("BEGIN IMMEDIATE");
    let isWritten = false;
    const writing = insertProject(storage, { id: "waited", createdAtMs: 1 }).then(() => {
      isWritten = true;
    });
    for (let turn = 0; turn < 100; turn++) await Bun.sleep(0);
    expect(isWritten).toBe(false);
    await holder.unsafe("COMMIT");
    await writing;
    await Promise.all([storage.close(), holder.close()]);
  });
});
