import { afterEach, describe, expect, test } from "bun:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { atRest, eventually } from "../../../testing/eventually.ts";
import { VirtualClock } from "../../../testing/virtual-clock.ts";
import { system } from "../../base/system.ts";
import { HttpFailure } from "./failure.ts";
import type { HttpAnswer } from "./http-exchange.ts";
import { ConnectionPool } from "./pool.ts";
import { type RawHost, startRawHost, WHOLE } from "./raw-host.sample.ts";
import { readRequestUrl } from "./request-url.ts";
import { SocketExchange } from "./socket-exchange.ts";

const running: RawHost[] = [];
afterEach(() => {
  for (const host of running.splice(0)) host.stop();
});

function startHost(...of: Parameters<typeof startRawHost>): RawHost {
  const host = startRawHost(...of);
  running.push(host);
  return host;
}

const begin = (url: string, body: string | Uint8Array = "{}", pool = new ConnectionPool(system.clock)) =>
  new SocketExchange(pool, readRequestUrl(url), { headers: { "content-type": "application/json" }, body });

async function readAll(answer: HttpAnswer): Promise<string> {
  const parts: Uint8Array[] = [];
  for (let part = await answer.read(); part; part = await answer.read()) parts.push(part);
  return Buffer.concat(parts).toString("latin1");
}

const call = async (...of: Parameters<typeof begin>) => readAll(await begin(...of).answer());

async function failureOf(work: Promise<unknown>): Promise<string> {
  const thrown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  return thrown instanceof HttpFailure ? thrown.kind : `${thrown}`;
}

const CHUNKED = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

