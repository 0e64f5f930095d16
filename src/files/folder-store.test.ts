import { afterAll, beforeAll, describe, expect, mock, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import * as disk from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { system } from "../base/system.ts";
import { fileStoreContract, namesIn, newName, sampleBytes } from "./file-store.contract.ts";
import type { FileStore } from "./file-store.ts";
import { FolderStore } from "./folder-store.ts";
import { openFileStore } from "./open-file-store.ts";

const root = mkdtempSync(join(tmpdir(), "trivium-files-"));
const folder = join(root, "deep", "er");
const HOUR_MS = 60 * 60_000;
let store: FileStore;

beforeAll(async () => {
  store = await openFileStore(folder, {}, system);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

fileStoreContract("folder", () => store);

describe("folder store", () => {
  test("the folder is created for this user only, and no temporary file is left in it", () => {
    expect(statSync(folder).mode & 0o077).toBe(0);
    expect(readdirSync(folder).filter((name) => name.includes("part"))).toEqual([]);
  });

  test("users that start at once agree on its name, which moves with it; another folder has another", async () => {
    const open = (name: string) => openFileStore(join(root, name), {}, system);
    const users = await Promise.all(Array.from({ length: 8 }, () => open("named")));
    const names = new Set(await Promise.all(users.map((user) => user.identity())));
    expect(names.size).toBe(1);
    expect(readdirSync(join(root, "named"))).toEqual([".trivium-store"]);
    expect(names).not.toContain(await (await open("another")).identity());
    renameSync(join(root, "named"), join(root, "moved"));
    expect(names).toContain(await (await open("moved")).identity());
  });

  test("a writer killed in the middle leaves nothing visible, and its remains are swept once they are stale", async () => {
    const folder = join(root, "killed");
    const name = newName();
    const child = Bun.spawn([process.execPath, join(import.meta.dir, "put.child.ts"), folder, name], {
      stdout: "pipe",
    });
    const reader = child.stdout.getReader();
    await reader.read();
    child.kill("SIGKILL");
    await child.exited;
    const left = readdirSync(folder);
    expect(left).toHaveLength(1);
    expect(left[0]).toEndWith(".part");
    expect(statSync(join(folder, left[0] ?? "")).size).toBeGreaterThan(1_000_000);

    const reopened = await openFileStore(folder, {}, system);
    expect(await namesIn(reopened)).toEqual([]);
    expect(await reopened.open(name)).toBeUndefined();
    // Another instance may still be writing a young one.
    expect(readdirSync(folder)).toEqual(left);
    await openFileStore(
      folder,
      {},
      {
        ...system,
        clock: { ...system.clock, wallMs: () => Date.now() + HOUR_MS },
      },
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  test("H29: a hanging disk ends each step with an error that omits its path", async () => {
    const hanging = await FolderStore.open(join(root, "hanging"), system, 20);
    const works = { ...disk };
    const never = () => new Promise<never>(() => {});
    mock.module("node:fs/promises", () => ({ ...works, open: never, stat: never, rm: never, readdir: never }));
    try {
      for (const step of [
        () => hanging.put(newName(), sampleBytes(10), 100),
        () => hanging.open(newName()),
        () => hanging.remove(newName()),
        () => namesIn(hanging),
        () => hanging.removeUnfinished(Date.now()),
      ]) {
        const thrown = await step().then(
          () => undefined,
          (error: unknown) => error,
        );
        const message = "The folder of the file store cannot be used: ETIMEDOUT.";
        expect(thrown).toMatchObject({ kind: "internal", message });
      }
    } finally {
      mock.module("node:fs/promises", () => works);
    }
    expect(await namesIn(hanging)).toEqual([]);
  });

  test("other programs' files in the folder are neither listed nor swept", async () => {
    const folder = join(root, "shared");
    const shared = await openFileStore(folder, {}, system);
    const foreign = ["notes.txt", "video.part", "file_short", `${newName()}.part`, `.${newName()}`];
    for (const name of foreign) writeFileSync(join(folder, name), "mine");
    await shared.removeUnfinished(Date.now() + HOUR_MS);
    expect(await namesIn(shared)).toEqual([]);
    expect(readdirSync(folder).sort()).toEqual(foreign.sort());
  });

  test("a file that is removed while it is read can be read to its end", async () => {
    const bytes = sampleBytes(2_000_000);
    const name = newName();
    await store.put(name, bytes, bytes.length);
    const reader = (await store.open(name))?.stream.getReader();
    const chunks: Uint8Array[] = [];
    for (let chunk = await reader?.read(); chunk?.value; chunk = await reader?.read()) {
      chunks.push(chunk.value);
      await store.remove(name);
    }
    expect(chunks.length).toBeGreaterThan(1);
    expect(Bun.hash(Buffer.concat(chunks))).toBe(Bun.hash(bytes));
  });

  test("a reader that stops in the middle keeps no file open", async () => {
    const name = newName();
    await store.put(name, sampleBytes(2_000_000), 2_000_000);
    const openFiles = () => readdirSync("/proc/self/fd").length;
    const before = openFiles();
    for (let count = 0; count < 50; count += 1) {
      const reader = (await store.open(name))?.stream.getReader();
      await reader?.read();
      await reader?.cancel();
    }
    expect(openFiles()).toBeLessThan(before + 10);
  });

  test("choices 7: an unusable folder is reported at the start with its path and the reason", async () => {
    const taken = join(root, "taken");
    writeFileSync(taken, "a file");
    const problemOf = (folder: string) => openFileStore(folder, {}, system).catch((error: unknown) => String(error));
    expect(await problemOf(taken)).toContain(`The folder ${taken} of the file store cannot be used: EEXIST.`);
    expect(await problemOf(join(taken, "below"))).toContain(
      `${join(taken, "below")} of the file store cannot be used: ENOTDIR.`,
    );
  });

  test("choices 7: so is a folder without write access, unless the user is root", async () => {
    const closed = join(root, "closed");
    mkdirSync(closed, { mode: 0o500 });
    const opened = await openFileStore(closed, {}, system).catch((error: unknown) => error);
    if (process.getuid?.() === 0) expect(opened).not.toBeInstanceOf(Error);
    else expect(String(opened)).toContain(`The folder ${closed} of the file store cannot be used: EACCES.`);
  });

  test("a folder that disappears later is reported to clients with the reason and without its path", async () => {
    const folder = join(root, "gone");
    const gone = await openFileStore(folder, {}, system);
    rmSync(folder, { recursive: true });
    writeFileSync(folder, "a file");
    const thrown = await gone.put(newName(), sampleBytes(10), 10).catch((error: unknown) => error);
    expect(String(thrown)).toContain("ENOTDIR");
    expect(String(thrown)).not.toContain(root);
  });
});

describe("openFileStore", () => {
  test.each([
    ["", "folder"],
    ["https://host/files", "folder"],
    ["s3://", "s3://bucket/prefix"],
    ["s3://key:secret@bucket/x", "s3://bucket/prefix"],
    ["s3://bucket/x", "S3_ACCESS_KEY_ID"],
  ])("%p is rejected with the valid forms", async (url, right) => {
    const thrown = await openFileStore(url, {}, system).catch((error: unknown) => error);
    expect(String(thrown)).toContain(right);
    expect(String(thrown)).not.toContain("secret@");
  });
});
