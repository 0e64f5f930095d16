import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { VirtualClock } from "../../../testing/virtual-clock.ts";
import { system } from "../../base/system.ts";
import type { Provider } from "../../providers/provider.ts";
import { type FailureKind, HttpFailure } from "../../wire/http/failure.ts";
import type { HttpAnswer, HttpRequest } from "../../wire/http/http-exchange.ts";
import { createSend, type Send } from "../../wire/send.ts";
import { isSuccess, readAnswer, UncertainError } from "../attempt/provider-exchange.ts";
import { mediaOf, openMedia } from "./exchange.ts";

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
  const options = {
    clock: system.clock,
    send: createSend(system.clock),
    signal: new AbortController().signal,
    timeoutMs: 5_000,
  };
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
    await expect(readAnswer(response, options, { maxBytes: 64 * 1024 })).rejects.toThrow("larger than 65536 bytes");
  });

  test.each(["/small", "/small-packed"])("%s is read", async (path) => {
    expect((await readAnswer(await open(path), options, { maxBytes: 64 * 1024 })).body).toEqual({ ok: true });
  });

  test("requests no compression", async () => {
    await open("/small");
    expect(asked.get("accept-encoding")).toBe("identity");
    expect(asked.get("accept")).toBe("*/*");
  });
});

describe("an exchange that brings no answer", () => {
  /** Sends a request whose tries come to these failures, one after the other, and then to an answer. */
  async function failing(method: "GET" | "POST", ...failures: FailureKind[]) {
    const clock = new VirtualClock();
    const sent: HttpRequest[] = [];
    const answer: HttpAnswer = {
      status: 200,
      headers: new Map(),
      read: async () => undefined,
      readWhile: async () => false,
    };
    const send: Send = (request) => {
      sent.push(request);
      const kind = failures.shift();
      return {
        answer: () => (kind === undefined ? Promise.resolve(answer) : Promise.reject(new HttpFailure(kind, kind))),
        close: () => {},
      };
    };
    const media = { outgoing: async () => ({ method, url: "http://host.test/", headers: {} }) };
    const options = { clock, send, signal: new AbortController().signal, timeoutMs: 1000 };
    const provider = { media } as unknown as Provider;
    const outcome = await openMedia(provider, { method, url: "/" }, options).catch((error: unknown) => error);
    return { outcome, connections: sent.map(({ newConnection }) => (newConnection ? "new" : "kept")) };
  }

  test("a safe request is repeated if a kept-alive connection was closed", async () => {
    const { outcome, connections } = await failing("GET", "stale");
    expect(outcome).toMatchObject({ status: 200 });
    expect(connections).toEqual(["kept", "new"]);
  });

  test("a job goes over a new connection, and once", async () => {
    const { outcome, connections } = await failing("POST", "broken");
    expect(outcome).toBeInstanceOf(UncertainError);
    expect(connections).toEqual(["new"]);
  });

  test("a host that was never reached has taken nothing", async () => {
    const { outcome } = await failing("POST", "connect");
    expect(outcome).toMatchObject({ kind: "upstream_failed" });
    expect(outcome).not.toBeInstanceOf(UncertainError);
  });

  test("one that does not answer in time is ended, and may have taken it", async () => {
    const clock = new VirtualClock();
    const cut = Promise.withResolvers<never>();
    const send: Send = () => ({ answer: () => cut.promise, close: () => cut.reject(new HttpFailure("broken", "cut")) });
    const media = { outgoing: async () => ({ method: "POST", url: "http://host.test/", headers: {} }) };
    const options = { clock, send, signal: new AbortController().signal, timeoutMs: 1000 };
    const opening = openMedia({ media } as unknown as Provider, { method: "POST", url: "/" }, options);
    const error = await clock.until(opening.catch((thrown: unknown) => thrown));
    expect(error).toBeInstanceOf(UncertainError);
    expect(error).toMatchObject({ kind: "upstream_timeout", message: "The provider did not respond within 1000 ms." });
    expect(clock.passedMs).toBe(1000);
  });
});