describe("responses", () => {
  test("sends the request and returns the status, headers and body", async () => {
    const host = startHost(
      (socket) => void socket.write("HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 2\r\n\r\nno"),
    );
    const answer = await begin(host.url, '{"a":"é"}').answer();
    expect([answer.status, answer.headers.get("retry-after"), await readAll(answer)]).toEqual([429, "7", "no"]);
    const [head = "", body] = host.requests[0]?.text.split("\r\n\r\n") ?? [];
    expect(head.split("\r\n")).toEqual([
      "POST /v1/do?it=now HTTP/1.1",
      `host: 127.0.0.1:${host.port}`,
      "content-type: application/json",
      "accept-encoding: identity",
      "content-length: 10",
    ]);
    expect(body).toBe(Buffer.from('{"a":"é"}').toString("latin1"));
  });

  test("reads bodies of every framing, skips interim responses and follows no redirect", async () => {
    const cases: [string, string][] = [
      [WHOLE, "hello"],
      [`${CHUNKED}2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nT: z\r\n\r\n`, "hello"],
      ["HTTP/1.1 200 OK\r\n\r\nhello", "hello"],
      ["HTTP/1.0 200 OK\r\n\r\nhello", "hello"],
      ["HTTP/1.1 204 No Content\r\n\r\n", ""],
      ["HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n", ""],
      [`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${WHOLE}`, "hello"],
      ["HTTP/1.1 307 Go\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 2\r\n\r\nno", "no"],
      ["HTTP/1.1 200 OK\r\nx-folded: a\r\n b\r\ncontent-length: 5\r\n\r\nhello", "hello"],
    ];
    let text = "";
    const host = startHost((socket) => void socket.end(text));
    for (const [wire, body] of cases) {
      text = wire;
      expect([wire, await call(host.url)]).toEqual([wire, body]);
    }
  });

  test("reads the same response one byte at a time", async () => {
    const text = `HTTP/1.1 100 Continue\r\n\r\n${CHUNKED}2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n`;
    const host = startHost(async (socket) => {
      for (const letter of text) {
        socket.write(letter);
        socket.flush();
        await Bun.sleep(0);
      }
    });
    expect(await call(host.url)).toBe("hello");
  });

  for (const how of ["end", "reset"] as const) {
    test(`H16: a response cut after any byte (${how}) fails instead of ending short`, async () => {
      const answers = [WHOLE, `${CHUNKED}2\r\nhe\r\n3\r\nllo\r\n0\r\nt: x\r\n\r\n`];
      let text = "";
      const host = startHost((socket) => {
        socket.write(text);
        socket.flush();
        if (how === "end") socket.end();
        else setImmediate(() => socket.terminate());
      });
      for (const whole of answers) {
        for (let cut = 0; cut < whole.length; cut++) {
          text = whole.slice(0, cut);
          expect([text, await failureOf(call(host.url))]).toEqual([text, "broken"]);
        }
      }
    });
  }

  test("a body that ends with the connection is incomplete if the connection breaks", async () => {
    let terminate = () => {};
    const host = startHost((socket) => {
      terminate = () => socket.terminate();
      socket.write("HTTP/1.1 200 OK\r\n\r\nhello");
    });
    const answer = await begin(host.url).answer();
    expect(Buffer.from((await answer.read()) ?? []).toString()).toBe("hello");
    terminate();
    expect(await failureOf(answer.read())).toBe("broken");
  });

  test("a body that breaks off in the packet of its head does so for its reader, who knows the status", async () => {
    const head = "HTTP/1.1 429 Slow\r\nretry-after: 7\r\ntransfer-encoding: chunked\r\n\r\n";
    const host = startHost((socket) => void socket.end(`${head}zz\r\n`));
    const answer = await begin(host.url).answer();
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "7"]);
    expect(await failureOf(answer.read())).toBe("broken");
  });

  test("malformed HTTP fails at once and closes the connection", async () => {
    const refused = [
      "hello\r\n\r\n",
      "HTTP/1.1 200 OK\ncontent-length: 5\n\nhello",
      "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 5\r\n\r\nhello",
      "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
      "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n",
      `HTTP/1.1 200 OK\r\nx: ${"y".repeat(66_000)}`,
      `HTTP/1.1 200 OK\r\nx: ${"y".repeat(66_000)}\r\n\r\n`,
      `${CHUNKED}zz\r\n`,
      "HTTP/1.1 200 OK\r\ncontent-encoding: zstd\r\ncontent-length: 5\r\n\r\nhello",
    ];
    let text = "";
    const host = startHost((socket) => void socket.write(text));
    for (const wire of refused) {
      text = wire;
      expect([wire.slice(0, 60), await failureOf(call(host.url))]).toEqual([wire.slice(0, 60), "broken"]);
    }
    await eventually("the connections", () => host.open === 0);
  });

  test("an unrequested compression is decoded, also in small chunks; truncated or corrupt data fails", async () => {
    const content = "data: 1\n\n".repeat(500);
    const packed: [string, Uint8Array][] = [
      ["gzip", gzipSync(content)],
      ["deflate", deflateSync(content)],
      ["br", brotliCompressSync(content)],
    ];
    let parts: Uint8Array[] = [];
    const host = startHost(async (socket) => {
      for (const part of parts) {
        socket.write(part);
        socket.flush();
        await Bun.sleep(0);
      }
      socket.end();
    });
    for (const [encoding, bytes] of packed) {
      const head = Buffer.from(`HTTP/1.1 200 OK\r\ncontent-encoding: ${encoding}\r\n\r\n`);
      parts = [head, bytes.subarray(0, 20), bytes.subarray(20)];
      expect([encoding, await call(host.url)]).toEqual([encoding, content]);
      parts = [head, bytes.subarray(0, bytes.length - 8)];
      expect([encoding, await call(host.url).catch(() => "failed")]).toEqual([encoding, "failed"]);
      parts = [head, Buffer.from("not packed at all")];
      expect([encoding, await call(host.url).catch(() => "failed")]).toEqual([encoding, "failed"]);
    }
  });
});

