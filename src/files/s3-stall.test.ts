import { expect, test } from "bun:test";
import { system } from "../base/system.ts";
import { newName } from "./file-store.contract.ts";
import { S3Store } from "./s3-store.ts";

const SIZE = 1000;

/** A bucket that answers every query and then sends half of a file. */
function startHalfHost(): Bun.Server<undefined> {
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ method, url }) => {
      if (new URL(url).searchParams.has("list-type")) {
        return new Response("<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>");
      }
      const headers = { "content-length": String(SIZE), etag: '"e"', "last-modified": new Date(0).toUTCString() };
      if (method === "HEAD") return new Response(null, { headers });
      const half = async function* () {
        yield new Uint8Array(SIZE / 2);
        await new Promise(() => {});
      };
      return new Response(half(), { status: 206, headers });
    },
  });
}

test("a bucket that falls silent in the middle of a file ends it with an error", async () => {
  const host = startHalfHost();
  const endpoint = `http://127.0.0.1:${host.port}`;
  const settings = { bucket: "b", prefix: "", accessKeyId: "id", secretAccessKey: "secret", endpoint, stallMs: 200 };
  const store = await S3Store.open(settings, system.clock);
  const opened = await store.open(newName());
  expect(opened?.size).toBe(SIZE);
  await expect(new Response(opened?.stream).bytes()).rejects.toThrow("stopped arriving");
  await host.stop(true);
});
