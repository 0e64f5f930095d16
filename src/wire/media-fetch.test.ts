import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { gzipSync } from "node:zlib";
import { system } from "../base/system.ts";
import { fetchMedia, type MediaFetchOptions, streamMedia } from "./media-fetch.ts";

/** A made-up authority and its certificate for media.example and cdn.example. They are valid nowhere else. */
const pem = (name: string) => readFileSync(new URL(`../../fixtures/tls/${name}`, import.meta.url), "utf8");
const certificateAuthority = pem("authority.pem");
const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
const PDF = Buffer.from("%PDF-1.7\n%âãÏÓ\n");

interface Seen {
  host: string;
  path: string;
}
const seen: Seen[] = [];
const answer = (body: Bun.BodyInit | null, type?: string, init: ResponseInit = {}) =>
  new Response(body, {
    ...init,
    headers: { ...(type === undefined ? {} : { "content-type": type }), ...init.headers },
  });
const to = (location: string, status = 302) => answer(null, undefined, { status, headers: { location } });

let stalled = () => new Promise<void>(() => {});
const ANSWERS: Readonly<Record<string, (query: string) => Response | Promise<Response>>> = {
  "/a.png": () => answer(PNG, "image/png"),
  "/lies.png": () => answer(PDF, "image/png"),
  "/no-type": () => answer(new Uint8Array(PNG), ""),
  "/page.png": () => answer("<html>not here</html>", "image/png"),
  "/page": () => answer("<!doctype html><p>Sign in", "text/html; charset=utf-8"),
  "/missing": () => answer(PNG, "image/png", { status: 404 }),
  "/text": () => answer("naïve", "text/plain; charset=utf-8"),
  "/latin": () => answer(Buffer.from("na\u00efve", "latin1"), 'text/plain; charset="ISO-8859-1"'),
  "/klingon": () => answer("qapla", "text/plain; charset=klingon"),
  "/empty": () => answer("", "image/png"),
  "/gzip": () => answer(gzipSync(PNG), "image/png", { headers: { "content-encoding": "gzip" } }),
  "/to": (query) => to(decodeURIComponent(query)),
  "/relative": () => to("a.png", 307),
  "/loop": (query) => to(`/loop?${Number(query) + 1}`),
  "/sound": () => answer("RIFF", "audio/wav"),
  "/endless": () =>
    answer(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(64 * 1024)) }), "image/png"),
  "/stalls": () => answer(new ReadableStream({ pull: () => stalled() }), "image/png"),
  "/late": () => new Promise(() => {}),
};

function serve(hostname: string, secure: boolean) {
  return Bun.serve({
    port: 0,
    hostname,
    ...(secure ? { tls: { cert: pem("media.example.pem"), key: pem("media.example.key.pem") } } : {}),
    fetch: (request) => {
      const url = new URL(request.url);
      seen.push({ host: request.headers.get("host") ?? "", path: url.pathname });
      return ANSWERS[url.pathname]?.(url.search.slice(1)) ?? answer("none", "text/plain", { status: 404 });
    },
  });
}
const server = serve("127.0.0.1", true);
const plain = serve("127.0.0.1", false);
afterAll(() => Promise.all([server.stop(true), plain.stop(true)]));

const at = (path: string, host = "media.example") => `https://${host}:${server.port}${path}`;
const loopback = (address: string) => address === "127.0.0.1";
/** Everything resolves to this machine, which is allowed here. */
const options: MediaFetchOptions = {
  clock: system.clock,
  certificateAuthority,
  allowAddress: loopback,
  resolve: async () => ["127.0.0.1"],
  timeoutMs: 2000,
};
/** The content of a stream, or the reason why it fails. */
const streamed = async (url: string, extra: Partial<MediaFetchOptions> = {}) => {
  try {
    const { mimeType, stream } = await streamMedia(url, { ...options, ...extra });
    return `${mimeType} ${(await new Response(stream).bytes()).length}`;
  } catch (error) {
    return (error as { reason?: string }).reason ?? String(error);
  }
};
const reason = (url: string, extra: Partial<MediaFetchOptions> = {}) =>
  fetchMedia(url, { ...options, ...extra }).then(
    ({ mimeType }) => `fetched ${mimeType}`,
    (error: { reason?: string }) => error.reason ?? String(error),
  );
/** The requests that arrive during `work`. */
async function arrivals(work: () => Promise<unknown>): Promise<Seen[]> {
  const before = seen.length;
  await work();
  return seen.slice(before);
}