describe("the pool", () => {
  test("a connection is reused only after a complete response", async () => {
    const cases: [string, number][] = [
      [WHOLE, 1],
      [`${CHUNKED}5\r\nhello\r\n0\r\n\r\n`, 1],
      ["HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 5\r\n\r\nhello", 2],
      ["HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\nhello", 2],
      [`${WHOLE}HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil`, 2],
      [`${CHUNKED}5\r\nhello\r\n0\r\n\r\nmore`, 2],
    ];
    for (const [text, connections] of cases) {
      const pool = new ConnectionPool(system.clock, { restMs: 0 });
      const host = startHost((socket) => void socket.write(text));
      expect([text, await call(host.url, "{}", pool)]).toEqual([text, "hello"]);
      expect([text, await call(host.url, "{}", pool)]).toEqual([text, "hello"]);
      expect([text, host.made]).toEqual([text, connections]);
    }
  });

  test("unrequested bytes close an idle connection before they can pass for a response", async () => {
    const pool = new ConnectionPool(system.clock);
    let speakUp = () => {};
    const host = startHost((socket, count) => {
      socket.write(WHOLE);
      if (count === 1) speakUp = () => void socket.write("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil");
    });
    expect(await call(host.url, "{}", pool)).toBe("hello");
    expect(pool.idle).toBe(1);
    speakUp();
    await eventually("the connection to be closed", () => pool.idle === 0);
    expect(await call(host.url, "{}", pool)).toBe("hello");
  });

  test("idle connections are limited in number and age, by origin", async () => {
    const clock = new VirtualClock();
    const pool = new ConnectionPool(clock, { maxIdle: 2, idleMs: 80 });
    const asked: { write(text: string): unknown }[] = [];
    const host = startHost((socket) => {
      // All are asked before the first answers, so that none uses the connection of another.
      if (asked.push(socket) === 6) for (const one of asked) one.write(WHOLE);
    });
    const other = startHost((socket) => void socket.write(WHOLE));
    await Promise.all(Array.from({ length: 6 }, () => call(host.url, "{}", pool)));
    await call(other.url, "{}", pool);
    expect([host.made, other.made, pool.idle]).toEqual([6, 1, 3]);
    await eventually("four connections to be closed", () => host.open === 2);
    await clock.pass(200);
    expect(pool.idle).toBe(0);
    await eventually("the others to be closed", () => host.open === 0 && other.open === 0);
  });

  test("allows far more concurrent requests than the runtime's client", async () => {
    const waiting: (() => void)[] = [];
    const host = startHost((socket) => {
      waiting.push(() => socket.write(WHOLE));
    });
    const calls = Array.from({ length: 600 }, () => call(host.url));
    await eventually("the connections", () => waiting.length === 600);
    for (const answer of waiting) answer();
    expect(new Set(await Promise.all(calls))).toEqual(new Set(["hello"]));
  });

  test("H32: a request is sent once, even if a kept connection ends before the first byte of the response", async () => {
    for (const how of ["end", "reset"] as const) {
      const pool = new ConnectionPool(system.clock, { restMs: 0 });
      const host = startHost((socket, count) => {
        if (count !== 3) socket.write(WHOLE);
        else if (how === "end") socket.end();
        else socket.terminate();
      });
      await Promise.all([call(host.url, "{}", pool), call(host.url, "{}", pool)]);
      expect([host.made, pool.idle]).toEqual([2, 2]);
      expect(await failureOf(call(host.url, "{}", pool))).toBe("stale");
      // A retry, which the caller counts, uses a new connection.
      expect([host.requests.length, pool.idle]).toEqual([3, 0]);
      expect(await call(host.url, "again", pool)).toBe("hello");
      expect([host.made, host.requests.length]).toEqual([3, 4]);
    }
  });

  test("a connection that ends after the first byte, or a new one, is broken rather than stale", async () => {
    const pool = new ConnectionPool(system.clock, { restMs: 0 });
    const host = startHost((socket) => void socket.end());
    expect(await failureOf(call(host.url, "{}", pool))).toBe("broken");
    const partial = startHost((socket, count) => {
      if (count === 1) socket.write(WHOLE);
      else socket.end("H");
    });
    expect(await call(partial.url, "{}", pool)).toBe("hello");
    expect(await failureOf(call(partial.url, "{}", pool))).toBe("broken");
    expect(partial.requests.length).toBe(2);
  });

  const EVIL = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil";
  const CHUNKED_EVIL = `${CHUNKED}4\r\nevil\r\n0\r\n\r\n`;

  test("S24: an extra response right after the first arrives while the connection is idle", async () => {
    let now = 0;
    const pool = new ConnectionPool({ ...system.clock, nowMs: () => now });
    const sockets: Parameters<Parameters<typeof startRawHost>[0]>[0][] = [];
    const host = startHost((socket) => {
      sockets.push(socket);
      socket.write(WHOLE);
    });
    expect(await call(host.url, "{}", pool)).toBe("hello");
    // The connection is resting, so another request does not get it.
    expect(await call(host.url, "{}", pool)).toBe("hello");
    expect([host.made, pool.idle]).toEqual([2, 2]);
    sockets[0]?.write(EVIL);
    await eventually("the connections", () => pool.idle === 1);
    now += 10;
    for (let count = 1; count <= 3; count++, now += 10) expect(await call(host.url, "{}", pool)).toBe("hello");
    expect([host.made, pool.idle]).toEqual([2, 1]);
  });

  test.each([
    ["by its length", EVIL],
    ["in chunks", CHUNKED_EVIL],
  ])("S24: a response followed by another one is not delivered on a kept connection: %s", async (_, evil) => {
    const pool = new ConnectionPool(system.clock, { restMs: 0 });
    // The host is one response late: it answers the second request with what was left from the first.
    const host = startHost((socket, count) => void socket.write(count === 2 ? evil + WHOLE : WHOLE));
    expect(await call(host.url, "{}", pool)).toBe("hello");
    expect(await failureOf(call(host.url, "{}", pool))).toBe("broken");
    expect(pool.idle).toBe(0);
    expect(await call(host.url, "{}", pool)).toBe("hello");
  });

  test("S24: a response to a partly sent request is rejected unless it is an error", async () => {
    for (const [early, expected] of [
      [EVIL, "broken"],
      ["HTTP/1.1 413 No\r\ncontent-length: 2\r\n\r\nno", "no"],
    ] as const) {
      const pool = new ConnectionPool(system.clock, { restMs: 0 });
      let sockets = 0;
      const host = startHost(
        (socket, count) => void (count === 1 && socket.write(WHOLE)),
        (socket) => {
          if (++sockets === 1) return;
          socket.write(early);
          // Stops reading, so that the rest of the request stays with the sender.
          socket.pause();
        },
      );
      expect(await call(host.url, "{}", pool)).toBe("hello");
      const large = call(host.url, "x".repeat(60_000_000), pool);
      expect(expected === "no" ? await large : await failureOf(large)).toBe(expected);
    }
  });

  test("S24: a connection serves a limited number of requests for a limited time", async () => {
    const host = startHost((socket) => void socket.write(WHOLE));
    const few = new ConnectionPool(system.clock, { restMs: 0, maxUses: 3 });
    for (let count = 1; count <= 7; count++) await call(host.url, "{}", few);
    expect(host.made).toBe(3);
    const brief = new ConnectionPool(system.clock, { restMs: 0, maxAgeMs: 0 });
    await call(host.url, "{}", brief);
    await call(host.url, "{}", brief);
    expect(host.made).toBe(5);
  });

  test("an idle connection is not used shortly before the host said it would close it", async () => {
    const answer = (seconds: number) =>
      `HTTP/1.1 200 OK\r\nkeep-alive: max=9, timeout=${seconds}\r\ncontent-length: 5\r\n\r\nhello`;
    let seconds = 1;
    const host = startHost((socket) => void socket.write(answer(seconds)));
    const pool = new ConnectionPool(system.clock, { restMs: 0 });
    await call(host.url, "{}", pool);
    expect(pool.idle).toBe(0);
    seconds = 60;
    await call(host.url, "{}", pool);
    await call(host.url, "{}", pool);
    expect([host.made, pool.idle]).toEqual([2, 1]);
  });
});

