import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { system } from "../../base/system.ts";
import type { Provider } from "../../providers/provider.ts";
import { openMedia, readAnswer } from "./exchange.ts";

const LARGE = Buffer.alloc(1024 * 1024, " ");
const SMALL = Buffer.from('{"ok":true}');
const BODIES: Readonly<Record<string, () => Response>> = {
  "/large": () => new Response(LARGE),
  "/large-chunked": () => new Response(new Blob([LARGE]).stream()),
  "/large-packed": () => packed(LARGE),
  "/small": () => new Response(SMALL),
  "/small-packed": () => packed(SMALL),
};

const packed = (content: Buffer) => new Response(gzipSync(content), { headers: { "content-encoding": "gzip" } });

describe("every buffer has a bound: a media API's answer", () => {
  const options = { clock: system.clock, signal: new AbortController().signal, timeoutMs: 5_000 };
  let asked: Headers;
  let host: Bun.Server<undefined>;
  beforeAll(() => {
    host = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: ({ url, headers }) => {
        asked = headers;
        return BODIES[new URL(url).pathname]?.() ?? new Response(null, { status: 404 });
      },
    });
  });
  afterAll(() => host.stop(true));

  /** With a provider that needs no credential. */
  const open = (path: string) => {
    const media = {
      outgoing: async () => ({ method: "GET", url: host.url.origin + path, headers: { accept: "*/*" } }),
    };
    return openMedia({ media } as unknown as Provider, { method: "GET", url: path }, options);
  };

  test.each(["/large", "/large-chunked", "/large-packed"])("%s is too large by its decompressed size", async (path) => {
    const response = await open(path);
    await expect(readAnswer(response, options, 64 * 1024)).rejects.toThrow("larger than 65536 bytes");
  });

  test.each(["/small", "/small-packed"])("%s is read", async (path) => {
    expect((await readAnswer(await open(path), options, 64 * 1024)).body).toEqual({ ok: true });
  });

  test("asks for no compression", async () => {
    await open("/small");
    expect(asked.get("accept-encoding")).toBe("identity");
    expect(asked.get("accept")).toBe("*/*");
  });
});
