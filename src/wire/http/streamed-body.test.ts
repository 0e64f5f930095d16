import { afterEach, describe, expect, test } from "bun:test";
import { atRest, eventually } from "../../../testing/eventually.ts";
import { system } from "../../base/system.ts";
import { streamedMultipart } from "../streamed-multipart.ts";
import { writeMultipart } from "../write-multipart.ts";
import { HttpFailure } from "./failure.ts";
import type { StreamedBody } from "./http-exchange.ts";
import { ConnectionPool } from "./pool.ts";
import { type RawHost, startRawHost, WHOLE } from "./raw-host.sample.ts";
import { readRequestUrl } from "./request-url.ts";
import { SocketExchange } from "./socket-exchange.ts";

let host: RawHost | undefined;
afterEach(() => host?.stop());

const MEGABYTE = 1024 * 1024;

/** Counts what is read of it. */
function bodyOf(pieces: number, announced = pieces * MEGABYTE) {
  const state = { read: 0, isClosed: false };
  const body: StreamedBody = {
    bytes: announced,
    open: async function* () {
      try {
        for (; state.read < pieces; state.read++) yield Buffer.alloc(MEGABYTE, "x");
      } finally {
        state.isClosed = true;
      }
    },
  };
  return { body, state };
}

const send = (url: string, body: StreamedBody, pool = new ConnectionPool(system.clock)) =>
  new SocketExchange(pool, readRequestUrl(url), { headers: {}, body });

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => (error instanceof HttpFailure ? error.kind : `${error}`),
  );

describe("a body that is sent while it is read", () => {
  test("arrives whole, and its connection is used again", async () => {
    host = startRawHost((socket) => void socket.write(WHOLE));
    const pool = new ConnectionPool(system.clock, { restMs: 0 });
    for (let count = 0; count < 2; count++) {
      const { body, state } = bodyOf(3);
      const exchange = send(host.url, body, pool);
      const answer = await exchange.answer();
      expect([answer.status, Buffer.from((await answer.read()) ?? []).toString()]).toEqual([200, "hello"]);
      expect(await answer.read()).toBeUndefined();
      expect(state).toEqual({ read: 3, isClosed: true });
    }
    expect(host.made).toBe(1);
    const [first] = host.requests;
    expect(first?.text).toContain(`content-length: ${3 * MEGABYTE}\r\n`);
    expect(first?.text.endsWith("x".repeat(1000))).toBe(true);
  });

  test("a host that reads nothing is sent no more than the connection holds", async () => {
    host = startRawHost(
      () => {},
      (socket) => socket.pause(),
    );
    const { body, state } = bodyOf(200);
    const exchange = send(host.url, body);
    const failed = failureOf(exchange.answer());
    expect(await atRest("the body", () => state.read)).toBeLessThan(60);
    exchange.close();
    expect(await failed).toBe("broken");
    await eventually("the body to be closed", () => state.isClosed);
  });

  test("a host that rejects the request early ends it", async () => {
    host = startRawHost(
      () => {},
      (socket) => {
        socket.pause();
        socket.write("HTTP/1.1 413 No\r\ncontent-length: 0\r\n\r\n");
      },
    );
    const { body, state } = bodyOf(200);
    expect((await send(host.url, body).answer()).status).toBe(413);
    await eventually("the body to be closed", () => state.isClosed);
    expect(state.read).toBeLessThan(60);
  });

  test.each([
    ["shorter", 2 * MEGABYTE + 1],
    ["longer", 2 * MEGABYTE - 1],
  ])("a body that is %s than announced breaks the request", async (_name, announced) => {
    host = startRawHost(() => {});
    expect(await failureOf(send(host.url, bodyOf(2, announced).body).answer())).toBe("broken");
  });

  test("a body that cannot be read breaks the request", async () => {
    host = startRawHost((socket) => void socket.write(WHOLE));
    const body: StreamedBody = {
      bytes: 10,
      open: async function* () {
        yield Buffer.from("12345");
        throw new Error("the disk is gone");
      },
    };
    expect(await failureOf(send(host.url, body).answer())).toBe("broken");
  });

  test("a streamed form has the bytes of one that is written at once", async () => {
    const fields = [{ name: "purpose", value: "batch" }];
    const file = { name: "file", fileName: 'a"b.pdf', mimeType: "application/pdf" };
    const bytes = Buffer.from("content");
    const streamed = streamedMultipart(
      {
        fields,
        file: {
          ...file,
          bytes: bytes.length,
          open: async function* () {
            yield bytes;
          },
        },
      },
      "sep",
    );
    const written = writeMultipart([...fields, { ...file, bytes }], "sep");
    const sent = Buffer.concat(await Array.fromAsync(streamed.open()));
    expect(sent.toString()).toBe(Buffer.from(written.body).toString());
    expect([streamed.bytes, streamed.contentType]).toEqual([sent.length, written.contentType]);
  });
});