test("S18: a host that sends endless interim responses is cut off before the deadline", async () => {
  const host = startHost((socket) => {
    const some = "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(100);
    const more = setInterval(() => socket.write(some) < 0 && clearInterval(more), 1);
  });
  expect(await failureOf(call(host.url))).toBe("broken");
});

describe("back-pressure", () => {
  const LARGE = 60_000_000;

  test("a large body arrives complete at a host that reads slowly", async () => {
    let received = 0;
    const server = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data: (socket, bytes) => {
          received += bytes.length;
          if (received > LARGE) socket.write(WHOLE);
          else if (received % 7 === 0) {
            socket.pause();
            setImmediate(() => socket.resume());
          }
        },
      },
    });
    const url = `http://127.0.0.1:${server.port}/`;
    expect(await call(url, Buffer.alloc(LARGE, "x"))).toBe("hello");
    const text = "é".repeat(LARGE / 2);
    received = 0;
    expect(await call(url, text)).toBe("hello");
    expect(received).toBeGreaterThan(LARGE);
    server.stop(true);
  });

  test("a host is paused while its response is not read", async () => {
    let written = 0;
    const chunk = Buffer.alloc(64 * 1024, "y");
    const total = 40_000_000;
    const fill = (socket: Bun.Socket<unknown>) => {
      while (written < total) {
        const taken = socket.write(written + chunk.length > total ? chunk.subarray(0, total - written) : chunk);
        if (taken <= 0) return;
        written += taken;
      }
    };
    const server = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data: (socket) => {
          socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${total}\r\n\r\n`);
          fill(socket);
        },
        drain: fill,
      },
    });
    const answer = await begin(`http://127.0.0.1:${server.port}/`).answer();
    expect(await atRest("the host", () => written)).toBeLessThan(total / 2);
    expect((await readAll(answer)).length).toBe(total);
    server.stop(true);
  });

  test("a host that rejects a request before its end is read, and is not sent the rest", async () => {
    let received = 0;
    const server = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data: (socket, bytes) => {
          if (received === 0) socket.write("HTTP/1.1 413 Too Large\r\ncontent-length: 3\r\n\r\nno!");
          received += bytes.length;
          socket.pause();
        },
      },
    });
    const pool = new ConnectionPool(system.clock);
    const answer = await begin(`http://127.0.0.1:${server.port}/`, Buffer.alloc(LARGE), pool).answer();
    expect([answer.status, await readAll(answer), pool.idle]).toEqual([413, "no!", 0]);
    expect(received).toBeLessThan(LARGE);
    server.stop(true);
  });
});

