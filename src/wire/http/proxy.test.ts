import { expect, test } from "bun:test";
import { join } from "node:path";
import { usesProxy } from "./proxy.ts";
import { startRawHost } from "./raw-host.sample.ts";
import { readRequestUrl } from "./request-url.ts";

const uses = (url: string, environment: Record<string, string>) => usesProxy(readRequestUrl(url), environment);

test("a proxy applies to its scheme, except for hosts in no_proxy", () => {
  expect(uses("http://a.test/", {})).toBe(false);
  expect(uses("http://a.test/", { HTTP_PROXY: "http://p" })).toBe(true);
  expect(uses("http://a.test/", { http_proxy: "http://p", no_proxy: "" })).toBe(true);
  expect(uses("https://a.test/", { HTTP_PROXY: "http://p" })).toBe(false);
  expect(uses("https://a.test/", { HTTPS_PROXY: "http://p" })).toBe(true);
  for (const exception of ["*", "a.test", "x, A.test ", ".test", "a.test:8000", "test"]) {
    const environment = { HTTP_PROXY: "http://p", NO_PROXY: exception };
    expect([exception, uses("http://a.test:8000/", environment)]).toEqual([exception, false]);
  }
  for (const other of ["b.test", "aa.test", "est"]) {
    expect([other, uses("http://a.test/", { HTTP_PROXY: "http://p", NO_PROXY: other })]).toEqual([other, true]);
  }
});

test("requests go through the proxy that the environment names, except for hosts in no_proxy", async () => {
  const answer = (text: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
  const proxy = startRawHost((socket) => void socket.write(answer("from the proxy")));
  const host = startRawHost((socket) => void socket.write(answer("from the host")));
  const child = Bun.spawn(
    [
      process.execPath,
      join(import.meta.dir, "send.child.ts"),
      "http://host.invalid/v1",
      `http://127.0.0.1:${host.port}/`,
    ],
    {
      env: { ...process.env, HTTP_PROXY: `http://127.0.0.1:${proxy.port}`, NO_PROXY: "127.0.0.1" },
      stderr: "ignore",
    },
  );
  expect((await new Response(child.stdout).text()).trim().split("\n")).toEqual([
    "200 from the proxy",
    "200 from the host",
  ]);
  expect(proxy.requests[0]?.text).toStartWith("POST http://host.invalid/v1 HTTP/1.1\r\n");
  for (const { requests } of [proxy, host]) {
    for (const line of ["x-test: 1", "x-own: 00-ab: c", "x-other: a=1"]) {
      expect(requests[0]?.text.toLowerCase()).toContain(`\r\n${line}\r\n`);
    }
  }
  proxy.stop();
  host.stop();
});
