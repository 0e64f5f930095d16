import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { VirtualClock } from "../../../testing/virtual-clock.ts";
import { system } from "../../base/system.ts";
import type { Provider } from "../../providers/provider.ts";
import type { HttpAnswer, HttpRequest } from "../../wire/http/exchange.ts";
import { type FailureKind, HttpFailure } from "../../wire/http/failure.ts";
import { createSend, type Send } from "../../wire/send.ts";
import { openMedia, readAnswer, UncertainError } from "./exchange.ts";

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

  test("a question is asked again where a kept connection was closed", async () => {
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
    expect(error).toMatchObject({ kind: "upstream_timeout", message: "The provider did not answer within 1000 ms." });
    expect(clock.passedMs).toBe(1000);
  });
});