describe("chunks passed on as they arrive", () => {
  const three = async (socket: Bun.Socket<unknown>) => {
    socket.write(CHUNKED);
    for (const letter of ["a", "b", "c"]) {
      await Bun.sleep(0);
      socket.flush();
      socket.write(`1\r\n${letter}\r\n`);
    }
    socket.end("0\r\n\r\n");
  };

  test("until the taker returns false, and on from there with the next taker", async () => {
    const sent = Promise.withResolvers<void>();
    const host = startHost((socket) => void three(socket).then(sent.resolve));
    const answer = await begin(host.url).answer();
    let text = "";
    const take = (chunk: Uint8Array) => {
      text += Buffer.from(chunk).toString();
      return !text.endsWith("b");
    };
    expect([await answer.readWhile({ take }), text]).toEqual([true, "ab"]);
    await sent.promise;
    expect([await answer.readWhile({ take }), text]).toEqual([false, "abc"]);
    expect([await answer.readWhile({ take }), await answer.read()]).toEqual([false, undefined]);
  });

  test("a taker that does not keep its chunks reads the same, and one that does gets its own memory", async () => {
    const host = startHost((socket) => void three(socket));
    const done: string[] = [];
    const take = (chunk: Uint8Array) => done.push(Buffer.from(chunk).toString()) > 0;
    expect(await (await begin(host.url).answer()).readWhile({ atOnce: true, take })).toBe(false);
    const kept: Uint8Array[] = [];
    await (await begin(host.url).answer()).readWhile({ take: (chunk) => kept.push(chunk) > 0 });
    expect([done.join(""), Buffer.concat(kept).toString()]).toEqual(["abc", "abc"]);
  });

  /** Makes errors before the first wait reject as later ones do. */
  const takeAll = async (answer: HttpAnswer, take: (chunk: Uint8Array) => boolean) => answer.readWhile({ take });

  test("a taker that throws or closes ends the response", async () => {
    const host = startHost((socket) => void three(socket));
    const thrown = takeAll(await begin(host.url).answer(), () => {
      throw new Error("no more");
    });
    await expect(thrown).rejects.toThrow("no more");
    const exchange = begin(host.url);
    const answer = await exchange.answer();
    const closed = takeAll(answer, () => {
      exchange.close();
      return true;
    });
    expect(await failureOf(closed)).toBe("broken");
    expect(await failureOf(takeAll(answer, () => true))).toBe("broken");
  });

  test("reports a truncated response, and decodes a compressed one", async () => {
    let end = `${CHUNKED}1\r\na\r\n`;
    const host = startHost((socket) => void socket.end(end));
    let text = "";
    const take = (chunk: Uint8Array) => {
      text += Buffer.from(chunk).toString();
      return true;
    };
    expect(await failureOf(takeAll(await begin(host.url).answer(), take))).toBe("broken");
    expect(text).toBe("a");
    end = `HTTP/1.1 200 OK\r\ncontent-encoding: deflate\r\n\r\n`;
    const packed = startHost((socket) => void socket.end(Buffer.concat([Buffer.from(end), deflateSync("bcd")])));
    expect([await (await begin(packed.url).answer()).readWhile({ take }), text]).toEqual([false, "abcd"]);
  });
});

