import { expect, test } from "bun:test";
import { readResponseHead } from "./response-head.ts";

const head = (...lines: string[]) => readResponseHead(["HTTP/1.1 200 OK", ...lines].join("\r\n"));

test("header names are case-insensitive, values are trimmed, and repeated and folded headers are joined", () => {
  const { status, headers, framing, keepAlive } = head(
    "Content-LENGTH:  12 ",
    "X-A: 1",
    "x-a:2",
    "x-b: one",
    " \ttwo",
    "x-c:",
  );
  expect([status, framing, keepAlive]).toEqual([200, 12, true]);
  expect(Object.fromEntries(headers)).toEqual({ "content-length": "12", "x-a": "1, 2", "x-b": "one two", "x-c": "" });
});

test("the head determines where the body ends and whether the connection stays open", () => {
  const cases: [string, number | string, boolean][] = [
    ["HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked", "chunked", true],
    ["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nConnection: keep-alive, Close", "chunked", false],
    ["HTTP/1.1 200\r\ncontent-length: 0", 0, true],
    ["HTTP/1.1 200 ", "close", false],
    ["HTTP/1.1 204 No Content", 0, true],
    ["HTTP/1.1 304 Not Modified\r\ncontent-length: 77", 0, true],
    ["HTTP/1.0 200 OK\r\ncontent-length: 3", 3, false],
    ["HTTP/1.0 200 OK\r\ncontent-length: 3\r\nconnection: keep-alive", 3, false],
  ];
  for (const [text, framing, keepAlive] of cases) {
    expect([text, readResponseHead(text).framing, readResponseHead(text).keepAlive]).toEqual([
      text,
      framing,
      keepAlive,
    ]);
  }
});

test("an ambiguous head is rejected", () => {
  const refused = [
    "HTTP/2 200 OK",
    "HTTP/1.1 20 OK",
    "HTTP/1.1  200 OK",
    "ICY 200 OK",
    "HTTP/1.1 200 OK\nx: y",
    "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 5",
    "HTTP/1.1 200 OK\r\ncontent-length: 5\r\nContent-Length: 6",
    "HTTP/1.1 200 OK\r\ncontent-length: 5, 5",
    "HTTP/1.1 200 OK\r\ncontent-length: +5",
    "HTTP/1.1 200 OK\r\ncontent-length: 0x5",
    "HTTP/1.1 200 OK\r\ncontent-length: ",
    "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n 6",
    "HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999",
    "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: identity",
    "HTTP/1.0 200 OK\r\ntransfer-encoding: chunked",
    "HTTP/1.1 200 OK\r\n folded: first",
    "HTTP/1.1 200 OK\r\nno colon",
    "HTTP/1.1 200 OK\r\n: no name",
    "HTTP/1.1 200 OK\r\nspace before : colon",
    "HTTP/1.1 200 OK\r\nx: a\nb",
    "HTTP/1.1 200 OK\r\nx: a\rb",
    "HTTP/1.1 200 OK\r\nx: a\0b",
    `HTTP/1.1 200 OK${"\r\nx: y".repeat(257)}`,
  ];
  for (const text of refused) expect(() => readResponseHead(text), text.slice(0, 80)).toThrow(/invalid HTTP response/);
});
