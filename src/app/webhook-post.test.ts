import { afterEach, describe, expect, test } from "bun:test";
import { createServer, type Server, type Socket } from "node:net";
import { attempt } from "../alerts/post.ts";
import { Secret } from "../base/secret.ts";
import { webhookPost } from "./webhook-post.ts";

const ALERT = { id: "alr_1", type: "test", body: '{"id":"alr_1"}' };
/** Receivers that answer have time to, even on a busy machine. */
const AMPLE_MS = 60_000;
const TIMEOUT_MS = 300;

let server: Server | undefined;
const sockets = new Set<Socket>();
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  server?.close();
});

/** A receiver that handles each connection this way once a request has arrived. */
async function receiver(behave: (socket: Socket) => void): Promise<string> {
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", () => behave(socket));
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}/a-secret-path`;
}

function send(url: string, { abort = new AbortController().signal, timeoutMs = AMPLE_MS } = {}) {
  const webhook = { name: "hook", url: new Secret(url), secret: new Secret("0123456789abcdef") };
  return attempt(webhookPost(timeoutMs), ALERT, webhook, { wallMs: 0, abort });
}

const head = (status: string, more = "") => `HTTP/1.1 ${status}\r\n${more}`;

describe("a receiver", () => {
  test("that responds with 2xx has accepted it", async () => {
    const url = await receiver((socket) => socket.end(head("204 No Content", "\r\n")));
    expect(await send(url)).toMatchObject({ ok: true, status: 204, error: undefined });
  });

  test("that hangs is abandoned after the timeout", async () => {
    expect(await send(await receiver(() => {}), { timeoutMs: TIMEOUT_MS })).toMatchObject({
      ok: false,
      error: "did not answer in time",
    });
  });

  test("whose response takes longer than the timeout has not accepted it", async () => {
    const url = await receiver((socket) => socket.write(head("200 OK", "content-length: 10\r\n\r\nab")));
    expect(await send(url, { timeoutMs: TIMEOUT_MS })).toMatchObject({ ok: false, error: "did not answer in time" });
  });

  test("that returns 500 is reported with the status", async () => {
    const url = await receiver((socket) => socket.end(head("500 Broken", "content-length: 4\r\n\r\noops")));
    expect(await send(url)).toMatchObject({ ok: false, status: 500, error: "answered 500", answer: "oops" });
  });

  test("can delay the next attempt, by seconds or until a date", async () => {
    const later = new Date(Date.now() + 90_000).toUTCString();
    for (const [header, least, most] of [
      ["60", 60_000, 60_000],
      [later, 60_000, 90_000],
      ["soon", 0, 0],
    ] as const) {
      const url = await receiver((socket) =>
        socket.end(head("503 Busy", `retry-after: ${header}\r\ncontent-length: 0\r\n\r\n`)),
      );
      const { retryAfterMs } = await send(url);
      expect([retryAfterMs >= least, retryAfterMs <= most]).toEqual([true, true]);
      server?.close();
    }
  });

  test("S12: that redirects is not followed", async () => {
    let asked = 0;
    const url = await receiver((socket) => {
      asked += 1;
      socket.end(head("307 Elsewhere", "location: /elsewhere\r\ncontent-length: 0\r\n\r\n"));
    });
    expect(await send(url)).toMatchObject({
      ok: false,
      status: 307,
      error: "answered 307: redirects are not followed",
    });
    expect(asked).toBe(1);
  });

  test("S10: that closes the connection or is unreachable fails without revealing its address", async () => {
    const url = await receiver((socket) => socket.destroy());
    const closed = await send(url);
    server?.close();
    const absent = await send("http://127.0.0.1:1/a-secret-path");
    for (const { ok, error = "" } of [closed, absent]) {
      expect([ok, error.includes("secret"), error.startsWith("connection failed")]).toEqual([false, false, true]);
    }
  });

  test("whose response is large or endless is only read at its beginning", async () => {
    const megabyte = "x".repeat(1_000_000);
    const url = await receiver((socket) => socket.write(head("200 OK", `\r\n${megabyte}`)));
    const { ok, answer } = await send(url);
    expect([ok, answer.length]).toEqual([true, 300]);
  });

  test("is abandoned when the gateway stops", async () => {
    const abort = new AbortController();
    const sent = send(await receiver(() => abort.abort()), { abort: abort.signal });
    expect(await sent).toMatchObject({ ok: false });
  });
});