describe("failures and closing", () => {
  test("a refused connection or an unknown name counts as not reached", async () => {
    const host = startHost(() => {});
    host.stop();
    expect(await failureOf(call(host.url))).toBe("connect");
    expect(await failureOf(call("http://no-such-host.invalid/"))).toBe("connect");
  });

  test("connects over both address families", async () => {
    const six = startHost((socket) => void socket.write(WHOLE), undefined, "::1");
    const four = startHost((socket) => void socket.write(WHOLE));
    expect(await call(six.url)).toBe("hello");
    expect(await call(`http://localhost:${four.port}/`)).toBe("hello");
  });

  test("H13: closing at any moment ends the connection and every wait", async () => {
    const host = startHost((socket) => void socket.write(`${CHUNKED}2\r\nhe\r\n`));
    const connecting = begin(host.url);
    const first = failureOf(connecting.answer());
    connecting.close();
    expect(await first).toBe("broken");

    const silent = startHost(() => {});
    const waiting = begin(silent.url);
    const second = failureOf(waiting.answer());
    await eventually("the connections", () => silent.requests.length === 1);
    waiting.close();
    expect(await second).toBe("broken");

    const reading = begin(host.url);
    const answer = await reading.answer();
    expect(Buffer.from((await answer.read()) ?? []).toString()).toBe("he");
    const third = failureOf(answer.read());
    reading.close();
    expect(await third).toBe("broken");
    expect(await failureOf(answer.read())).toBe("broken");

    const sending = begin(silent.url, Buffer.alloc(50_000_000));
    const fourth = failureOf(sending.answer());
    await eventually("the connections", () => silent.made === 2);
    sending.close();
    expect(await fourth).toBe("broken");

    await eventually("the connections", () => host.open === 0 && silent.open === 0);
  });

  test("closing after the end does not affect the connection's next user", async () => {
    const pool = new ConnectionPool(system.clock, { restMs: 0 });
    const host = startHost((socket) => void setImmediate(() => socket.write(WHOLE)));
    const first = begin(host.url, "{}", pool);
    expect(await readAll(await first.answer())).toBe("hello");
    const second = begin(host.url, "{}", pool);
    first.close();
    expect(await readAll(await second.answer())).toBe("hello");
    expect(host.made).toBe(1);
  });
});
