import { expect, test } from "bun:test";
import { clientAddress } from "./client-address.ts";

const from = (trusted: readonly string[], peer: string, forwarded?: string) =>
  clientAddress(trusted)(peer, new Headers(forwarded === undefined ? {} : { "x-forwarded-for": forwarded }));

test("without trusted proxies X-Forwarded-For is ignored", () => {
  expect(from([], "192.0.2.1", "10.0.0.1")).toBe("192.0.2.1");
  expect(from([], "::ffff:192.0.2.1")).toBe("192.0.2.1");
});

test("X-Forwarded-For is ignored from strangers, and used from a trusted proxy", () => {
  const trusted = ["10.0.0.0/8", "::1"];
  expect(from(trusted, "192.0.2.1", "10.9.9.9")).toBe("192.0.2.1");
  expect(from(trusted, "10.0.0.1", "192.0.2.1")).toBe("192.0.2.1");
  expect(from(trusted, "::1", "2001:db8::1")).toBe("2001:db8::1");
  expect(from(trusted, "10.0.0.1")).toBe("10.0.0.1");
  expect(from(trusted, "10.0.0.1", "")).toBe("10.0.0.1");
});

test("entries that a client writes before those of the proxies are ignored", () => {
  const trusted = ["10.0.0.0/8"];
  expect(from(trusted, "10.0.0.1", "10.7.7.7, 192.0.2.1, 10.0.0.2")).toBe("192.0.2.1");
  expect(from(trusted, "10.0.0.1", "spoofed, 192.0.2.1")).toBe("192.0.2.1");
  expect(from(trusted, "10.0.0.1", "192.0.2.1:55001")).toBe("192.0.2.1");
  expect(from(trusted, "10.0.0.1", "[2001:db8::1]:443")).toBe("2001:db8::1");
  expect(from(trusted, "10.0.0.1", "not-an-address")).toBe("not-an-address");
});
