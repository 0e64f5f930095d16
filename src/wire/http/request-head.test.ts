import { expect, test } from "bun:test";
import { requestHead } from "./request-head.ts";
import { readRequestUrl } from "./request-url.ts";

test("writes the request line, the host, the headers and the length", () => {
  const requestUrl = readRequestUrl("https://example.test:8443/a%20b/c?d=e");
  expect(requestHead("POST", requestUrl, { authorization: "Bearer x" }, 12)).toBe(
    "POST /a%20b/c?d=e HTTP/1.1\r\nhost: example.test:8443\r\nauthorization: Bearer x\r\n" +
      "accept-encoding: identity\r\ncontent-length: 12\r\n\r\n",
  );
});

test("a GET request has no body and no content-length", () => {
  expect(requestHead("GET", readRequestUrl("http://example.test/a"), { accept: "*/*" }, 0)).toBe(
    "GET /a HTTP/1.1\r\nhost: example.test\r\naccept: */*\r\naccept-encoding: identity\r\n\r\n",
  );
});

test("a header cannot start another line or another request", () => {
  const requestUrl = readRequestUrl("http://example.test/");
  const refused: Record<string, string>[] = [
    { "x-a": "1\r\nx-b: 2" },
    { "x-a": "1\n" },
    { "x-a": "1\r" },
    { "x-a": "\0" },
    { "x-a": "é" },
    { "x-a\r\nx-b": "1" },
    { "x a": "1" },
    { "": "1" },
    { "Content-Length": "0" },
    { "transfer-encoding": "chunked" },
    { host: "elsewhere" },
    { Connection: "upgrade" },
  ];
  for (const headers of refused)
    expect(() => requestHead("POST", requestUrl, headers, 1)).toThrow(/cannot send the header/);
  expect(() => requestHead("POST", requestUrl, { authorization: "secret\n" }, 1)).not.toThrow(/secret/);
});

test("URLs get default ports, may name IP addresses, and are rejected if malformed", () => {
  expect(readRequestUrl("http://example.test")).toMatchObject({ port: 80, secure: false, target: "/" });
  expect(readRequestUrl("https://example.test/x")).toMatchObject({
    port: 443,
    secure: true,
    hostHeader: "example.test",
  });
  expect(readRequestUrl("http://[::1]:90/")).toMatchObject({ hostname: "::1", port: 90, hostHeader: "[::1]:90" });
  const refused = [
    "http://example.test/a b",
    "http://example.test/a\r\nx: y",
    "http://example.test/a\tb",
    "http://example.test/é",
    "http://user:word@example.test/",
    "ftp://example.test/",
    "/v1",
  ];
  for (const url of refused) expect(() => readRequestUrl(url), url).toThrow(/cannot call the URL/);
});
