import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type TestDatabases, testDatabases } from "../../../testing/test-databases.ts";
import { system } from "../../base/system.ts";
import { openStorage } from "../open.ts";
import type { Storage } from "../storage.ts";
import {
  deleteFiles,
  insertFile,
  type StoredFile,
  selectExpiredFiles,
  selectFile,
  selectKnownFiles,
  sumFileSizes,
} from "./files.ts";

const PLENTY = { maxTotalBytes: 1024 ** 4, maxProjectBytes: 1024 ** 4 };

function sampleFile(changes: Partial<StoredFile> = {}): StoredFile {
  return {
    id: "file_1",
    project: "default",
    ownerId: "op_1",
    mimeType: "video/mp4",
    size: 5_000_000_000,
    createdAtMs: 1_700_000_000_000,
    expiresAtMs: 1_700_172_800_000,
    ...changes,
  };
}

/** Tests that every engine must pass. */
function filesContract(databases: TestDatabases): void {
  describe(`files on ${databases.engine}`, () => {
    let url: string;
    let storage: Storage;
    beforeEach(async () => {
      url = await databases.withTables();
      storage = await openStorage(url, system.clock);
    });
    afterEach(() => storage.close());
    afterAll(() => databases.clear());

    test("a file is read back unchanged, with a size beyond 32 bits and text that would break a query", async () => {
      const hostile = sampleFile({ id: "file_2", project: "' OR 1=1 --", ownerId: '"; DROP TABLE files; --' });
      expect(await insertFile(storage, sampleFile(), PLENTY)).toBe("kept");
      expect(await insertFile(storage, hostile, PLENTY)).toBe("kept");
      expect(await selectFile(storage, "file_1")).toEqual(sampleFile());
      expect(await selectFile(storage, "file_2")).toEqual(hostile);
      expect(await selectFile(storage, "' OR 1=1 --")).toBeUndefined();
      await expect(insertFile(storage, sampleFile(), PLENTY)).rejects.toThrow();
    });

    test("expired files are listed longest expired first, up to the limit", async () => {
      for (const [id, expiresAtMs] of [
        ["c", 30],
        ["a", 10],
        ["b", 20],
        ["d", 31],
      ] as const) {
        await insertFile(storage, sampleFile({ id, expiresAtMs }), PLENTY);
      }
      const ids = async (nowMs: number, limit: number) =>
        (await selectExpiredFiles(storage, nowMs, limit)).map((file) => file.id);
      expect(await ids(9, 10)).toEqual([]);
      expect(await ids(30, 10)).toEqual(["a", "b", "c"]);
      expect(await ids(30, 2)).toEqual(["a", "b"]);
    });

    test("a project's files stay within its share, whatever others have", async () => {
      const limits = { maxTotalBytes: 100, maxProjectBytes: 30 };
      const insert = (id: string, project: string) =>
        insertFile(storage, sampleFile({ id, project, size: 20 }), limits);
      expect([await insert("a", "red"), await insert("b", "red"), await insert("c", "blue")]).toEqual([
        "kept",
        "project_full",
        "kept",
      ]);
      expect(await sumFileSizes(storage, "red")).toBe(20);
      expect(await sumFileSizes(storage)).toBe(40);
    });

    test("deleting removes only what is named, and repeating it is not an error", async () => {
      for (const id of ["a", "b", "c"]) await insertFile(storage, sampleFile({ id, size: 7 }), PLENTY);
      await deleteFiles(storage, []);
      expect(await sumFileSizes(storage)).toBe(21);
      await Promise.all([deleteFiles(storage, ["a", "b"]), deleteFiles(storage, ["b", "a", "nobody"])]);
      expect(await selectKnownFiles(storage, ["a", "b", "c", "nobody"])).toEqual(new Set(["c"]));
      expect(await selectKnownFiles(storage, [])).toEqual(new Set());
      expect(await sumFileSizes(storage)).toBe(7);
    });

    test("files that two instances store at once do not exceed the limit together", async () => {
      const other = await openStorage(url, system.clock);
      const kept = await Promise.all(
        Array.from({ length: 16 }, (_, index) =>
          insertFile(index % 2 === 0 ? storage : other, sampleFile({ id: `file_${index}`, size: 10 }), {
            ...PLENTY,
            maxTotalBytes: 75,
          }),
        ),
      );
      await other.close();
      expect(kept.filter((one) => one === "kept")).toHaveLength(7);
      expect(await sumFileSizes(storage)).toBe(70);
    });
  });
}

for (const databases of testDatabases("the files' contract")) filesContract(databases);