describe("S12: where a fetch may go", () => {
  test("connects to the vetted address and keeps the name in the host header", async () => {
    const [first, ...more] = await arrivals(async () => {
      const { bytes, mimeType } = await fetchMedia(at("/a.png"), options);
      expect(mimeType).toBe("image/png");
      expect(Buffer.from(bytes)).toEqual(PNG);
    });
    expect(first).toEqual({ host: `media.example:${server.port}`, path: "/a.png" });
    expect(more).toEqual([]);
  });

  test("the certificate is verified for the requested name, not the address", async () => {
    const refusal = "the certificate of its host could not be verified";
    const arrived = await arrivals(async () => {
      expect(await reason(at("/a.png", "other.example"))).toBe(refusal);
      expect(await reason(at("/a.png", "127.0.0.1"))).toBe(refusal);
      // The right name, and an untrusted authority.
      const { certificateAuthority: _, ...untrusted } = options;
      expect(await fetchMedia(at("/a.png"), untrusted).catch((error) => error.reason)).toBe(refusal);
    });
    expect(arrived).toEqual([]);
  });

  test("a connection for one name is not reused for another name at the same address", async () => {
    expect(await reason(at("/a.png", "media.example"))).toBe("fetched image/png");
    expect(await reason(at("/a.png", "other.example"))).toContain("could not be verified");
    expect(await reason(at("/a.png", "cdn.example"))).toBe("fetched image/png");
  });

  test("a name is resolved once, so a different second answer has no effect", async () => {
    const answers = ["127.0.0.1", "127.0.0.2", "127.0.0.3"];
    let asked = 0;
    const resolve = async () => [answers[asked++] ?? "127.0.0.9"];
    expect(await reason(at("/a.png"), { resolve })).toBe("fetched image/png");
    expect(asked).toBe(1);
    // The other way round, a good second answer does not make up for the first.
    expect(await reason(at("/a.png"), { resolve })).toBe("its host has no public address");
    expect(asked).toBe(2);
  });

  test("one forbidden address rules out the allowed ones of the same name", async () => {
    const arrived = await arrivals(async () => {
      expect(await reason(at("/a.png"), { resolve: async () => ["127.0.0.1", "10.0.0.1"] })).toContain("no public");
      expect(await reason(at("/a.png"), { resolve: async () => [] })).toContain("no public");
      expect(await reason(at("/a.png"), { resolve: async () => ["media.example"] })).toContain("no public");
      expect(await reason(at("/a.png"), { resolve: () => Promise.reject(new Error("ENOTFOUND 10.1.2.3")) })).toBe(
        "its host has no public address",
      );
    });
    expect(arrived).toEqual([]);
  });

  const INSIDE = [
    "127.0.0.1",
    "localhost",
    "0x7f.1",
    "2130706433",
    "127.1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "0",
    "[::]",
  ];
  for (const host of INSIDE)
    test(`${host} is not called unless allowed`, async () => {
      const arrived = await arrivals(async () => {
        const failed = fetchMedia(`https://${host}:${server.port}/a.png`, {
          clock: system.clock,
          certificateAuthority,
        });
        expect(await failed.catch((error) => error.reason)).toBe("its host has no public address");
      });
      expect(arrived).toEqual([]);
    });

  test("addresses are tried in turn, IPv4 first", async () => {
    const allowAddress = () => true;
    const resolve = async () => ["::1", "::2", "::3", "127.0.0.2", "127.0.0.1"];
    expect(await reason(at("/a.png"), { allowAddress, resolve })).toBe("fetched image/png");
    const closed = createServer();
    await new Promise<void>((done) => closed.listen(0, "127.0.0.1", done));
    const { port } = closed.address() as { port: number };
    await new Promise((done) => closed.close(done));
    expect(await reason(`https://media.example:${port}/`)).toBe("its host could not be reached");
  });

  const REFUSED: Readonly<Record<string, string>> = {
    "http://media.example/a.png": "its URL does not start with https:",
    "ftp://media.example/a.png": "its URL does not start with https:",
    "file:///etc/passwd": "its URL does not start with https:",
    "data:image/png;base64,AAAA": "its URL does not start with https:",
    "https://user:secret@media.example/a.png": "its URL contains a user name or password",
    "https://user@media.example/a.png": "its URL contains a user name or password",
    "a.png": "its URL is not valid",
    "": "its URL is not valid",
  };
  for (const [url, expected] of Object.entries(REFUSED))
    test(`rejected: ${url}`, async () => expect(await reason(url)).toBe(expected));

  test("http is fetched if the operator allows it", async () => {
    const url = `http://media.example:${plain.port}/a.png`;
    expect(await reason(url, { allowHttp: true })).toBe("fetched image/png");
    expect(await reason(url)).toContain("https:");
  });
});

describe("S12: redirects", () => {
  const via = (location: string) => at(`/to?${encodeURIComponent(location)}`);

  test("are followed up to three times, including relative ones", async () => {
    expect(await reason(at("/relative"))).toBe("fetched image/png");
    expect(await reason(via(at("/a.png", "cdn.example")))).toBe("fetched image/png");
    const arrived = await arrivals(async () =>
      expect(await reason(at("/loop?0"))).toBe("it redirects more than 3 times"),
    );
    expect(arrived.length).toBe(4);
  });

  test("are each checked again", async () => {
    const arrived = await arrivals(async () => {
      expect(await reason(via("https://169.254.169.254/latest/meta-data"))).toBe("its host has no public address");
      expect(await reason(via(`http://media.example:${plain.port}/a.png`))).toContain("redirects to does not start");
      expect(await reason(via("https://u:p@media.example/"))).toContain("redirects to contains a user name");
      expect(await reason(via(at("/a.png", "other.example")))).toContain("could not be verified");
      const resolve = async (name: string) => [name === "media.example" ? "127.0.0.1" : "10.0.0.1"];
      expect(await reason(via(at("/a.png", "cdn.example")), { resolve })).toBe("its host has no public address");
    });
    expect(arrived.map(({ path }) => path)).toEqual(["/to", "/to", "/to", "/to", "/to"]);
  });
});