describe("an answer in memory", () => {
  const LARGE_BYTES = 1024 * 1024;
  const MAX_BYTES = 512 * 1024 * 1024;

  /** The answer of a host that sends these chunks. */
  function opening(
    chunks: readonly Uint8Array[] | "broken",
    headers: Record<string, string>,
    signal = new AbortController().signal,
  ) {
    const clock = new VirtualClock();
    let closed = 0;
    const left = chunks === "broken" ? [] : chunks.map((chunk) => Uint8Array.from(chunk));
    const answer: HttpAnswer = {
      status: 200,
      headers: new Map(Object.entries(headers)),
      read: async () => {
        if (chunks === "broken") throw new HttpFailure("broken", "cut");
        return left.shift();
      },
      readWhile: async () => false,
    };
    const send: Send = () => ({ answer: async () => answer, close: () => void closed++ });
    const media = { outgoing: async () => ({ method: "GET", url: "http://host.test/", headers: {} }) };
    const options = { clock, send, signal, timeoutMs: 1000 };
    const opened = openMedia({ media } as unknown as Provider, { method: "GET", url: "/" }, options);
    return { opened, options, clock, closedTimes: () => closed };
  }

  const json = (length: number) => Buffer.from(`{"text":"${"é".repeat((length - 11) / 2)}"}`);

  test.each([
    ["of a known length", true, "identity"],
    ["of a known length, which says nothing of its encoding", true, undefined],
    ["of a length that is that of its compressed bytes", true, "gzip"],
    ["of an unknown length", false, undefined],
  ])("a large one %s is read whole, though its chunks cut characters", async (_, declared, encoding) => {
    const body = json(LARGE_BYTES + 1);
    const cut = 100_001;
    const chunks = [body.subarray(0, cut), body.subarray(cut, 2 * cut), body.subarray(2 * cut)];
    const { opened, options } = opening(chunks, {
      ...(declared ? { "content-length": String(encoding === "gzip" ? LARGE_BYTES + 1 - 40_000 : body.length) } : {}),
      ...(encoding === undefined ? {} : { "content-encoding": encoding }),
    });
    const { text, body: parsed } = await readAnswer(await opened, options);
    expect(text === body.toString()).toBe(true);
    expect(parsed).toHaveProperty("text");
  });

  test("one of exactly a megabyte is read whole too", async () => {
    const body = json(LARGE_BYTES + 1).subarray(0, LARGE_BYTES);
    const { opened, options } = opening([body], { "content-length": String(body.length) });
    expect((await readAnswer(await opened, options)).text.length).toBeGreaterThan(LARGE_BYTES / 2);
  });

  test("one that declares more than is allowed is rejected when it passes the limit, and ended", async () => {
    const chunk = Buffer.alloc(600, " ");
    const { opened, options, closedTimes, clock } = opening([chunk, chunk], { "content-length": "2000000" });
    await expect(readAnswer(await opened, options, { maxBytes: 1000 })).rejects.toThrow("larger than 1000 bytes");
    expect([closedTimes(), clock.timers]).toEqual([1, 0]);
  });

  test("one of exactly the limit is read", async () => {
    const chunk = Buffer.alloc(500, " ");
    const { opened, options } = opening([chunk, chunk], {});
    expect((await readAnswer(await opened, options, { maxBytes: 1000 })).text).toHaveLength(1000);
  });

  test("the limit is 512 MiB by default", async () => {
    // One buffer, again and again: nothing of it is kept but its length.
    const { opened, options } = opening([], {});
    const exchange = await opened;
    let reads = 0;
    const chunk = { length: 256 * 1024 * 1024 } as Uint8Array;
    Object.defineProperty(exchange, "read", { value: async () => (++reads <= 3 ? chunk : undefined) });
    const decode = spyOn(TextDecoder.prototype, "decode").mockReturnValue("");
    const error = await readAnswer(exchange, options).catch((thrown: unknown) => thrown);
    decode.mockRestore();
    expect(String(error)).toContain(`larger than ${MAX_BYTES} bytes`);
    expect(reads).toBe(3);
  });

  test("one that was read to its end has no timer, and no listener, left", async () => {
    const stopping = new AbortController();
    const { opened, options, clock, closedTimes } = opening([Buffer.from("{}")], {}, stopping.signal);
    const exchange = await opened;
    expect(clock.timers).toBe(1);
    await readAnswer(exchange, options);
    expect(clock.timers).toBe(0);
    stopping.abort();
    expect(closedTimes()).toBe(0);
  });

  test("an exchange that is read as a stream ends with its body, and closes if its reader stops", async () => {
    const whole = opening([Buffer.from("a"), Buffer.from("b")], {});
    expect(await new Response((await whole.opened).stream()).text()).toBe("ab");
    expect([whole.clock.timers, whole.closedTimes()]).toEqual([0, 0]);
    const stopped = opening([Buffer.from("a"), Buffer.from("b")], {});
    await (await stopped.opened).stream().cancel();
    expect([stopped.clock.timers, stopped.closedTimes()]).toEqual([0, 1]);
  });

  test("an exchange whose body breaks reports why and leaves no timer", async () => {
    const read = opening("broken", {});
    await expect((await read.opened).read()).rejects.toBeInstanceOf(UncertainError);
    expect(read.clock.timers).toBe(0);
    const streamed = opening("broken", {});
    await expect(new Response((await streamed.opened).stream()).text()).rejects.toThrow("cut");
    expect(streamed.clock.timers).toBe(0);
  });

  test("an abort ends it with the reason of the abort", async () => {
    const reason = new Error("the gateway stops");
    const stopping = new AbortController();
    const cut = Promise.withResolvers<never>();
    const clock = new VirtualClock();
    const send: Send = () => ({ answer: () => cut.promise, close: () => cut.reject(new HttpFailure("broken", "cut")) });
    const media = { outgoing: async () => ({ method: "POST", url: "http://host.test/", headers: {} }) };
    const provider = { media } as unknown as Provider;
    const options = { clock, send, signal: stopping.signal, timeoutMs: 1000 };
    const opened = openMedia(provider, { method: "POST", url: "/" }, options);
    await Bun.sleep(0);
    stopping.abort(reason);
    await expect(opened).rejects.toBe(reason);
    expect(clock.timers).toBe(0);
    // Nothing is sent any more.
    let sent = 0;
    const counting: Send = (request) => {
      sent++;
      return send(request);
    };
    const again = openMedia(provider, { method: "POST", url: "/" }, { ...options, send: counting });
    await expect(again).rejects.toBe(reason);
    expect(sent).toBe(0);
  });

  test("a provider without a media API is a bug of ours", () => {
    expect(() => mediaOf({ name: "plain" } as Provider)).toThrow("provider plain has no media interface");
  });

  test.each([
    [199, false],
    [200, true],
    [299, true],
    [300, false],
  ])("HTTP status %i is a success: %p", (status, success) => {
    expect(isSuccess({ status })).toBe(success);
  });
});

describe("bytes that are no longer needed", () => {
  test("are freed at once if they have their own buffer", async () => {
    const clock = new VirtualClock();
    const chunk = new Uint8Array(1024 * 1024).fill(32);
    const part = new Uint8Array(new ArrayBuffer(64), 0, 32).fill(32);
    const left = [chunk, part];
    const answer: HttpAnswer = {
      status: 200,
      headers: new Map([["content-length", String(chunk.length + part.length)]]),
      read: async () => left.shift(),
      readWhile: async () => false,
    };
    const send: Send = () => ({ answer: async () => answer, close: () => {} });
    const media = { outgoing: async () => ({ method: "GET", url: "http://host.test/", headers: {} }) };
    const options = { clock, send, signal: new AbortController().signal, timeoutMs: 1000 };
    const opened = await openMedia({ media } as unknown as Provider, { method: "GET", url: "/" }, options);
    const transfer = spyOn(ArrayBuffer.prototype, "transfer");
    await readAnswer(opened, options);
    // The chunk, and the buffer that both were collected in.
    expect(transfer).toHaveBeenCalledTimes(2);
    transfer.mockRestore();
    expect([chunk.length, part.length]).toEqual([0, 32]);
  });
});
