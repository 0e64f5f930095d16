import { afterAll, describe, expect, test } from "bun:test";
import { eventually } from "../../testing/eventually.ts";
import { system } from "../base/system.ts";
import { fileStoreContract, namesIn, newName, sampleBytes } from "./file-store.contract.ts";
import { openFileStore } from "./open-file-store.ts";
import { BUCKET, PAGE, startS3 } from "./s3-server.sample.ts";

const server = await startS3();

if (server === undefined) {
  const why = 'moto_server is not installed (pip install "moto[s3,server]")';
  if (process.env["CI"] === "true") {
    test("under CI the file store is tested on an S3 server", () => {
      throw new Error(`The S3 store is not tested: ${why}.`);
    });
  } else {
    console.log(`skipped: the file store contract on S3, because ${why}`);
    test.skip("file store contract: S3", () => {});
  }
} else {
  const { environment } = server;
  afterAll(() => server.stop());
  const store = await openFileStore(`s3://${BUCKET}/some/prefix/`, environment, system);
  fileStoreContract("S3", () => store);

  describe("S3 store", () => {
    test("failed uploads are aborted, so that their parts cost nothing", async () => {
      const breaking = (async function* () {
        for (let count = 0; count < 30; count += 1) yield new Uint8Array(1024 * 1024);
        throw new Error("broke");
      })();
      await expect(store.put(newName(), breaking, 1024 ** 3)).rejects.toThrow("broke");
      await eventually("the upload to be aborted", async () => (await server.openUploads()) === 0);
    });

    test("files under another prefix are not visible", async () => {
      const other = await openFileStore(`s3://${BUCKET}/other`, environment, system);
      const name = newName();
      await other.put(name, sampleBytes(3), 3);
      expect(await namesIn(other)).toEqual([name]);
      expect(await namesIn(store)).not.toContain(name);
      expect(await namesIn(await openFileStore(`s3://${BUCKET}`, environment, system))).toEqual([]);
    });

    test("a listing continues beyond its first and second page", async () => {
      const many = await openFileStore(`s3://${BUCKET}/many`, environment, system);
      const names = Array.from({ length: 2 * PAGE + 3 }, newName);
      await Promise.all(names.map((name) => many.put(name, sampleBytes(1), 1)));
      const client = new Bun.S3Client({
        endpoint: environment["S3_ENDPOINT"] ?? "",
        bucket: BUCKET,
        accessKeyId: "test",
        secretAccessKey: "test",
      });
      expect(await client.list({ prefix: "many/" })).toMatchObject({ isTruncated: true, keyCount: PAGE });
      expect(await namesIn(many)).toEqual(names.sort());
    });

    test("a missing bucket is reported at the start", async () => {
      await expect(openFileStore("s3://not-made-yet/x", environment, system)).rejects.toThrow(
        /not-made-yet.*NoSuchBucket/,
      );
    });
  });
}