describe("S12: what hosts return", () => {
  const OUTCOMES: Readonly<Record<string, string>> = {
    "/lies.png": "fetched application/pdf",
    "/no-type": "fetched image/png",
    "/sound": "fetched audio/wav",
    "/page.png": "its host declares it as image/png, but its content is something else",
    "/page": "it is a web page",
    "/missing": "its host returned HTTP status 404",
    "/empty": "it is empty",
    "/gzip": 'its host sent it with the content encoding "gzip", which was not requested',
    "/klingon": "its text has the unknown encoding klingon",
  };
  for (const [path, expected] of Object.entries(OUTCOMES))
    test(`${path}: ${expected}`, async () => expect(await reason(at(path))).toBe(expected));

  test("text is converted to UTF-8", async () => {
    for (const path of ["/text", "/latin"]) {
      const { bytes, mimeType } = await fetchMedia(at(path), options);
      expect([new TextDecoder().decode(bytes), mimeType]).toEqual(["naïve", "text/plain"]);
    }
  });

  test("the size is counted as bytes arrive, and a declared size is trusted only if it is too large", async () => {
    expect(await reason(at("/a.png"), { maxBytes: PNG.length })).toBe("fetched image/png");
    expect(await reason(at("/a.png"), { maxBytes: PNG.length - 1 })).toBe("it is larger than 15 bytes");
    expect(await reason(at("/endless"), { maxBytes: 1_000_000 })).toBe("it is larger than 1000000 bytes");
    // A host that declares too much is rejected without waiting.
    const promising = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.write("HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ncontent-length: 30000000\r\n\r\n");
    });
    await new Promise<void>((done) => promising.listen(0, "127.0.0.1", done));
    const { port } = promising.address() as { port: number };
    expect(await reason(`http://media.example:${port}/`, { allowHttp: true })).toBe("it is larger than 20971520 bytes");
    promising.close();
  });

  test("the timeout covers the whole fetch", async () => {
    const resolve = () => new Promise<string[]>(() => undefined);
    const outcomes = await Promise.all([
      reason(at("/late"), { timeoutMs: 200 }),
      reason(at("/stalls"), { timeoutMs: 200 }),
      reason(at("/a.png"), { timeoutMs: 200, resolve }),
    ]);
    expect([...new Set(outcomes)]).toEqual(["it took longer than 0.2 s"]);
  });

  test("an aborting caller ends the fetch and gets its own reason", async () => {
    const controller = new AbortController();
    stalled = () => {
      controller.abort(new Error("the client left"));
      return new Promise<void>(() => {});
    };
    const work = fetchMedia(at("/stalls"), { ...options, timeoutMs: 100_000, signal: controller.signal });
    await expect(work).rejects.toThrow("the client left");
  });
});

describe("S12, H22: streamed media follow the same rules", () => {
  test("for addresses, types and sizes", async () => {
    expect(await streamed(at("/a.png"))).toBe(`image/png ${PNG.length}`);
    expect(await streamed(at("/relative"))).toBe(`image/png ${PNG.length}`);
    expect(await streamed(at("/a.png"), { allowAddress: () => false })).toBe("its host has no public address");
    expect(await streamed("http://media.example/a.png")).toBe("its URL does not start with https:");
    expect(await streamed(at("/page"))).toBe("it is a web page");
    expect(await streamed(at("/missing"))).toBe("its host returned HTTP status 404");
    expect(await streamed(at("/a.png"), { maxBytes: PNG.length - 1 })).toBe("it is larger than 15 bytes");
    expect(await streamed(at("/endless"), { maxBytes: 1_000_000 })).toBe("it is larger than 1000000 bytes");
  });

  test("the timeout covers the whole stream", async () => {
    expect(await streamed(at("/late"), { timeoutMs: 200 })).toBe("it took longer than 0.2 s");
    expect(await streamed(at("/stalls"), { timeoutMs: 200 })).toBe("it took longer than 0.2 s");
  });

  test("a reader that stops ends the fetch", async () => {
    const { stream } = await streamMedia(at("/endless"), { ...options, maxBytes: 1024 ** 4 });
    const reader = stream.getReader();
    expect((await reader.read()).value?.length).toBeGreaterThan(0);
    await reader.cancel();
    expect((await reader.read()).done).toBe(true);
  });
});
